#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "device/captured_graph.h"
#include "trace/op_scope.h"
#include "trace/span.h"

namespace tandem {

using WorkLog = std::vector<std::string>;

/// Who hears of what a thread does.
struct Listeners {
  SpanRecorder* spans = nullptr;
  OpListener* work = nullptr;
};

/// Puts others in the place of the thread's listeners as long as it lives.
class HeardBy {
 public:
  explicit HeardBy(Listeners others)
      : before_{std::exchange(threadRecorder, others.spans), std::exchange(threadOpListener, others.work)} {}
  ~HeardBy() {
    threadRecorder = before_.spans;
    threadOpListener = before_.work;
  }
  HeardBy(const HeardBy&) = delete;
  HeardBy& operator=(const HeardBy&) = delete;

  Listeners before() const { return before_; }

 private:
  Listeners before_;
};

/// Recorded work on a CPU: keeps the work and does it again at each launch, with the host's calls in their places. As
/// with a graph, they are all that the host hears of.
class RepeatedGraph final : public CapturedGraph {
 public:
  /// `device` hears for which operations a launch works; null: nobody does.
  explicit RepeatedGraph(WorkLog& log, OpListener* device = nullptr) : log_(log), device_{nullptr, device} {}
  void record(const std::function<void()>& work, const at::Generator&) override {
    log_.emplace_back("record");
    work_ = work;
  }
  void call(std::function<void()> onHost) override {
    log_.emplace_back("call");
    const HeardBy host(host_);
    onHost();
  }
  void launch() override {
    log_.emplace_back("launch");
    const HeardBy device(device_);
    host_ = device.before();
    work_();
  }

 private:
  WorkLog& log_;
  Listeners device_, host_;
  std::function<void()> work_;
};

/// The same, of which a test hears when it is recorded: to look then, or to throw as a device that cannot.
class WatchedWork final : public CapturedGraph {
 public:
  explicit WatchedWork(std::function<void()> atRecord) : atRecord_(std::move(atRecord)) {}
  void record(const std::function<void()>& work, const at::Generator&) override {
    atRecord_();
    work_ = work;
  }
  void call(std::function<void()> onHost) override { onHost(); }
  void launch() override { work_(); }

 private:
  std::function<void()> atRecord_, work_;
};

}  // namespace tandem
