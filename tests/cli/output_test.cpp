#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "config/option.h"
#include "models/model.h"
#include "run_tandem.h"
#include "support/contains.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using nlohmann::json;

TEST(Help, NamesTheCommands) {
  for (const auto& arguments : {std::vector<std::string>{}, {"--help"}, {"-h"}, {"help"}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, 0);
    for (const auto& command : {"bench", "list", "--version"}) EXPECT_TRUE(contains(run.out, command)) << command;
    EXPECT_FALSE(contains(run.out, "worker"));
  }
}

TEST(Help, OfBenchHasEveryOption) {
  const auto run = runForked({"bench", "--help"});
  EXPECT_EQ(run.code, 0);
  for (const auto& option : options()) {
    const bool isOfBench = (option.commands & onBench) != 0;
    EXPECT_TRUE(!isOfBench || contains(run.out, concat("--", option.name))) << option.name;
  }
  EXPECT_TRUE(contains(run.out, "models' (default resnet50)")) << "too many to be listed";
}

TEST(Docs, GeneratedReferenceHasNotDrifted) {
  const auto path = std::filesystem::path(testsFolder()).parent_path() / "docs" / "OPTIONS.md";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  const std::string stored{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(runForked({"docs"}).out, stored) << "generate it anew: tandem docs > docs/OPTIONS.md";
}

TEST(PlanShow, HasTheCallsAndTheirSums) {
  const auto run =
      runForked({"plan", "show", "--model=resnet20", "--layout=nhwc", "--convolution=direct", "--batch=8"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const auto& part :
       {"batch_norm + add + relu", "conv1", "8 images", "kept for backward", "backward by autograd"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
  EXPECT_EQ(runForked({"plan", "--help"}).code, 0);
}

TEST(PlanShow, SaysFirstThatABatchIsAGuess) {
  const auto run = runForked({"plan", "show", "--model=lenet5", "--layout=nhwc", "--batch=max"});
  ASSERT_EQ(run.code, 0) << run.err;
  const size_t guess = run.out.find("is the guess of the memory estimate");
  ASSERT_NE(guess, std::string::npos) << run.out;
  EXPECT_LT(guess, run.out.find("algorithm")) << "before the table";
}

TEST(PlanShow, HasTheChannelsOfZeros) {
  const std::vector<std::string> bare{"plan",          "show",      "--model=resnet20",
                                      "--layout=nhwc", "--batch=8", "--convolution=direct"};
  EXPECT_FALSE(contains(runForked(bare).out, "of zeros")) << "none on a CPU unless asked for";
  std::vector<std::string> padded = bare;
  padded.emplace_back("--pad-images=8");
  EXPECT_TRUE(contains(runForked(padded).out, "conv (5 channels of zeros)"));
}

TEST(PlanShow, RefusesWhatHasNoPlan) {
  for (const auto& arguments : {std::vector<std::string>{"plan"},
                                {"plan", "hide"},
                                {"plan", "show", "--executor=autograd"},
                                {"plan", "show", "--model=resnet21"}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_FALSE(run.err.empty());
  }
}

TEST(List, HasEveryModelWithItsSize) {
  const auto run = runForked({"list", "models"});
  EXPECT_EQ(run.code, 0);
  for (const auto& model : models()) {
    EXPECT_TRUE(contains(run.out, model.name)) << model.name;
    EXPECT_TRUE(contains(run.out, concat(model.parameters, " parameters"))) << model.name;
  }
  EXPECT_FALSE(contains(run.out, "parameter_server"));
}

TEST(List, AsJsonHoldsEverySection) {
  const auto run = runForked({"list", "--json"});
  ASSERT_EQ(run.code, 0);
  const auto object = json::parse(run.out);
  for (const auto& section : {"models", "strategies", "inputs", "precisions", "metrics", "all-reduces"}) {
    ASSERT_TRUE(object.contains(section)) << section;
    EXPECT_FALSE(object[section].empty()) << section;
    EXPECT_FALSE(object[section][0]["summary"].get<std::string>().empty()) << section;
  }
  EXPECT_EQ(object["models"].size(), models().size());
}

TEST(Version, AsJsonHasCommitAndLibraries) {
  const auto run = runTandem({"--version", "--json"});
  ASSERT_EQ(run.code, 0);
  const auto object = json::parse(run.out);
  EXPECT_TRUE(contains(runForked({"--version"}).out, object["version"].get<std::string>()));
  EXPECT_TRUE(object["commit"].is_string());
  EXPECT_TRUE(object["libraries"].contains("libtorch"));
}

TEST(DryRun, PrintsThePlanOfEveryPointAndMeasuresNothing) {
  const auto run = runForked({"bench", "--model=trivial", "--image-size=32", "--batch=4,8", "--dry-run"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "batch=4"));
  EXPECT_TRUE(contains(run.out, "batch=8"));
  EXPECT_TRUE(contains(run.out, "available"));
  EXPECT_FALSE(std::filesystem::exists(ownFolder() + "/tandem-results.jsonl"));
}

TEST(DryRun, SaysWhatIsNotPossible) {
  const auto run =
      runForked({"bench", "--model=trivial", "--image-size=32", "--batch=4,1000000000", "--replicas=1", "--dry-run"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.errors().size(), 1U);
  const auto mixed = runForked({"bench", "--model=trivial", "--image-size=32", "--replicas=1,1000", "--dry-run"});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_TRUE(contains(mixed.out, "not possible: "));
  EXPECT_TRUE(contains(mixed.out, "replicas=1\nmodel"));
}

TEST(DryRun, CommandLinesOfOtherProgramsWorkVerbatim) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--num_gpus=1", "--batch_size=2", "--model=resnet50", "--variable_update=parameter_server",
            "--local_parameter_device=cpu", "--dry-run"},
           {"--fake-location", "gpu", "--variable-update=replicated", "--use-fp16", "--batch", "2", "--dry-run"}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "resnet50")) << run.out;
  }
}

}  // namespace
}  // namespace tandem
