#pragma once

#include <string>
#include <vector>

#include "device/recorded_work.h"

namespace tandem {

using WorkLog = std::vector<std::string>;

/// Recorded work on a CPU: keeps the work and does it again at each launch, with the host's calls in their places.
class RepeatedWork final : public RecordedWork {
 public:
  explicit RepeatedWork(WorkLog& log) : log_(log) {}
  void record(const std::function<void()>& work, const at::Generator&) override {
    log_.emplace_back("record");
    work_ = work;
  }
  void call(std::function<void()> onHost) override {
    log_.emplace_back("call");
    onHost();
  }
  void launch() override {
    log_.emplace_back("launch");
    work_();
  }

 private:
  WorkLog& log_;
  std::function<void()> work_;
};

/// What a device says that cannot record.
class RefusedWork final : public RecordedWork {
 public:
  void record(const std::function<void()>&, const at::Generator&) override {
    throw RecordingFailed("operation not permitted when stream is capturing");
  }
  void call(std::function<void()>) override {}
  void launch() override {}
};

}  // namespace tandem
