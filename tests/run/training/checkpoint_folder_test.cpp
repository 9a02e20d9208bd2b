#include "run/training/checkpoint_folder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/file.h"
#include "support/captured_warnings.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// A folder of the running test's own, which is not there yet.
std::string freshFolder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const fs::path folder = fs::path(testing::TempDir()) / concat("checkpoints_", test->name());
  fs::remove_all(folder);
  return folder;
}

TrainingState stateAt(int64_t step) {
  const auto value = static_cast<double>(step);
  return {.step = step,
          .parameters = {{"fc.weight", at::full({2, 3}, value)}, {"fc.bias", at::full({2}, -value)}},
          .optimizer = {{{"fc.weight", at::full({2, 3}, value / 3)}, {"fc.bias", at::zeros({2})}}},
          .replicas = {{{"statistics.bn.mean", at::arange(4, at::kFloat)},
                        {"generator", at::arange(16, at::kByte)},
                        {"loss_scale.skipped", at::full({1}, value, at::kDouble)}},
                       {{"statistics.bn.mean", at::ones({4})}}}};
}

CheckpointFacts factsAt(int64_t step) {
  CheckpointFacts facts{
      .step = step, .rate = 0.5, .config = {{"lr", 0.1}}, .data = "idx, 10 images", .shares = {3, 1}, .record = {}};
  facts.record.steps = step;
  facts.record.evaluations.push_back({.split = "test", .step = step, .loss = 0.25});
  return facts;
}

void save(const std::string& folder, std::initializer_list<int64_t> steps, int64_t keep = 100) {
  CheckpointFolder checkpoints(folder, keep);
  for (const int64_t step : steps) checkpoints.save(factsAt(step), stateAt(step));
}

void expectEqual(const StateTensors& a, const StateTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    const auto other = std::ranges::find(b, name, &StateTensors::value_type::first);
    ASSERT_NE(other, b.end()) << name;
    EXPECT_TRUE(at::equal(tensor, other->second)) << name;
  }
}

TEST(CheckpointFolder, GivesBackWhatWasSaved) {
  const std::string folder = freshFolder();
  save(folder, {7});
  const auto read = newestCheckpoint(folder);
  ASSERT_TRUE(read);
  const TrainingState saved = stateAt(7);
  EXPECT_EQ(read->state.step, 7);
  expectEqual(saved.parameters, read->state.parameters);
  ASSERT_EQ(read->state.optimizer.size(), 1U);
  expectEqual(saved.optimizer[0], read->state.optimizer[0]);
  ASSERT_EQ(read->state.replicas.size(), 2U);
  expectEqual(saved.replicas[0], read->state.replicas[0]);
  expectEqual(saved.replicas[1], read->state.replicas[1]);
  EXPECT_EQ(read->facts.rate, 0.5);
  EXPECT_EQ(read->facts.config, factsAt(7).config);
  EXPECT_EQ(read->facts.shares, factsAt(7).shares);
  EXPECT_EQ(read->facts.record, factsAt(7).record);
}

TEST(CheckpointFolder, KeepsTheNewest) {
  const std::string folder = freshFolder();
  save(folder, {1, 20, 300}, /*keep=*/2);
  EXPECT_EQ(checkpointSteps(folder), (std::vector<int64_t>{20, 300}));
  EXPECT_EQ(newestCheckpoint(folder)->facts.step, 300);
}

TEST(CheckpointFolder, LaterStepsAreOfATrainingThatWasLeft) {
  const std::string folder = freshFolder();
  save(folder, {40, 80, 90, 50}, /*keep=*/2);
  EXPECT_EQ(checkpointSteps(folder), std::vector<int64_t>{50}) << "40 was removed for 90, the two later for 50";
  save(folder, {55}, /*keep=*/2);
  EXPECT_EQ(checkpointSteps(folder), (std::vector<int64_t>{50, 55}));
}

TEST(CheckpointFolder, GivesItsNameBackToOneThatWasBeingReplaced) {
  const std::string folder = freshFolder(), five = folder + "/step-000000005";
  save(folder, {5});
  fs::rename(five, five + ".old");
  save(folder, {});
  EXPECT_EQ(newestCheckpoint(folder)->facts.step, 5);
  fs::copy(five, five + ".old");
  save(folder, {});
  EXPECT_FALSE(fs::exists(five + ".old"));
  EXPECT_EQ(newestCheckpoint(folder)->facts.step, 5);
}

TEST(CheckpointFolder, ASecondSaveOfAStepTakesTheFirstOnesPlace) {
  const std::string folder = freshFolder();
  save(folder, {5, 5});
  EXPECT_EQ(checkpointSteps(folder), std::vector<int64_t>{5});
  EXPECT_TRUE(newestCheckpoint(folder));
}

TEST(CheckpointFolder, WithoutCheckpointsThereIsNone) {
  EXPECT_FALSE(newestCheckpoint(freshFolder()));
  CheckpointFolder empty(freshFolder(), 1);
  EXPECT_FALSE(newestCheckpoint(freshFolder()));
}

TEST(CheckpointFolder, IsForOneTraining) {
  const std::string folder = freshFolder();
  const CheckpointFolder first(folder, 1);
  const std::string text = textOfFailure<UsageError>([&] { const CheckpointFolder second(folder, 1); });
  EXPECT_NE(text.find(concat("--checkpoint=", folder, ": another training uses the folder (process ", getpid())),
            text.npos)
      << text;
}

TEST(CheckpointFolder, RemovesWhatAnInterruptedSaveHasLeft) {
  const std::string folder = freshFolder();
  save(folder, {5});
  const fs::path left = fs::path(folder) / "step-000000009.part";
  fs::create_directories(left);
  std::ofstream(left / "state.safetensors") << "half";
  save(folder, {});
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(newestCheckpoint(folder)->facts.step, 5);
}

class DamagedCheckpoint : public testing::Test {
 protected:
  void SetUp() override { save(folder_, {1, 2}); }

  /// The newest is passed over with a warning that names `file`.
  void expectPassedOver(const std::string& file) {
    const CapturedWarnings warnings;
    const auto read = newestCheckpoint(folder_);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->facts.step, 1);
    EXPECT_NE(warnings.text().find(file), std::string::npos) << warnings.text();
  }

  const std::string folder_ = freshFolder();
  const fs::path newest_ = fs::path(folder_) / "step-000000002";
};

TEST_F(DamagedCheckpoint, IsPassedOverWhereverAFileEnds) {
  for (const char* name : {"manifest.json", "state.safetensors", "replicas.safetensors"}) {
    const fs::path file = newest_ / name;
    const auto whole = readFile(file, 1 << 20);
    constexpr size_t lengths = 64;
    for (size_t i = 0; i < lengths; ++i) {
      fs::resize_file(file, whole.size() * i / lengths);
      expectPassedOver(name);
    }
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(whole.data()), std::ssize(whole));
    EXPECT_EQ(newestCheckpoint(folder_)->facts.step, 2) << "whole again";
  }
}

TEST_F(DamagedCheckpoint, IsPassedOverIfAByteIsAnother) {
  for (const char* name : {"state.safetensors", "replicas.safetensors"}) {
    const fs::path file = newest_ / name;
    const auto size = static_cast<int64_t>(fs::file_size(file));
    for (int64_t at = 0; at < size; at += 1 + size / 200) {
      std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
      bytes.seekg(at);
      const auto byte = static_cast<char>(bytes.get());
      bytes.seekp(at).put(static_cast<char>(byte ^ 1)).flush();
      expectPassedOver(name);
      bytes.seekp(at).put(byte);
    }
  }
}

TEST_F(DamagedCheckpoint, IsPassedOverWithoutAFile) {
  fs::remove(newest_ / "replicas.safetensors");
  expectPassedOver("replicas.safetensors");
}

TEST_F(DamagedCheckpoint, IsRefusedIfNoneIsIntact) {
  for (const char* step : {"step-000000001", "step-000000002"}) fs::remove(fs::path(folder_) / step / "manifest.json");
  const CapturedWarnings warnings;
  const std::string text = textOfFailure<CheckpointError>([&] { newestCheckpoint(folder_); });
  EXPECT_NE(text.find(concat("no checkpoint in ", folder_, " is intact")), text.npos) << text;
}

}  // namespace
}  // namespace tandem
