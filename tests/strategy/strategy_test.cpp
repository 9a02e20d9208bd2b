#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strategy/oracles.h"
#include "support/precisions.h"

namespace tandem {
namespace {

// A strategy with each of its own options.
std::vector<SyntheticRun> variantsOf(const StrategyEntry& strategy) {
  std::vector<SyntheticRun> variants;
  if (strategy.name == "parameter_server") {
    for (const char* device : {"cpu", "device", "cpu:0"}) {
      variants.push_back({.strategy = &strategy, .parameterDevice = device});
    }
    return variants;
  }
  if (!strategy.usesAllReduce) {
    variants.push_back({.strategy = &strategy});
    return variants;
  }
  for (const AllReduceEntry& allReduce : allReduces()) {
    if (!allReduce.onCpu || !accepts(strategy, allReduce)) continue;
    for (const int nodes : {1, 2, 4}) {
      variants.push_back({.strategy = &strategy, .allReduce = std::string(allReduce.name), .nodes = nodes});
      if (!allReduce.ownersUpdate) break;  // the others do not look at nodes
    }
  }
  variants.push_back({.strategy = &strategy, .allReduce = "tree", .larger = "ring"});
  variants.push_back({.strategy = &strategy, .allReduce = "hierarchical", .larger = "shared"});
  const auto own = withOwnOptions({.strategy = &strategy});
  if (own.size() > 1) variants.insert(variants.end(), own.begin(), own.end());
  return variants;
}

// Gradients of another type than their own take part once: sums do not see what type they had. So do replicas that spin
// where others block: all variants wait by the same monitor.
std::vector<SyntheticRun> runsOf(const StrategyEntry& strategy) {
  std::vector<SyntheticRun> runs;
  const std::vector<SyntheticRun> variants = variantsOf(strategy);
  for (const SyntheticRun& variant : variants) {
    for (const Precision& precision : precisionsOnCpu()) {
      for (const int replicas : {1, 2, 3, 4}) {
        SyntheticRun run = variant;
        run.precision = precision.name, run.replicas = replicas;
        runs.push_back(run);
        if (&variant != &variants.front()) continue;
        const auto others = withOtherGradients(run);
        runs.insert(runs.end(), others.begin(), replicas % 2 == 0 ? others.end() : others.begin());
        run.block = false;
        runs.push_back(run);
      }
    }
  }
  return runs;
}

std::string nameOf(const SyntheticRun& run) {
  return concat(run.strategy->name, ' ', run.allReduce, run.larger.empty() ? "" : " and ", run.larger, ' ',
                run.parameterDevice, ' ', run.precision, gradientsText(run), ' ', run.replicas, " replicas on ",
                run.nodes, " nodes", ownOptionsText(run));
}

class EachStrategy : public testing::TestWithParam<StrategyEntry> {};

TEST_P(EachStrategy, MakesTheTextbookUpdateOnEveryReplica) {
  for (const SyntheticRun& run : runsOf(GetParam())) {
    const auto results = train(run);
    Oracles oracles(run);
    for (int rank = 0; rank < run.replicas; ++rank) {
      for (int i = 0; i < results[rank]->parameters(); ++i) {
        const at::Tensor expected = oracles.of(i, run.steps, rank);
        EXPECT_LE(relativeDifference(results[rank]->master(results[rank]->slice(i)), expected), boundOf(run))
            << nameOf(run) << ", replica " << rank << ", parameter " << i;
      }
    }
  }
}

TEST_P(EachStrategy, MakesTheTextbookUpdateOfEveryOptimizer) {
  for (SyntheticRun run : runsOf(GetParam())) {
    if (run.replicas != 3) continue;
    for (const OptimizerEntry& rule : optimizers()) {
      run.optimizer.rule = &rule;
      run.optimizer.epsilon = 0.1;  // of the size of gradients: where they cancel, what rounding leaves must stay small
      // Norms of whole parameters make an update as long as the weights, however small and so inexact a gradient is.
      run.optimizer.learningRate = rule.needsWholeParameters ? 0.005 : 0.1;
      run.optimizer.trust = 0.5;
      const auto results = train(run);
      Oracles oracles(run);
      for (int rank = 0; rank < run.replicas; ++rank) {
        for (int i = 0; i < results[rank]->parameters(); ++i) {
          const at::Tensor expected = oracles.of(i, run.steps, rank);
          EXPECT_LE(relativeDifference(results[rank]->master(results[rank]->slice(i)), expected), boundOf(run))
              << rule.name << ", " << nameOf(run) << ", replica " << rank << ", parameter " << i;
        }
      }
    }
  }
}

/// The gradients of all parameters in a step, as the mean over replicas [first, last).
std::vector<at::Tensor> meanGradients(const SyntheticRun& run, int64_t step, int first, int last) {
  std::vector<at::Tensor> means;
  for (int i = 0; i < static_cast<int>(syntheticSpecs().size()); ++i) {
    at::Tensor mean = at::zeros({c10::multiply_integers(shapeOf(i))}, at::kDouble);
    for (int each = first; each < last; ++each) mean += exchangedGradient(run, each, i, step) / (last - first);
    means.push_back(mean);
  }
  return means;
}

// By the norm of all gradients together, of which a bucket and an owner see a part each.
TEST_P(EachStrategy, ClipsByTheNormOfAllGradients) {
  const bool alone = GetParam().exchange == Exchange::none;
  if (!GetParam().clips) GTEST_SKIP() << "refused";
  if (GetParam().exchange != Exchange::synchronous && !alone) GTEST_SKIP() << "not an update of the mean gradient";
  constexpr double most = 3;
  for (SyntheticRun run : runsOf(GetParam())) {
    run.steps = 2, run.optimizer.clipNorm = most;
    const auto results = train(run);
    for (int rank = 0; rank < run.replicas; ++rank) {
      std::vector<Textbook> books;
      for (int i = 0; i < results[rank]->parameters(); ++i) {
        books.push_back({initialOf(i, results[rank]->slice(i).count()).to(at::kDouble)});
      }
      for (int64_t step = 0; step < run.steps; ++step) {
        const auto gradients = meanGradients(run, step, alone ? rank : 0, alone ? rank + 1 : run.replicas);
        double squares = 0;
        for (const at::Tensor& each : gradients) squares += each.square().sum().item<double>();
        const double norm = std::sqrt(squares), factor = std::min(1.0, most / (norm + 1e-6));
        EXPECT_EQ(factor < 1, alone || run.replicas != 3) << "gradients of three replicas cancel";
        for (size_t i = 0; i < books.size(); ++i) books[i].step(gradients[i] * factor, run.optimizer, step + 1);
      }
      for (int i = 0; i < results[rank]->parameters(); ++i) {
        const at::Tensor& expected = books[static_cast<size_t>(i)].w;
        EXPECT_LE(relativeDifference(results[rank]->master(results[rank]->slice(i)), expected), boundOf(run))
            << nameOf(run) << ", replica " << rank << ", parameter " << i;
      }
    }
  }
}

// In the buffers of a replica, or of those that share them. Servers keep it in their own.
TEST_P(EachStrategy, AveragesTheWeightsOfAllUpdates) {
  const bool alone = GetParam().exchange == Exchange::none;
  if (GetParam().usesServer || (GetParam().exchange != Exchange::synchronous && !alone)) GTEST_SKIP() << "elsewhere";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (run.nodes > 1 || run.replicas == 4) continue;
    const bool leads = run.replicas == 3;
    run.optimizer.average = {.decay = 0.6, .every = leads ? 2 : 1, .leads = leads};
    const auto results = train(run);
    for (int rank = 0; rank < run.replicas; ++rank) {
      for (int i = 0; i < results[rank]->parameters(); ++i) {
        Textbook book{initialOf(i, results[rank]->slice(i).count()).to(at::kDouble)};
        at::Tensor average = book.w;
        for (int64_t step = 0; step < run.steps; ++step) {
          const auto gradients = meanGradients(run, step, alone ? rank : 0, alone ? rank + 1 : run.replicas);
          book.step(gradients[static_cast<size_t>(i)], run.optimizer, step + 1);
          if ((step + 1) % run.optimizer.average.every != 0) continue;
          average = 0.6 * average + 0.4 * book.w;
          if (leads) book.w = average.clone();
        }
        EXPECT_LE(relativeDifference(results[rank]->master(results[rank]->slice(i)), book.w), boundOf(run))
            << nameOf(run);
        const at::Tensor actual = results[rank]->state(averageState(run.optimizer), results[rank]->slice(i));
        EXPECT_LE(relativeDifference(actual, average), boundOf(run)) << nameOf(run) << ", replica " << rank;
      }
    }
  }
}

TEST_P(EachStrategy, ReplicasThatExchangeHoldTheSameBits) {
  if (GetParam().exchange == Exchange::none) GTEST_SKIP() << "no exchange";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (GetParam().clips && run.replicas == 3) run.optimizer.clipNorm = 1;
    const auto results = train(run);
    for (const auto& buffers : results) {
      for (int segment = 0; segment < buffers->segments(); ++segment) {
        const Slice whole = buffers->whole(segment);
        EXPECT_TRUE(at::equal(buffers->master(whole), results[0]->master(whole))) << nameOf(run);
        EXPECT_TRUE(
            at::equal(buffers->weights(whole), buffers->master(whole).to(buffers->weights(whole).scalar_type())))
            << nameOf(run);
      }
    }
  }
}

// --overlap=off. Of a scaled loss one replica's gradient overflows in one step, which is left out.
TEST_P(EachStrategy, GradientsThatAreToldOfTogetherGiveTheSameBits) {
  for (SyntheticRun run : runsOf(GetParam())) {
    if (precisionOf(run).lossScaling) {
      run.lossScale = LossScaleRule{.initial = 1024};
      run.spoil = overflowOf(0);
    }
    const auto oneByOne = train(run);
    run.overlap = false;
    const auto together = train(run);
    for (int rank = 0; rank < run.replicas; ++rank) {
      for (int segment = 0; segment < together[rank]->segments(); ++segment) {
        const Slice whole = together[rank]->whole(segment);
        EXPECT_TRUE(at::equal(together[rank]->master(whole), oneByOne[rank]->master(whole))) << nameOf(run);
        EXPECT_TRUE(at::equal(together[rank]->weights(whole), oneByOne[rank]->weights(whole))) << nameOf(run);
      }
    }
  }
}

TEST_P(EachStrategy, AStepStartsFromTheUpdateBefore) {
  for (SyntheticRun run : runsOf(GetParam())) {
    run.steps = 3;
    Oracles oracles(run);
    run.atBegin = [&](int rank, int64_t step, FlatBuffers& buffers) {
      for (int i = 0; i < buffers.parameters(); ++i) {
        const at::Tensor weights = buffers.weights(buffers.slice(i));
        const double difference = relativeDifference(weights, oracles.of(i, step, rank));
        EXPECT_LE(difference, std::max(boundOf(run), unitOf(weights.scalar_type())))
            << nameOf(run) << ", step " << step << ", parameter " << i;
      }
    };
    train(run);
  }
}

TEST_P(EachStrategy, KeepsExactOverManySteps) {
  if (GetParam().exchange == Exchange::lossy) GTEST_SKIP() << "rounding decides which of two values is told";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (run.replicas != 3 || run.precision != "fp32") continue;
    run.steps = 100;
    const auto results = train(run);
    for (int i = 0; i < results[0]->parameters(); ++i) {
      const at::Tensor expected = oraclesOf(run, i, run.steps).front();
      EXPECT_LE(relativeDifference(results[0]->master(results[0]->slice(i)), expected),
                1e-5 / (1 - run.localSgd.blockMomentum))
          << nameOf(run);
    }
  }
}

TEST_P(EachStrategy, AFailureOfOneReplicaEndsTheOthers) {
  for (SyntheticRun run : runsOf(GetParam())) {
    if (run.replicas != 3) continue;
    run.atBegin = [](int rank, int64_t step, FlatBuffers&) {
      if (rank == 1 && step == 2) throw DataError("replica 1: no more data");
    };
    try {
      train(run);
      FAIL() << nameOf(run);
    } catch (const Error& failure) {
      EXPECT_STREQ(failure.what(), "replica 1: no more data") << nameOf(run);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, EachStrategy, testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& info) { return std::string(info.param.name); });

// Gradients of a scaled loss, of which one replica's at one batch is not finite, in any variable, or
// whose sum is not: those that exchange all leave that batch out, to the bit. Each other trains as if alone.
TEST_P(EachStrategy, AStepThatOverflowsIsLeftOutByAllThatExchange) {
  if (GetParam().exchange == Exchange::stale) GTEST_SKIP() << "each replica leaves out its own steps";
  constexpr int64_t spoilt = 2;
  const bool joined = GetParam().exchange != Exchange::none;
  size_t number = 0;
  for (SyntheticRun run : runsOf(GetParam())) {
    if (!precisionOf(run).lossScaling || run.replicas == 3) continue;
    const size_t all = optimizers().size();  // as many as a variant has runs here; each variant begins with the next
    const OptimizerEntry& rule = optimizers()[(number + number / all) % all];
    ++number;
    run.optimizer.rule = &rule;
    run.lossScale = LossScaleRule{.initial = 1024};
    const int last = run.replicas - 1;
    const auto states = std::make_shared<std::vector<LossScaleState>>(run.replicas);
    const auto atEnd = [states](int rank, const LossScale& scale) { (*states)[rank] = scale.state(); };
    SyntheticRun without = run;
    without.leftOut = spoilt, --without.steps;
    const auto expected = train(without), whole = train(run);
    for (int parameter = 0; parameter < static_cast<int>(syntheticSpecs().size()); ++parameter) {
      run.spoil = [=](int rank, int64_t batch, int of, at::Tensor gradient) {
        if (rank == last && batch == spoilt && of == parameter) {
          gradient[gradient.numel() - 1] = of % 2 == 1 ? std::nanf("") : std::numeric_limits<float>::infinity();
        }
      };
      run.atEnd = atEnd;
      const auto results = train(run);
      for (int rank = 0; rank < run.replicas; ++rank) {
        const bool skips = joined || rank == last;
        EXPECT_EQ((*states)[rank].skipped, skips ? 1 : 0) << nameOf(run) << ", replica " << rank;
        EXPECT_EQ((*states)[rank].scale, skips ? 512 : 1024) << nameOf(run) << ", replica " << rank;
        const FlatBuffers& wanted = skips ? *expected[rank] : *whole[rank];
        for (int segment = 0; segment < wanted.segments(); ++segment) {
          const Slice all = wanted.whole(segment);
          EXPECT_TRUE(at::equal(results[rank]->master(all), wanted.master(all)))
              << rule.name << ", " << nameOf(run) << ", replica " << rank << ", segment " << segment;
          EXPECT_TRUE(at::equal(results[rank]->weights(all), wanted.weights(all))) << nameOf(run);
        }
      }
    }
  }
}

TEST_P(EachStrategy, ASumThatOverflowsIsLeftOutToo) {
  if (GetParam().exchange != Exchange::synchronous) GTEST_SKIP() << "gradients are not summed as they are";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (precisionOf(run).wire != at::kHalf || run.replicas == 1) continue;
    run.lossScale = LossScaleRule{.initial = 1024};
    run.spoil = [](int, int64_t batch, int of, at::Tensor gradient) {
      if (batch == 1 && of == 2) gradient[500] = 40'000.0F;  // half of a half's largest and more
    };
    run.atEnd = [&](int rank, const LossScale& scale) {
      EXPECT_EQ(scale.state().skipped, 1) << nameOf(run) << ", replica " << rank;
    };
    train(run);
  }
}

TEST(LocalSgd, AReplicaLeavesOutItsOwnStepsThatOverflow) {
  for (SyntheticRun run : runsOf(find(strategies(), "local_sgd", "strategy"))) {
    if (!precisionOf(run).lossScaling) continue;
    run.lossScale = LossScaleRule{.initial = 1024};
    const int last = run.replicas - 1;
    run.spoil = overflowOf(last);
    run.atEnd = [&](int rank, const LossScale& scale) { EXPECT_EQ(scale.state().skipped, rank == last ? 1 : 0); };
    const auto skips = [=](int rank, int64_t step) { return rank == last && step == 2; };
    const auto results = train(run);
    for (int i = 0; i < results[0]->parameters(); ++i) {
      const auto expected = staleMasters(run, i, run.steps, skips);
      for (int rank = 0; rank < run.replicas; ++rank) {
        EXPECT_LE(relativeDifference(results[rank]->master(results[rank]->slice(i)), expected[rank]), boundOf(run))
            << nameOf(run) << ", replica " << rank << ", parameter " << i;
      }
    }
  }
}

TEST(ShardedUpdate, GivesTheBitsOfAllReduceShared) {
  for (SyntheticRun run : runsOf(find(strategies(), "replicated", "strategy"))) {
    if (run.allReduce != "owner") continue;
    run.optimizer.nesterov = true;
    run.optimizer.schedule = &find(schedules(), "cosine", "schedule"), run.optimizer.course.totalSteps = run.steps;
    const auto owners = train(run);
    run.allReduce = "shared";
    const auto everybody = train(run);
    for (int rank = 0; rank < run.replicas; ++rank) {
      for (int segment = 0; segment < owners[rank]->segments(); ++segment) {
        const Slice whole = owners[rank]->whole(segment);
        EXPECT_TRUE(at::equal(owners[rank]->master(whole), everybody[rank]->master(whole))) << nameOf(run);
      }
    }
  }
}

TEST(ShardedUpdate, ReplicasOfANodeShareOneCopy) {
  SyntheticRun run{.strategy = &find(strategies(), "replicated", "strategy"), .allReduce = "owner"};
  run.replicas = 4, run.nodes = 2;
  const auto all = train(run);
  const Slice whole = all[0]->whole(0);
  for (const int rank : {1, 2, 3}) {
    const bool sameNode = rank % 2 == 0;
    EXPECT_EQ(all[rank]->master(whole).data_ptr() == all[0]->master(whole).data_ptr(), sameNode) << rank;
    EXPECT_EQ(all[rank]->state(0, whole).data_ptr() == all[0]->state(0, whole).data_ptr(), sameNode) << rank;
    EXPECT_NE(all[rank]->gradient(whole).data_ptr(), all[0]->gradient(whole).data_ptr()) << rank;
  }
}

}  // namespace
}  // namespace tandem
