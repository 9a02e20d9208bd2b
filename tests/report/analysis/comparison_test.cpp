#include "report/analysis/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "config/option.h"
#include "measure/record_example.h"
#include "support/contains.h"

namespace tandem {
namespace {

std::string shownText(const Side& a, const Side& b) {
  std::string text;
  for (const ResultTable& table : comparisonTables(a, b)) {
    for (const TableRow& row : table.rows) text += join(row.cells, " ") + "\n";
    text += join(table.notes, "\n") + "\n";
  }
  return text;
}

template <class Failure>
std::string refusal(const Side& a, const Side& b) {
  try {
    comparisonTables(a, b);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

/// A run whose start took a time of its own, as no two runs' do.
RunRecord runOf(const std::string& name, double stepMs, const std::string& strategy) {
  RunRecord run = exampleRecord(2, strategy, stepMs);
  run.startup += Nanos(name.front());
  return run;
}

Side one(const std::string& name, double stepMs, const std::string& strategy = "replicated") {
  return {name, {runOf(name, stepMs, strategy)}};
}

/// Three runs, whose steps differ by 0.1 ms.
Side repeats(const std::string& name, double stepMs, const std::string& strategy = "replicated") {
  Side side{name, {}};
  for (const double more : {0.0, 0.1, 0.2}) {
    side.runs.push_back(runOf(name, stepMs + more, strategy));
    side.runs.back().time = concat("2026-01-02T03:04:0", side.runs.size(), "Z");
  }
  return side;
}

TEST(Comparison, SaysWhoIsFasterByHowMuchAndWhatDiffers) {
  const std::string text = shownText(repeats("a", 99), repeats("b", 104, "parameter_server"));
  EXPECT_TRUE(contains(text, "A against B: faster by 5.0 % (95 % interval")) << text;
  EXPECT_TRUE(contains(text, "--strategy replicated parameter_server configuration")) << text;
  EXPECT_TRUE(contains(shownText(repeats("a", 104), repeats("b", 99)), "slower by 4.8 %"));
}

TEST(Comparison, WithinTheNoiseItCannotTell) {
  const std::string text = shownText(repeats("a", 99), repeats("b", 99.1));
  EXPECT_TRUE(contains(text, "A against B: cannot tell (95 % interval -")) << text;
  EXPECT_TRUE(contains(text, "nothing that is recorded")) << text;
}

TEST(Comparison, OneRunOfASideSaysNothingAndByHowMuchRunsDiffer) {
  const std::string text = shownText(one("a", 99), one("b", 149));
  EXPECT_TRUE(contains(text, "A against B: cannot tell\n")) << text;
  EXPECT_TRUE(contains(text, "one run each: by how much runs of one configuration differ here is not known")) << text;
  EXPECT_TRUE(contains(shownText(repeats("a", 99), one("b", 149)), "one run of a side: "));
  const auto tables = comparisonTables(one("a", 99), one("b", 149), 0.05);
  EXPECT_TRUE(contains(join(tables[1].notes), "runs of one configuration differed by 5.1 % here"))
      << join(tables[1].notes);
}

TEST(Comparison, OfSeveralRunsTheErrorIsThatBetweenThem) {
  Side a{"a", {}}, b{"b", {}};
  for (const double stepMs : {90.0, 100.0, 110.0}) {
    a.runs.push_back(exampleRecord(1, "replicated", stepMs));
    b.runs.push_back(exampleRecord(1, "replicated", 1.05 * stepMs));
  }
  EXPECT_TRUE(contains(shownText(a, b), "cannot tell")) << shownText(a, b);
  for (Side* side : {&a, &b}) {
    for (size_t i = 0; i < side->runs.size(); ++i) {
      side->runs[i].sweep = "sweep";
      side->runs[i].round = static_cast<int64_t>(i) + 1;
    }
  }
  EXPECT_TRUE(contains(shownText(a, b), "faster by 5.0 %")) << "in rounds the drift cancels: " << shownText(a, b);
}

TEST(Comparison, AProfileIsSaidToBeOne) {
  Side a = repeats("a", 99), b = repeats("b", 104);
  EXPECT_FALSE(contains(shownText(a, b), "a profile"));
  for (RunRecord& run : b.runs) run.profile.emplace();
  EXPECT_TRUE(contains(shownText(a, b), "b: a profile, whose steps were taken apart")) << shownText(a, b);
}

TEST(Comparison, RunsOfSeveralMachinesAreNoSide) {
  Side several = repeats("a", 99);
  several.runs[2].environment.host = "other";
  EXPECT_TRUE(contains(refusal<UsageError>(several, repeats("b", 99)),
                       "cannot compare a: its runs are of several machines (host is box and other)"));
  EXPECT_TRUE(contains(refusal<UsageError>(repeats("b", 99), several), "several machines"));
}

TEST(Comparison, AChangedNetworkFileIsOtherWork) {
  for (void (*change)(ActualSetup&) :
       {+[](ActualSetup& setup) { setup.networkSha256 = "00ff"; }, +[](ActualSetup& setup) { setup.parameters += 1; },
        +[](ActualSetup& setup) { setup.forwardFlopsPerImage *= 2; }}) {
    Side other = repeats("b", 104);
    for (RunRecord& run : other.runs) change(run.placement);
    EXPECT_TRUE(contains(refusal<UsageError>(repeats("a", 99), other), "so an image is other work"));
  }
}

TEST(Comparison, ACopyIsNoRepeat) {
  Side a = one("a", 99);
  a.runs.push_back(a.runs.front());
  EXPECT_TRUE(contains(refusal<UsageError>(a, one("b", 99)),
                       "cannot compare a with b: the run of 2026-01-02T03:04:05Z stands"));
  EXPECT_TRUE(contains(refusal<UsageError>(one("b", 99), a), "name each run once"));
  a.runs.back().time = "2026-01-02T03:05:05Z";
  EXPECT_EQ(refusal<UsageError>(a, one("b", 99)), "");
  EXPECT_TRUE(contains(refusal<UsageError>(one("a", 99), one("a", 99)), "name each run once")) << "a run with itself";
}

TEST(Comparison, OtherWorkIsRefused) {
  Side other = one("b", 99);
  other.runs.front().config.network.model = "resnet20";
  EXPECT_TRUE(contains(refusal<UsageError>(one("a", 99), other), "--model is resnet50 in A and resnet20 in B"));
  other = one("b", 99);
  other.runs.front().config.step.forwardOnly = true;
  EXPECT_TRUE(contains(refusal<UsageError>(one("a", 99), other), "--forward-only"));
  other = one("b", 99);
  other.runs.front().placement.control = true;
  EXPECT_TRUE(contains(refusal<UsageError>(one("a", 99), other), "control"));
}

TEST(Comparison, OtherPathsBetweenTheGpusMakeItAnotherMachine) {
  Side a = one("a", 99), b = one("b", 99);
  for (Side* side : {&a, &b}) {
    Environment& environment = side->runs.front().environment;
    environment.devices = {"GPU", "GPU", "GPU"};
    environment.gpuLinks = {{0, 1, "PIX", "yes", "no"}, {0, 2, "PHB", "no", "no"}, {1, 2, "PHB", "no", "no"}};
    environment.gpuSlots = {{1, 16, 3, 16}, {3, 16, 3, 16}, {3, 16, 3, 16}};
  }
  EXPECT_FALSE(contains(shownText(a, b), "gpu "));
  b.runs.front().environment.gpuLinks.front().path = "PHB";
  EXPECT_TRUE(contains(shownText(a, b),
                       "gpu links PHB, peer access no, atomics no (0-2 1-2); PIX, peer access yes, atomics no (0-1) "
                       "PHB, peer access no, atomics no (0-2 1-2); PHB, peer access yes, atomics no (0-1) "
                       "another machine"))
      << shownText(a, b);
  b.runs.front().environment.gpuLinks = a.runs.front().environment.gpuLinks;
  b.runs.front().environment.gpuSlots.back().mostLanes = 8;
  EXPECT_TRUE(contains(shownText(a, b), "gpu slots PCIe gen 3 x16 PCIe gen 3 x16 (0 1); PCIe gen 3 x8 (2) environment"))
      << shownText(a, b);
}

TEST(Comparison, AnotherMachineIsAnAnswerOnlyWhereNothingElseDiffers) {
  Side other = one("b", 99);
  other.runs.front().environment.cpu = "another";
  EXPECT_TRUE(contains(shownText(one("a", 99), other), "cpu unknown another another machine"));
  other.runs.front().config.exchange.strategy = "parameter_server";
  EXPECT_TRUE(contains(refusal<UsageError>(one("a", 99), other), "both the machine and the configuration differ"));
}

TEST(Comparison, NumbersNotToBeQuotedAreRefused) {
  Side other = one("b", 99);
  other.runs.front().warmup.steady = false;
  EXPECT_TRUE(
      contains(refusal<InvalidMeasurement>(one("a", 99), other), "b: its run of 2026-01-02T03:04:05Z is not steady"));
  other = one("b", 99);
  other.runs.front().placement.sharedCores = true;
  EXPECT_TRUE(contains(refusal<InvalidMeasurement>(other, one("a", 99)), "shared cores"));
}

TEST(Comparison, OfSeveralRunsThoseNotToBeQuotedAreLeftOut) {
  Side some = repeats("b", 104);
  some.runs.push_back(runOf("c", 30, "replicated"));
  some.runs.back().warmup.steady = false;
  const std::string text = shownText(repeats("a", 99), some);
  EXPECT_TRUE(contains(text, "A against B: faster by 5.0 %")) << text;
  EXPECT_TRUE(contains(text, "b: 1 of 4 runs left out")) << text;
}

RunRecord ofTurn(const char* side, double stepMs, const char* precision) {
  RunRecord run = exampleRecord(1, "replicated", stepMs);
  run.side = side, run.sweep = "sweep", run.config.numerics.precision = precision;
  return run;
}

TEST(Comparison, OfABenchCompareIsFoundAgainInItsRecords) {
  std::vector<RunRecord> records;
  for (int round = 0; round < 5; ++round) {
    for (const char* side : {"A", "B", "B", "A"}) {
      const bool a = side[0] == 'A';
      records.push_back(ofTurn(side, (a ? 99 : 49) + 0.1 * round, a ? "fp32" : "bf16"));
    }
  }
  const std::string found = comparisonFinding(records);
  EXPECT_TRUE(found.starts_with("A (precision=fp32 replicas=1) against B (precision=bf16 replicas=1): slower by 50."))
      << found;
  records.pop_back();
  EXPECT_EQ(comparisonFinding(records), "") << "four whole rounds";
}

TEST(Comparison, AFileOfSeveralConfigurationsMustBeNarrowed) {
  const std::vector<RunRecord> runs{exampleRecord(1, "replicated", 99), exampleRecord(2, "replicated", 99)};
  try {
    checkOneConfiguration("sweep.jsonl", runs);
    ADD_FAILURE();
  } catch (const UsageError& failure) {
    EXPECT_TRUE(contains(failure.what(), "--replicas is 1 and 2"));
    EXPECT_TRUE(contains(failure.what(), "sweep.jsonl:1"));
  }
  checkOneConfiguration("repeats.jsonl", std::span(runs).first(1));
}

/// TimingRounds A B B A in which B is slower by `percent`, and what they come to.
std::string inTurns(double percent, const std::vector<double>& noise) {
  Side a{"a", {}}, b{"b", {}};
  std::vector<double> ratios;
  for (const double log : noise) {
    for (int i = 0; i < 2; ++i) {
      a.runs.push_back(exampleRecord(1, "replicated", 100));
      b.runs.push_back(exampleRecord(1, "replicated", 100 + percent));
    }
    ratios.push_back(std::log(1 + percent / 100) + log);
  }
  b.runs.front().interference.reasons = {"the process was stopped for 2 s"};
  std::string text;
  for (const ResultTable& table : comparisonInTurns(a, b, ratios)) text += join(table.notes, "\n") + "\n";
  return text;
}

TEST(Comparison, RunsInTurnsAreJudgedByTheirRounds) {
  const std::vector<double> noise{0.004, -0.003, 0.001, -0.002, 0.002, -0.001, 0.003, -0.004, 0.0, 0.0};
  const std::string slower = inTurns(3, noise);
  EXPECT_TRUE(contains(slower, "A against B: faster by 3.0 %")) << slower;
  EXPECT_TRUE(contains(slower, "10 rounds A B B A")) << slower;
  EXPECT_TRUE(contains(slower, "1 of 20 runs of B were not valid")) << slower;
  EXPECT_TRUE(contains(inTurns(0, noise), "A against B: cannot tell"));
}

}  // namespace
}  // namespace tandem
