// The commands train and eval, as their user meets them.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "bash_lines.h"
#include "formats/io/file.h"
#include "small_trainings.h"
#include "support/contains.h"

namespace tandem {
namespace {

class Train : public SmallTrainings {};

TEST_F(Train, TellsEachEvaluationAndStoresOneRecord) {
  const Finished run = train({"--epochs=2"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "epoch 1.00, update 50: training loss ")) << run.out;
  EXPECT_TRUE(contains(run.out, "epoch 2.00, update 100: training loss ")) << run.out;
  EXPECT_TRUE(contains(run.out, "; test accuracy ")) << run.out;
  const auto text = readFile(folder_ + "/results.jsonl", 1 << 26);
  const auto record = nlohmann::json::parse(text);
  EXPECT_EQ(record.at("training").at("steps"), 100);
}

TEST_F(Train, EvalSaysOfTheWeightsWhatTheTrainingSaid) {
  const Finished run = train({"--epochs=1", "--save-weights=" + folder_ + "/w.safetensors"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Finished judged = runForked({"eval", "--model=trivial", "--image-size=32", "--classes=10",
                                     "--weights=" + folder_ + "/w.safetensors", "--data=" + folder_ + "/data", "--json",
                                     "--save-scores=" + folder_ + "/scores.safetensors"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  const auto said = nlohmann::json::parse(judged.out);
  const auto evaluation =
      nlohmann::json::parse(readFile(folder_ + "/results.jsonl", 1 << 26)).at("training").at("evaluations").back();
  EXPECT_EQ(said.at("images"), 50);
  EXPECT_EQ(said.at("accuracy"), evaluation.at("accuracy"));
  EXPECT_NEAR(said.at("loss").get<double>(), evaluation.at("loss").get<double>(), 1e-6);
  EXPECT_EQ(said.at("confusion").size(), 100U);
  EXPECT_GT(std::filesystem::file_size(folder_ + "/scores.safetensors"), 50U * 20);
}

TEST_F(Train, ItsPageAndTensorBoardShowWrongPredictions) {
  const Finished run = train(
      {"--epochs=1", "--wrong-images=2", "--page=" + folder_ + "/page.html", "--tensorboard=" + folder_ + "/events"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto evaluation =
      nlohmann::json::parse(readFile(folder_ + "/results.jsonl", 1 << 26)).at("training").at("evaluations").back();
  ASSERT_EQ(evaluation.at("wrong").size(), 2U);
  const auto first = evaluation.at("wrong").at(0);
  const std::string caption = concat(first.at("label").get<int>(), " taken for ", first.at("predicted").get<int>());
  const auto bytes = readFile(folder_ + "/page.html", 1 << 26);
  const std::string page(bytes.begin(), bytes.end());
  EXPECT_TRUE(contains(page, concat("<img alt=\"", caption)));
  EXPECT_TRUE(contains(page, "src=\"data:image/png;base64,"));
  std::string events;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/events")) {
    if (!entry.is_regular_file()) continue;
    const auto file = readFile(entry.path(), 1 << 26);
    events.append(file.begin(), file.end());
  }
  EXPECT_TRUE(contains(events, "test/wrong 01: " + caption));
  EXPECT_TRUE(contains(events, "IHDR"));
}

TEST_F(Train, WrongPredictionsWithoutTheirDataHaveNoPictures) {
  const std::string page = folder_ + "/page.html";
  Tandem run(
      arguments({"--epochs=1000000", "--validate-every=5", "--page=" + page, "--checkpoint=" + folder_ + "/run"}));
  while (!contains(run.outSoFar(), "epoch 5.00")) {
    ASSERT_FALSE(run.ended()) << run.outSoFar();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::filesystem::remove_all(folder_ + "/data");
  kill(run.id(), SIGTERM);
  const Finished ended = run.wait();
  EXPECT_EQ(ended.code, stoppedAndSaved) << ended.err;
  EXPECT_TRUE(contains(ended.out, "no pictures of wrong predictions: ")) << ended.out;
  EXPECT_TRUE(std::filesystem::exists(page));
}

/// A signal ends it with a checkpoint, from which it goes on to the same weights.
TEST_F(Train, ASignalEndsItAndItGoesOn) { EXPECT_EQ(sumOfInterrupted({}, SIGTERM), sumOfWhole({})); }

TEST_F(Train, AServerOfRanksGoesOnFromItsCheckpoint) {
  const Texts more = ofServers("--server-ranks=1");
  EXPECT_EQ(sumOfInterrupted(more, SIGUSR1), sumOfWhole(more));
}

TEST_F(Train, RanksEndWithTheSameWeights) {
  const auto weightsWith = [&](const std::string& name, Texts more) {
    more.insert(more.end(), {"--epochs=1", "--save-weights=" + folder_ + "/" + name});
    const Finished run = train(std::move(more));
    EXPECT_EQ(run.code, 0) << run.err;
    return sumOf(name);
  };
  Texts replicas = arguments({"--epochs=1", "--save-weights=" + folder_ + "/a.safetensors"});
  replicas[4] = "--replicas=2";
  ASSERT_EQ(runTandem(replicas).code, 0);
  EXPECT_EQ(weightsWith("b.safetensors", {"--ranks=2"}), sumOf("a.safetensors"));
  Texts launched = arguments({"--epochs=1", "--save-weights=" + folder_ + "/c.safetensors"});
  launched.insert(launched.begin(), {"launch", "-n", "2", "--"});
  const Finished run = runTandem(launched);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(sumOf("c.safetensors"), sumOf("a.safetensors"));
}

TEST_F(Train, RanksFindTheWrongPredictionsThatReplicasFind) {
  Texts replicas = arguments({"--epochs=1", "--eval-batch=8"});
  replicas[4] = "--replicas=2";
  ASSERT_EQ(runTandem(replicas).code, 0);
  const Finished ranks = train({"--epochs=1", "--eval-batch=8", "--ranks=2"});
  ASSERT_EQ(ranks.code, 0) << ranks.err;
  std::ifstream results(folder_ + "/results.jsonl");
  std::vector<nlohmann::json> wrong;
  for (std::string line; std::getline(results, line);) {
    wrong.push_back(nlohmann::json::parse(line).at("training").at("evaluations").back().at("wrong"));
  }
  ASSERT_EQ(wrong.size(), 2U);
  EXPECT_EQ(wrong[0].size(), 16U);
  EXPECT_EQ(wrong[0], wrong[1]);
}

TEST_F(Train, ARecipesOptionsHoldWhereNoneAreTyped) {
  const Finished run = runForked(
      {"train", "--recipe=fashion-mnist", "--epochs=3", "--data=" + folder_ + "/data", "--replicas=1", "--dry-run"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "--model=resnet20")) << run.out;
  EXPECT_TRUE(contains(run.out, "--epochs=3")) << run.out;
  EXPECT_TRUE(contains(run.out, "--schedule=cosine")) << run.out;
}

TEST_F(Train, EachRecipeIsATraining) {
  const Finished list = runForked({"list", "recipes", "--json"});
  ASSERT_EQ(list.code, 0) << list.err;
  const auto recipes = nlohmann::json::parse(list.out).at("recipes");
  EXPECT_GE(recipes.size(), 8U);
  for (const auto& recipe : recipes) {
    const std::string name = recipe.at("name");
    EXPECT_FALSE(recipe.at("summary").get<std::string>().empty()) << name;
    EXPECT_FALSE(recipe.at("source").get<std::string>().empty()) << name;
    const Finished run = runForked({"train", "--recipe=" + name, "--dry-run", "--batch=2", "--replicas=1"});
    EXPECT_EQ(run.code, 0) << name << ": " << run.err;
    for (const auto& [option, value] : recipe.at("options").items()) {
      if (option == "batch" || value == "true") continue;
      const bool isDefault = !contains(run.out, concat("--", option, '='));
      EXPECT_TRUE(isDefault || contains(run.out, concat("--", option, '=', value.get<std::string>()))) << run.out;
    }
  }
}

TEST_F(Train, WhatIsWrongIsOneLine) {
  const auto expectRefused = [&](Texts more, int code, std::string_view part) {
    expectOneLine(runForked(arguments(std::move(more))), code, part);
  };
  expectRefused({}, 2, "needs --epochs=X");
  expectRefused({"--epochs=1", "--precision=fp32,bf16"}, 2, "takes one value of --precision, not a list");
  expectRefused({"--epochs=0"}, 2, "--epochs=0: must be above 0");
  expectRefused({"--epochs=1", "--resume=auto"}, 2, "--resume=auto needs --checkpoint");
  expectOneLine(train({"--epochs=1", "--validate-on=validation"}), 3, "it has no validation images");
  expectRefused({"--epochs=1", "--save-scores=x.txt"}, 2, "must end in .safetensors");
  expectRefused({"--epochs=1", "--train-size=16@2"}, 2, "--train-size=16@2: must be sizes from 8 to 16384 pixels");
  expectRefused({"--recipe=none-such"}, 2, "unknown recipe");
  expectRefused({"--recipe=none.json"}, 3, "--recipe=none.json: cannot be read");
  expectRefused({"--epochs=1", "--steps=5"}, 2, "there is 'tandem bench --steps'");
}

TEST_F(Train, ACheckpointOfAnotherTrainingIsRefused) {
  const std::string run = folder_ + "/run";
  ASSERT_EQ(train({"--epochs=1", "--checkpoint=" + run}).code, 0);
  const Finished other = runForked(arguments({"--epochs=1", "--lr=0.02", "--checkpoint=" + run, "--resume=auto"}));
  EXPECT_EQ(other.code, 2) << "given twice";
  Texts changed = arguments({"--epochs=1", "--checkpoint=" + run, "--resume=auto"});
  changed[5] = "--lr=0.02";
  const Finished refused = runTandem(changed);
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_TRUE(contains(refused.err, "--lr was 0.01, and is 0.02")) << refused.err;
}

}  // namespace
}  // namespace tandem
