#pragma once

// Trainings that take a moment, and what becomes of those that a signal ends.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "run_tandem.h"
#include "support/idx_images.h"

namespace tandem {

/// Whether a training has finished a checkpoint in its folder, which need not be there yet.
inline bool hasCheckpoint(const std::string& folder) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("step-") && !name.ends_with(".part")) return true;
  }
  return false;
}

/// Trainings on 200 images, with 50 test images.
class SmallTrainings : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  SmallTrainings() {
    writeIdxImages(folder_ + "/data", 200);
    writeIdxImages(folder_ + "/data", 50, 0, "t10k");
  }

  Texts arguments(Texts more) const {
    Texts all{"train",
              "--model=trivial",
              "--image-size=32",
              "--batch=4",
              "--replicas=1",
              "--lr=0.01",
              "--oversubscribe",
              "--data=" + folder_ + "/data",
              "--out=" + folder_ + "/results.jsonl"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Finished train(Texts more) const { return runTandem(arguments(std::move(more))); }
  std::string sumOf(const std::string& name) const { return sha256Of(readFile(folder_ + "/" + name, 1 << 26)); }

  /// Of the weights after sixteen epochs.
  std::string sumOfWhole(Texts more) const {
    more.insert(more.end(), {"--epochs=16", "--validate-on=none", "--save-weights=" + folder_ + "/whole.safetensors"});
    const Finished run = train(std::move(more));
    EXPECT_EQ(run.code, 0) << run.err;
    return sumOf("whole.safetensors");
  }

  /// The same of a training that the signal ended when it had its first checkpoint, and that then went on.
  std::string sumOfInterrupted(Texts more, int signal) const {
    const std::string run = folder_ + "/run";
    std::filesystem::remove_all(run);
    more.insert(more.end(), {"--epochs=16", "--validate-on=none", "--checkpoint=" + run, "--resume=auto",
                             "--save-weights=" + folder_ + "/parted.safetensors"});
    Tandem first(arguments(more));
    while (!hasCheckpoint(run)) {
      EXPECT_FALSE(first.ended()) << first.outSoFar();
      if (first.ended()) return "it did not begin";
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(first.id(), signal);
    const Finished ended = first.wait();
    EXPECT_EQ(ended.code, stoppedAndSaved) << ended.out << ended.err;
    const Finished resumed = train(more);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    return sumOf("parted.safetensors");
  }

  /// Of two ranks and a parameter server.
  static Texts ofServers(const std::string& servers) {
    return {"--strategy=parameter_server", "--optimizer=adam", "--ranks=2", servers};
  }

  const std::string folder_ = ownFolder();
};

}  // namespace tandem
