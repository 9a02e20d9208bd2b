#pragma once

#include <utility>
#include <vector>

#include "strategy/synthetic_training.h"

// What each replica must hold, by the rule of its strategy's exchange: written out in double, on one thread.

namespace tandem {

inline std::vector<int64_t> shapeOf(int parameter) { return syntheticSpecs()[static_cast<size_t>(parameter)].shape; }

inline int replicasOf(const SyntheticRun& run) { return run.ranks * run.replicas; }

/// As gradientOf(), but a matrix of it has full rank.
inline at::Tensor fullRankGradientOf(int replica, int parameter, int64_t step, int64_t count) {
  const at::Tensor index = at::arange(count, at::kDouble);
  return gradientOf(replica, parameter, step, count) + at::cos(index * index * 0.013 + replica + step).to(at::kFloat);
}

/// Local SGD: separate trainings, of which every syncEvery steps, and at the end of the run, the mean is taken, and
/// with it the step of block momentum. By replica. `skips`: whether one leaves the update of a step out.
inline std::vector<at::Tensor> staleMasters(const SyntheticRun& run, int parameter, int64_t steps,
                                            const std::function<bool(int replica, int64_t step)>& skips = nullptr) {
  const at::Tensor begin = initialOf(parameter, c10::multiply_integers(shapeOf(parameter))).to(at::kDouble);
  std::vector<Textbook> books(static_cast<size_t>(replicasOf(run)), Textbook{begin});
  std::vector<int64_t> updates(books.size(), 0);
  at::Tensor start = begin, change = at::zeros_like(begin);
  for (int64_t step = 0; step < steps; ++step) {
    at::Tensor mean = at::zeros_like(begin);
    for (size_t i = 0; i < books.size(); ++i) {
      const auto replica = static_cast<int>(i);
      if (!skips || !skips(replica, step)) {
        books[i].step(exchangedGradient(run, replica, parameter, step), run.optimizer, ++updates[i]);
      }
      mean += books[i].w / static_cast<double>(books.size());
    }
    if ((step + 1) % run.localSgd.syncEvery != 0 && step + 1 != run.steps) continue;
    change = run.localSgd.blockMomentum * change + (mean - start);
    start = start + change;
    for (Textbook& book : books) book.w = start;
  }
  std::vector<at::Tensor> masters;
  for (const Textbook& book : books) masters.push_back(book.w);
  return masters;
}

struct ReplicaRange {
  int first, last;  ///< from the first on, before the last
};

/// The mean of the gradients of replicas as they are exchanged, where all of them have weights `seen`.
inline at::Tensor meanGradientAt(const SyntheticRun& run, const at::Tensor& seen, int parameter, int64_t step,
                                 const ReplicaRange& replicas) {
  const at::ScalarType wire = find(precisions(), run.precision, "precision").wire;
  const at::ScalarType type = syntheticSpecs()[static_cast<size_t>(parameter)].fp32 ? at::kFloat : wire;
  at::Tensor sum = at::zeros_like(seen);
  for (int replica = replicas.first; replica < replicas.last; ++replica) {
    const at::Tensor own = madeGradient(run, replica, parameter, step, seen.numel()).to(at::kDouble) + seen * run.slope;
    sum += own.to(type).to(at::kDouble);
  }
  return sum / (replicas.last - replicas.first);
}

/// What a replica of a staged server knows when `steps` steps are done: the newest weights, and those that the next
/// step computes with, which lack the last update.
struct StagedWeights {
  at::Tensor newest, seen;
};

inline StagedWeights stagedWeights(const SyntheticRun& run, int parameter, int64_t steps) {
  const at::Tensor begin = initialOf(parameter, c10::multiply_integers(shapeOf(parameter))).to(at::kDouble);
  Textbook book{begin};
  at::Tensor seen = begin;
  for (int64_t step = 0; step < steps; ++step) {
    const at::Tensor gradient = meanGradientAt(run, seen, parameter, step, {0, replicasOf(run)});
    seen = book.w;
    book.step(gradient, run.optimizer, step + 1);
  }
  return {book.w, seen};
}

/// An asynchronous server of ranks that wait for one another: in each round all gradients are of the same weights, and
/// are updates one after another. `skips`: whether the update of a rank is left out.
inline at::Tensor roundsMaster(const SyntheticRun& run, int parameter, int64_t steps,
                               const std::function<bool(int rank, int64_t step)>& skips = nullptr) {
  Textbook book{initialOf(parameter, c10::multiply_integers(shapeOf(parameter))).to(at::kDouble)};
  int64_t updates = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const at::Tensor seen = book.w;
    for (int rank = 0; rank < run.ranks; ++rank) {
      if (skips && skips(rank, step)) continue;
      const int first = rank * run.replicas;
      book.step(meanGradientAt(run, seen, parameter, step, {first, first + run.replicas}), run.optimizer, ++updates);
    }
  }
  return book.w;
}

/// What each replica tells all others of its values (gradient and error), by the formulas of the papers.
class LossyOracle {
 public:
  LossyOracle(const CompressionOptions& options, int parameter) : options_(options), parameter_(parameter) {
    const auto shape = shapeOf(parameter);
    rows_ = shape.size() > 1 ? shape[0] : 1;
    columns_ = c10::multiply_integers(shape) / rows_;
    rank_ = std::min({options.rank, rows_, columns_});
    factor_ = firstFactor(parameter, columns_, rank_).to(at::kDouble);
  }

  std::vector<at::Tensor> told(const std::vector<at::Tensor>& values) {
    const std::string_view name = methodOf(options_).name;
    if (name == "powersgd") return lowRank(values);
    check(name == "onebit" || name == "topk", "the oracle knows every compression");
    std::vector<at::Tensor> told;
    for (const at::Tensor& of : values) told.push_back(name == "onebit" ? signs(of) : largest(of));
    return told;
  }

 private:
  /// Seide et al. 2014: of each row the mean of the values from zero on, and that of those below. Vectors are told
  /// whole.
  at::Tensor signs(const at::Tensor& values) const {
    if (shapeOf(parameter_).size() < 2) return values;
    const at::Tensor rows = values.view({rows_, columns_}), upper = rows.ge(0);
    const auto meanOf = [&](const at::Tensor& chosen) {
      return at::where(chosen, rows, 0.0).sum({1}, true) / chosen.sum({1}, true).clamp_min(1);
    };
    return at::where(upper, meanOf(upper), meanOf(upper.logical_not())).flatten();
  }

  /// Of equal magnitudes, which gradients of 16 bits have many of, ATen's topk says which are told.
  at::Tensor largest(const at::Tensor& values) const {
    const auto kept = static_cast<int64_t>(std::llround(options_.ratio * static_cast<double>(values.numel())));
    const at::Tensor magnitudes = values.to(at::kFloat).abs();
    const at::Tensor told = std::get<1>(at::topk(magnitudes, std::max<int64_t>(1, kept), 0, true, false));
    return at::zeros_like(values).index_copy_(0, told, values.index_select(0, told));
  }

  /// Vogels et al. 2019, algorithm 1, by the means of the replicas. Any orthonormal basis of P gives the same product.
  std::vector<at::Tensor> lowRank(const std::vector<at::Tensor>& values) {
    if (rank_ * (rows_ + columns_) >= rows_ * columns_) return values;
    at::Tensor mean = at::zeros({rows_, columns_}, at::kDouble);
    for (const at::Tensor& of : values) mean += of.view({rows_, columns_}) / static_cast<double>(values.size());
    const at::Tensor p = std::get<0>(at::linalg_qr(mean.mm(factor_)));
    const at::Tensor q = mean.t().mm(p);
    factor_ = at::where(q.ne(0).any(0, true), q, factor_);
    return std::vector<at::Tensor>(values.size(), p.mm(q.t()).flatten());
  }

  CompressionOptions options_;
  int parameter_;
  int64_t rows_ = 1, columns_ = 1, rank_ = 1;
  at::Tensor factor_;
};

/// One training, on the mean of what all replicas tell; each keeps what it has not told for its next gradient.
inline at::Tensor lossyMaster(const SyntheticRun& run, int parameter, int64_t steps) {
  const auto all = static_cast<size_t>(replicasOf(run));
  Textbook book{initialOf(parameter, c10::multiply_integers(shapeOf(parameter))).to(at::kDouble)};
  LossyOracle oracle(run.compression, parameter);
  std::vector<at::Tensor> errors(all, at::zeros_like(book.w)), values(all);
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t i = 0; i < all; ++i) {
      values[i] = errors[i] + exchangedGradient(run, static_cast<int>(i), parameter, step);
    }
    const auto told = step < run.compression.start ? values : oracle.told(values);
    at::Tensor mean = at::zeros_like(book.w);
    for (size_t i = 0; i < all; ++i) {
      mean += told[i] / static_cast<double>(all);
      errors[i] = values[i] - told[i];
    }
    book.step(mean, run.optimizer, step + 1);
  }
  return book.w;
}

/// fp32 messages of five steps, beside ones in double.
constexpr double lossyBound = 1e-5;

/// How far a replica may be from its oracle, of the norm.
inline double boundOf(const SyntheticRun& run) {
  const double rounding = roundingBound(run);
  return run.strategy->exchange == Exchange::lossy ? std::max(rounding, lossyBound) : rounding;
}

/// What each replica holds after `steps` of the run's.
inline std::vector<at::Tensor> oraclesOf(const SyntheticRun& run, int parameter, int64_t steps) {
  using Masters = std::vector<at::Tensor>;
  const int all = replicasOf(run);
  const auto ofAll = [all](const at::Tensor& master) { return Masters(static_cast<size_t>(all), master); };
  Masters alone;
  switch (exchangeOf(*run.strategy, precisionOf(run))) {
    case Exchange::synchronous:
      return ofAll(expectedMaster(run, parameter, steps, 0, all));
    case Exchange::none:
      for (int i = 0; i < all; ++i) alone.push_back(expectedMaster(run, parameter, steps, i, i + 1));
      return alone;
    case Exchange::stale:
      return staleMasters(run, parameter, steps);
    case Exchange::lossy:
      if (run.strategy->usesCompression) return ofAll(lossyMaster(run, parameter, steps));
      return ofAll(expectedMaster(run, parameter, steps, 0, all));  // what rounding leaves of each gradient
  }
  throw InternalError("an exchange without an oracle");
}

/// The oracles of one run, each made once for all replicas, which may ask on threads of their own.
class Oracles {
 public:
  explicit Oracles(SyntheticRun run) : run_(std::move(run)) {}

  /// What replica `number` holds after `steps`.
  at::Tensor of(int parameter, int64_t steps, int number) {
    const auto all = known_.of({parameter, steps}, [&] { return oraclesOf(run_, parameter, steps); });
    return all.at(static_cast<size_t>(number));
  }

 private:
  SyntheticRun run_;
  Table<std::pair<int, int64_t>, std::vector<at::Tensor>> known_;
};

/// The options of the strategy itself, each in several values.
inline std::vector<SyntheticRun> withOwnOptions(const SyntheticRun& run) {
  std::vector<SyntheticRun> runs;
  SyntheticRun variant = run;
  if (run.strategy->usesLocalSgd) {
    for (const auto& [every, momentum] : {std::pair{1, 0.0}, {2, 0.0}, {2, 0.5}, {8, 0.9}}) {
      variant.localSgd = {.syncEvery = every, .blockMomentum = momentum};
      runs.push_back(variant);
    }
  } else if (run.strategy->usesCompression) {
    variant.gradient = fullRankGradientOf;
    for (const CompressionEntry& method : compressions()) {
      for (const int64_t rank : {1, 2}) {
        const int64_t start = rank == 1 ? 0 : 2;
        variant.compression = {
            .method = &method, .ratio = 0.1 * static_cast<double>(rank), .rank = rank, .start = start};
        runs.push_back(variant);
      }
    }
  } else if (run.strategy->usesServer && run.ranks > 1) {
    for (const auto& [servers, device] : {std::pair{0, "cpu"}, {1, "cpu"}, {0, "device"}, {2, "cpu:0"}}) {
      variant.servers = {.ranks = servers}, variant.parameterDevice = device;
      runs.push_back(variant);
    }
  } else {
    runs.push_back(run);
  }
  return runs;
}

/// The run with gradients in each type that is not their own; none where gradients are not sent as they are.
inline std::vector<SyntheticRun> withOtherGradients(const SyntheticRun& run) {
  std::vector<SyntheticRun> runs;
  SyntheticRun variant = run;
  for (const GradientPrecision& type : gradientPrecisions()) {
    variant.gradients = type.name;
    if (run.strategy->sendsGradients && type.type != precisionOf(run).compute) runs.push_back(variant);
  }
  return runs;
}

inline std::string gradientsText(const SyntheticRun& run) {
  return run.gradients.empty() ? "" : concat(" with gradients in ", run.gradients);
}

inline std::string ownOptionsText(const SyntheticRun& run) {
  if (run.strategy->usesLocalSgd) {
    return concat(" every ", run.localSgd.syncEvery, " with block momentum ", run.localSgd.blockMomentum);
  }
  if (run.strategy->usesServer) {
    return concat(" on ", run.parameterDevice, " of ", run.servers.ranks, " servers");
  }
  if (!run.strategy->usesCompression) return "";
  return concat(' ', methodOf(run.compression).name, " ratio ", run.compression.ratio, " rank ", run.compression.rank,
                " start ", run.compression.start);
}

}  // namespace tandem
