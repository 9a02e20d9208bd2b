#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "measure/training_example.h"
#include "report/export/exporters.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> linesOf(const RunRecord& record) {
  constexpr std::string_view token = ":::MLLOG ";
  std::vector<Json> lines;
  std::istringstream in(mllogOf(record));
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.starts_with(token)) << line;
    lines.push_back(Json::parse(line.substr(token.size())));
  }
  return lines;
}

Json find(const std::vector<Json>& lines, const std::string& key) {
  for (const Json& line : lines) {
    if (line.at("key") == key) return line;
  }
  return nullptr;
}

TEST(Mllog, EachLineHasTheMembersInTheirOrderAndTimesRise) {
  int64_t before = 0;
  for (const Json& line : linesOf(exampleRecord(2, "replicated", 100))) {
    std::vector<std::string> names;
    for (const auto& [name, value] : line.items()) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"namespace", "time_ms", "event_type", "key", "value", "metadata"}));
    EXPECT_TRUE(line.at("metadata").contains("file") && line.at("metadata").contains("lineno"));
    EXPECT_GE(line.at("time_ms").get<int64_t>(), before);
    before = line.at("time_ms").get<int64_t>();
  }
}

TEST(Mllog, TheRunIsTheMeasuredWindow) {
  RunRecord record = exampleRecord(2, "replicated", 99);  // 30 steps of 100 ms behind 0.5 s and 6 of 99 ms
  record.config.step.learningRate = 0.25;
  record.config.step.seed = 17;
  const auto lines = linesOf(record);
  constexpr int64_t start = 1767323045000;  // 2026-01-02T03:04:05Z
  EXPECT_EQ(find(lines, "init_start").at("time_ms"), start);
  EXPECT_EQ(find(lines, "init_stop").at("time_ms"), start + 500 + 594);
  EXPECT_EQ(find(lines, "run_start").at("time_ms"), start + 1094);
  EXPECT_EQ(find(lines, "run_stop").at("time_ms"), start + 1094 + 3000);
  EXPECT_EQ(find(lines, "init_start").at("event_type"), "INTERVAL_START");
  EXPECT_EQ(find(lines, "run_stop").at("event_type"), "INTERVAL_END");
  EXPECT_EQ(find(lines, "run_stop").at("metadata").at("status"), "success");
  EXPECT_EQ(find(lines, "global_batch_size").at("value"), 32);
  EXPECT_EQ(find(lines, "opt_name").at("value"), "sgd");
  EXPECT_EQ(find(lines, "opt_base_learning_rate").at("value"), 0.25);
  EXPECT_EQ(find(lines, "seed").at("value"), 17);
  EXPECT_EQ(find(lines, "tracked_stats").at("value").at("throughput"), 320);
  EXPECT_EQ(find(lines, "tracked_stats").at("metadata").at("step"), 36);
}

/// The keys of lines between two keys.
std::vector<std::string> keysBetween(const std::vector<Json>& lines, const std::string& from, const std::string& to) {
  std::vector<std::string> keys;
  bool inside = false;
  for (const Json& line : lines) {
    if (line.at("key") == to) inside = false;
    if (inside) keys.push_back(line.at("key"));
    if (line.at("key") == from) inside = true;
  }
  return keys;
}

TEST(Mllog, ATrainingHasItsEpochsAndEvaluationsInOrder) {
  const auto lines = linesOf(exampleTraining());
  std::vector<std::string> expected;
  const auto expect = [&](std::initializer_list<const char*> keys) {
    expected.insert(expected.end(), keys.begin(), keys.end());
  };
  for (int epoch = 5; epoch <= 12; ++epoch) {
    expect({"epoch_start", "epoch_stop", "eval_start", "eval_stop", "eval_accuracy"});
  }
  expect({"eval_start", "eval_stop", "eval_accuracy", "tracked_stats"});  // of the test images
  EXPECT_EQ(keysBetween(lines, "run_start", "run_stop"), expected)
      << "evaluations before the resume are not of this run";
  constexpr int64_t firstStep = 1767323045500;
  EXPECT_EQ(find(lines, "run_start").at("time_ms"), firstStep);
  EXPECT_EQ(find(lines, "epoch_start").at("metadata").at("epoch_num"), 5);
  EXPECT_EQ(find(lines, "epoch_start").at("metadata").at("samples_count"), 6400);
  EXPECT_EQ(find(lines, "epoch_stop").at("time_ms"), firstStep + 10'000);
  EXPECT_EQ(find(lines, "epoch_stop").at("metadata").at("samples_count"), 8000);
  EXPECT_EQ(find(lines, "eval_start").at("time_ms"), firstStep + 10'000);
  EXPECT_EQ(find(lines, "eval_stop").at("time_ms"), firstStep + 11'000);
  const Json accuracy = find(lines, "eval_accuracy");
  EXPECT_EQ(accuracy.at("value"), 0.9);
  EXPECT_EQ(accuracy.at("metadata").at("epoch_num"), 5);
  EXPECT_EQ(accuracy.at("metadata").at("samples_count"), 8000);
  EXPECT_EQ(accuracy.at("metadata").at("split"), "validation");
  EXPECT_EQ(accuracy.at("metadata").at("metric"), "accuracy");
  EXPECT_EQ(find(lines, "train_samples").at("value"), 1600);
  EXPECT_EQ(find(lines, "eval_samples").at("value"), 500);
  EXPECT_EQ(find(lines, "run_stop").at("time_ms"), firstStep + 93'000 - 500) << "when the last evaluation ended";
  EXPECT_EQ(find(lines, "run_stop").at("metadata").at("status"), "success");
  EXPECT_EQ(find(lines, "run_stop").at("metadata").at("samples_count"), 19'200);
  EXPECT_DOUBLE_EQ(find(linesOf(exampleFlagsTraining()), "eval_accuracy").at("value"), 0.89) << "the AUC of flags";
}

TEST(Mllog, LinesOfATrainingRiseAlthoughItsTimesDoNot) {
  RunRecord record = exampleTraining();
  for (EvaluationRecord& evaluation : record.training->evaluations) {
    if (evaluation.step > 400) evaluation.at -= millis(300);  // begins before the steps end
  }
  int64_t before = 0;
  for (const Json& line : linesOf(record)) {
    EXPECT_GE(line.at("time_ms").get<int64_t>(), before) << line;
    before = line.at("time_ms").get<int64_t>();
  }
}

TEST(Mllog, ATrainingThatMissedItsTargetIsAborted) {
  const auto statusOf = [](const RunRecord& record) {
    return find(linesOf(record), "run_stop").at("metadata").at("status");
  };
  RunRecord record = exampleTraining();
  record.config.training.stopAt = "accuracy:0.99";
  EXPECT_EQ(statusOf(record), "aborted");
  record.training->toTarget = millis(70'000);
  EXPECT_EQ(statusOf(record), "success");
  record.training->interrupted = true, record.training->ended = "signal";
  EXPECT_EQ(statusOf(record), "aborted");
  EXPECT_EQ(find(linesOf(record), "run_stop").at("metadata").at("reason"), "signal");
  record.training->evaluations.clear();
  EXPECT_EQ(find(linesOf(record), "eval_samples").at("value"), 0);
}

TEST(Mllog, ARunThatFailedIsAbortedAndWhatWasNotMeasuredIsNull) {
  RunRecord failed = failedRecord(2, ExitCode::numeric, "loss is \"NaN\"\nat step 3");
  failed.time = "2026-01-02T03:04:05Z";
  const auto lines = linesOf(failed);
  EXPECT_EQ(find(lines, "run_stop").at("metadata").at("status"), "aborted");
  EXPECT_EQ(find(lines, "run_stop").at("metadata").at("reason"), "loss is \"NaN\"\nat step 3");
  EXPECT_TRUE(find(lines, "tracked_stats").is_null());
  const RunRecord few = shortened(exampleRecord(1, "replicated", 100), 4);
  EXPECT_TRUE(find(linesOf(few), "tracked_stats").at("value").at("throughput_low").is_null());
  failed.time = "yesterday";
  EXPECT_THROW(mllogOf(failed), DataError);
}

TEST(Mllog, WithoutTrainingThereIsNoOptimizer) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.config.step.forwardOnly = true;
  EXPECT_TRUE(find(linesOf(record), "opt_name").is_null());
  record.warmup.steady = false;
  EXPECT_EQ(find(linesOf(record), "run_stop").at("metadata").at("caveats"), "not steady");
}

}  // namespace
}  // namespace tandem
