#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/text.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "run/plan/plan.h"
#include "run/run_point.h"
#include "run/tiny_config.h"
#include "support/idx_images.h"

namespace tandem {

/// Trainings of a small network on 40 images, with 20 test images, in a folder of the running test's own.
class TinyTraining : public testing::Test {
 protected:
  TinyTraining() {
    std::filesystem::remove_all(folder_);
    writeIdxImages(folder_ / "data", 40);
    writeIdxImages(folder_ / "data", 20, 0, "t10k");
  }

  Config config(double epochs = 3) const {
    Config config = tinyConfig();
    config.input.data = (folder_ / "data").string();
    config.training.epochs = epochs;
    config.step.learningRate = 0.01;
    return config;
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static RunRecord run(const Config& config) { return runPoint(resolvePlan(config), nullptr); }

  /// The same of a training that must end well.
  static RunRecord ended(const Config& config) {
    RunRecord record = run(config);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    return record;
  }

  static std::string notesOf(const RunRecord& record) { return join(record.notes, "\n"); }

  /// The SHA-256 of the weights that a training ends with.
  std::string weightsOf(Config config) const {
    config.output.saveWeights = path("weights.safetensors");
    ended(config);
    return sha256Of(readFile(config.output.saveWeights, 1 << 26));
  }

  /// The same of one that is ended after its first checkpoint, and resumed.
  std::string weightsOfResumed(Config config, double firstEpochs = 1) const {
    config.training.checkpoint = path("checkpoints");
    Config first = config;
    first.training.epochs = firstEpochs;
    EXPECT_EQ(run(first).outcome.reason, "");
    config.training.resume = "always";
    config.training.allowChanges = true;  // --epochs
    return weightsOf(config);
  }

  /// Why a training of three epochs, changed so, is refused.
  std::string reasonOf(void (*change)(Config&)) const {
    Config config = this->config();
    change(config);
    const RunRecord record = run(config);
    EXPECT_EQ(record.outcome.code, ExitCode::usage) << record.outcome.reason;
    return record.outcome.reason;
  }

  const testing::TestInfo& test_ = *testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / test_.test_suite_name() / test_.name();
};

}  // namespace tandem
