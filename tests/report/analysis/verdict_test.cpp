#include "report/analysis/verdict.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "config/command_line.h"
#include "measure/record_example.h"
#include "measure/validity/shortcoming.h"
#include "support/contains.h"

namespace tandem {
namespace {

std::string repeated(const RunRecord& record) { return "; repeat with: " + commandLine("bench", record.config); }

/// The record `ofRound` times, in rounds of one sweep; the step of round i is longer by `noiseMs[i]`.
std::vector<RunRecord> inRounds(int64_t replicas, const std::string& strategy, double stepMs,
                                const std::vector<double>& noiseMs) {
  std::vector<RunRecord> runs;
  for (const double noise : noiseMs) {
    runs.push_back(exampleRecord(replicas, strategy, stepMs + noise));
    runs.back().sweep = "sweep";
    runs.back().round = static_cast<int64_t>(runs.size());
  }
  return runs;
}

std::vector<RunRecord> joined(std::vector<std::vector<RunRecord>> lists) {
  std::vector<RunRecord> all;
  for (auto& list : lists) std::ranges::move(list, std::back_inserter(all));
  return all;
}

TEST(Verdict, OfRepeatsNamesTheFastestByHowMuchHowSurelyAndTheCommand) {
  const auto records =
      joined({inRounds(1, "replicated", 100, {0, 1, 2}), inRounds(2, "parameter_server", 109, {0, 1.01, 2.02}),
              inRounds(2, "replicated", 99, {0, 1.02, 2})});
  const std::string text = verdictText(records);
  EXPECT_TRUE(
      text.starts_with("fastest: replicas=2 strategy=replicated, 316.77 images/s (median of 3 runs), 9.9 % ahead "
                       "of replicas=2 strategy=parameter_server (95 % interval 9."))
      << text;
  EXPECT_TRUE(text.ends_with(repeated(records[7]))) << text;
  EXPECT_EQ(verdictsOn(records).front().leaders.size(), 1u);
}

TEST(Verdict, UpdatesThatAreOthersByDesignAreNotRankedWithExactOnes) {
  auto records = joined({inRounds(2, "replicated", 100, {0, 1, 2}), inRounds(2, "compressed", 50, {0, 1, 2}),
                         inRounds(2, "local_sgd", 40, {0, 1, 2})});
  for (RunRecord& record : records) {
    const std::string strategy = record.config.exchange.strategy;
    if (strategy != "replicated") record.placement.update = strategy;
  }
  std::vector<std::string> works;
  for (const Verdict& verdict : verdictsOn(records)) works.push_back(verdict.work);
  EXPECT_EQ(works, (std::vector<std::string>{"update=exact", "update=compressed", "update=local_sgd"}));
}

TEST(Verdict, OneRunEachIsNeverAhead) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "parameter_server", 109),
                                       exampleRecord(2, "replicated", 99)};
  const std::string text = verdictText(records);
  EXPECT_TRUE(
      text.starts_with("one run each, so none is said to be ahead: highest replicas=2 strategy=replicated, 320.00 "
                       "images/s, 10.0 % above replicas=2 strategy=parameter_server; by how much runs of one "
                       "configuration differ here is not known; measure with --repeats=3 or more"))
      << text;
  EXPECT_FALSE(contains(text, "ahead of"));
  EXPECT_FALSE(contains(text, "fastest:"));
}

TEST(Verdict, ShortRunsBesideOthersAreNotRanked) {
  auto records = joined({inRounds(1, "replicated", 20, {0, 0.1, 0.2}), inRounds(2, "replicated", 20, {0, 0.1, 0.2})});
  for (RunRecord& record : records) {
    record.interference.signs["cpu_pressure"] = 60;
    EXPECT_EQ(shortcoming(record), "not checked");
  }
  EXPECT_TRUE(verdictText(records).starts_with("no point to judge: 6 not checked")) << verdictText(records);
  for (RunRecord& record : records) record.interference.signs["cpu_pressure"] = 3;
  EXPECT_TRUE(verdictText(records).starts_with("fastest: replicas=2")) << verdictText(records);
}

TEST(Verdict, RunsOfOneConfigurationAreOnePoint) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 110), exampleRecord(1, "replicated", 100)};
  EXPECT_TRUE(verdictText(records).starts_with("one point finished: replicas=1, 152.73 images/s (median of 2 runs)"))
      << verdictText(records);
}

TEST(Verdict, WhatCannotBeToldFromTheBestIsNamedWithIt) {
  const auto records =
      joined({inRounds(2, "replicated", 99, {0, 3, 6}), inRounds(2, "parameter_server", 99.5, {4, 0, 2})});
  const Verdict verdict = verdictsOn(records).front();
  EXPECT_TRUE(verdict.finding.starts_with("cannot tell the fastest of 2: replicas=2 strategy=parameter_server, "))
      << verdict.finding;
  EXPECT_TRUE(contains(verdict.finding, " % would have been found")) << verdict.finding;
  EXPECT_EQ(verdict.leaders.size(), 2u);
  EXPECT_TRUE(contains(verdict.repeat, " --strategy=parameter_server,replicated")) << "both are measured again";
}

TEST(Verdict, OfTwoThatCannotBeToldApartItGivesTheirRatio) {
  const auto first = inRounds(2, "replicated", 99, {0, 3, 6}),
             second = inRounds(2, "parameter_server", 99.5, {4, 0, 2});
  const Verdict two = verdictsOn(joined({first, second})).front();
  ASSERT_TRUE(two.finding.starts_with("cannot tell the fastest of 2: ")) << two.finding;
  // The slower replica takes 1 ms more: log(100/104.5), log(103/100.5), log(106/102.5), mean 0.0047 +- 4.303 * 0.0245.
  EXPECT_TRUE(contains(two.finding,
                       "; replicas=2 strategy=parameter_server / replicas=2 strategy=replicated 1.005 "
                       "(95 % interval 0.904 to 1.116); a lead of "))
      << two.finding;
  const auto third = inRounds(2, "sharded", 130, {0, 1, 2});
  const Verdict three = verdictsOn(joined({first, second, third})).front();
  EXPECT_FALSE(contains(three.finding, " / ")) << three.finding;
}

/// The third is as noisy as the first is ahead of it, though the second is far behind.
TEST(Verdict, ANoisyThirdIsNotIgnored) {
  const auto records =
      joined({inRounds(2, "replicated", 99, {0, 0.1, 0.2}), inRounds(2, "independent", 109, {0, 0.1, 0.2}),
              inRounds(2, "parameter_server", 111, {-14, 12, 13})});
  const Verdict verdict = verdictsOn(records).front();
  EXPECT_EQ(verdict.leaders.size(), 2u) << verdict.finding;
  EXPECT_TRUE(contains(verdict.finding, "parameter_server")) << verdict.finding;
  EXPECT_FALSE(contains(verdict.finding, "independent")) << verdict.finding;
}

TEST(Verdict, ADriftThatMeetsAllRoundsAlikeCancels) {
  const auto records = joined(
      {inRounds(1, "replicated", 100, {0, 30, 60, 90}), inRounds(1, "parameter_server", 103, {0, 31, 61.7, 92.8})});
  EXPECT_TRUE(verdictText(records).starts_with("fastest: replicas=1 strategy=replicated")) << verdictText(records);
}

/// Whether two groups of repeats, of which the second was altered, are ranked together.
bool ranksTogether(void (*change)(RunRecord&)) {
  auto first = inRounds(1, "replicated", 100, {0, 1, 2}), second = inRounds(2, "replicated", 99, {0, 1, 2});
  for (RunRecord& record : second) change(record);
  const auto records = joined({first, second});
  const auto verdicts = verdictsOn(records);
  for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.work.empty(), verdicts.size() == 1);
  return verdicts.size() == 1;
}

TEST(Verdict, OnlyEqualWorkIsRanked) {
  EXPECT_TRUE(ranksTogether([](RunRecord&) {}));
  EXPECT_TRUE(ranksTogether([](RunRecord& record) { record.config.step.batch = 99; }));
  EXPECT_TRUE(ranksTogether([](RunRecord& record) { record.placement.threadsPerReplica = 2; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.network.model = "resnet20"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.network.imageSize = 32; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.network.classes = 10; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.network.head = "sigmoid"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.numerics.precision = "bf16"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.input.data = "/images"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.config.step.forwardOnly = true; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.placement.networkSha256 = "00ff"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.placement.parameters += 1; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.environment.host = "other"; }));
  EXPECT_FALSE(ranksTogether([](RunRecord& record) { record.environment.commit = "other"; }));
}

TEST(Verdict, PrecisionsAreRankedTogetherBesideTheirErrors) {
  const auto in = [](const char* precision, double stepMs, double error) {
    auto runs = inRounds(1, "replicated", stepMs, {0, 1, 2});
    for (RunRecord& run : runs) run.config.numerics.precision = precision;
    if (error > 0)
      runs.front().equality = {.error = {error, error, "fc.bias"}, .plain = {{"fp32", {error, error, "a"}}}};
    return runs;
  };
  const auto both = joined({in("fp32", 100, 1e-6), in("bf16", 50, 1.2e-2)});
  EXPECT_EQ(verdictsOn(both).size(), 2U) << "each has its own";
  const auto across = verdictsAcrossRounding(both);
  ASSERT_EQ(across.size(), 1U);
  EXPECT_EQ(across[0].work, "across precisions");
  EXPECT_TRUE(across[0].finding.starts_with("fastest: precision=bf16 replicas=1 (equal: 1.2e-02), "))
      << across[0].finding;
  EXPECT_TRUE(contains(across[0].finding, " ahead of precision=fp32 replicas=1 (equal: 1.0e-06) "))
      << across[0].finding;
  EXPECT_TRUE(contains(verdictText(both), across[0].finding));
  EXPECT_TRUE(verdictsAcrossRounding(joined({in("fp32", 100, 1e-6), in("bf16", 50, 0)})).empty())
      << "no error is known";
  EXPECT_TRUE(verdictsAcrossRounding(in("fp32", 100, 1e-6)).empty()) << "one precision";
}

TEST(Verdict, EachWorkHasAVerdictThatSaysWhichItIs) {
  auto small = inRounds(1, "replicated", 10, {0, 0.1, 0.2});
  for (RunRecord& record : small) record.config.network.model = "resnet20";
  const auto records = joined({inRounds(1, "replicated", 100, {0, 1, 2}), small});
  const std::string text = verdictText(records);
  EXPECT_TRUE(text.starts_with("model=resnet50: one point finished: replicas=1, ")) << text;
  EXPECT_TRUE(contains(text, "\nmodel=resnet20: one point finished: replicas=1, ")) << text;
}

TEST(Verdict, WhatDoesNotCountIsNoHeadline) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99)};
  records[1].warmup.steady = false;
  const std::string text = verdictText(records);
  EXPECT_TRUE(text.starts_with("one point counts: replicas=1, ")) << text;
  EXPECT_TRUE(contains(text.substr(text.find("repeat with: ")), "--replicas=1,2 "))
      << "what is open is repeated: " << text;
  EXPECT_TRUE(
      contains(text,
               "; left out: 1 not steady (a larger --budget, --steps or --warmup helps); not judged, and maybe faster: "
               "replicas=2 (not steady); repeat with: "))
      << text;
  records[0].warmup.steady = false;
  EXPECT_TRUE(verdictText(records).starts_with("no point to judge: 2 not steady ("));
}

TEST(Verdict, AProfileIsNoCandidate) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99)};
  records[1].warmup.steady = false;
  records[1].profile.emplace();
  const std::string text = verdictText(records);
  EXPECT_TRUE(text.starts_with("one point finished: replicas=1, ")) << text;
  EXPECT_FALSE(contains(text, "maybe faster")) << text;
}

TEST(Verdict, OneRunEachIsRepeatedMoreThanOnce) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99)};
  for (RunRecord& record : records) record.config.measurement.repeats = 1;
  const std::string text = verdictText(records);
  EXPECT_TRUE(contains(text, "measure with --repeats=3 or more")) << text;
  EXPECT_FALSE(contains(text, "--repeats=1")) << text;
}

TEST(Verdict, ADisturbedRunIsLeftOutOfItsPoint) {
  auto records = inRounds(1, "replicated", 100, {0, 1, 80, 2});
  records[2].interference.reasons = {"other programs used the run's CPUs for 40 %"};
  EXPECT_EQ(verdictText(records),
            "one point finished: replicas=1, 158.42 images/s (median of 3 runs); left out: 1 not valid" +
                repeated(records[1]));
}

TEST(Verdict, WhereAllWasDisturbedItSaysByWhatAndWhatToDo) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 100)};
  for (RunRecord& record : records) record.interference.reasons = {"other programs used the run's CPUs for 40 %"};
  const std::string said =
      "no point to judge: 2 not valid: other programs used the run's CPUs for 40 %; end what else runs here and "
      "measure "
      "again";
  EXPECT_EQ(verdictText(records),
            said + " (with --allow-interference the exit code is 0, but such runs do not count either)");
  for (RunRecord& record : records) record.config.measurement.allowInterference = true;
  EXPECT_EQ(verdictText(records), said);
}

TEST(Shortcoming, IsTheFirstThatHolds) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  EXPECT_EQ(shortcoming(record), "");
  for (size_t i = record.steps.size() / 2; i < record.steps.size(); ++i)
    record.steps[i].wall = record.steps[i].wall / 2;
  EXPECT_EQ(shortcoming(record), "not steady");
  record.environment.variables["LD_PRELOAD"] = "other.so";
  EXPECT_EQ(shortcoming(record), "in doubt");
  record.interference.reasons = {"a stall"};
  EXPECT_EQ(shortcoming(record), "not valid");
  record.outcome.kind = OutcomeKind::failed;
  EXPECT_EQ(shortcoming(record), "failed");
}

TEST(Verdict, OnePointIsJustThatPoint) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100),
                                       failedRecord(2, ExitCode::numeric, "loss is NaN")};
  EXPECT_EQ(verdictText(records), "one point finished: replicas=1, 160.00 images/s" + repeated(records[0]));
}

TEST(Verdict, NoneFinished) {
  std::vector<RunRecord> records(3, failedRecord(2, ExitCode::numeric, "loss is NaN"));
  records[0].outcome.kind = OutcomeKind::skipped;
  EXPECT_EQ(verdictText(records), "no point to judge: 2 failed, 1 skipped");
  records.erase(records.begin());
  EXPECT_EQ(verdictText(records), "no point to judge: 2 failed");
  EXPECT_EQ(verdictText({}), "no point to judge: no run");
  RunRecord control = exampleRecord(2, "independent", 100);
  control.placement.control = true;
  EXPECT_EQ(verdictText({&control, 1}), "no point to judge: the replicas of all runs exchange nothing");
}

TEST(Verdict, AnotherProgramIsNotRepeatedAsTandem) {
  auto records = joined({inRounds(1, "replicated", 100, {0, 1, 2}), inRounds(1, "replicated", 50, {0, 1, 2})});
  for (size_t i = 3; i < records.size(); ++i) records[i].config.measurement.program = "PyTorch eager, torch 2.11.0";
  const Verdict verdict = verdictsOn(records).front();
  EXPECT_TRUE(contains(verdict.finding, "fastest: replicas=1 program=PyTorch eager, torch 2.11.0, "))
      << verdict.finding;
  EXPECT_TRUE(contains(verdict.finding, "% ahead of replicas=1 program=tandem")) << verdict.finding;
  EXPECT_EQ(verdict.repeat, "");
}

}  // namespace
}  // namespace tandem
