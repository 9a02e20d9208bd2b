#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "device/captured_graph.h"
#include "support/recorded_streams.h"

namespace tandem {

/// Recorded work of a stream that does not exist: does the work again at each launch, and shows its parts, between the
/// host's calls, as entries of that stream.
class StreamedWork final : public CapturedGraph {
 public:
  explicit StreamedWork(int stream) : stream_(stream) {}

  void record(const std::function<void()>& work, const at::Generator&) override { work_ = work; }
  void call(std::function<void()> onHost) override {
    endPart();
    onHost();
    CapturedStreams::isAmid = true;
  }
  void launch() override {
    CapturedStreams::isAmid = true;
    work_();
    endPart();
  }

 private:
  void endPart() const {
    CapturedStreams::isAmid = false;
    CapturedStreams::add({CapturedStreams::Call::work, stream_, -1});
  }

  int stream_;
  std::function<void()> work_;
};

/// Of all streams: after how much work of each its last entry comes, by the events that it waited for.
class StreamOrder {
 public:
  StreamOrder() : before_(CapturedStreams::streams, std::vector<int64_t>(CapturedStreams::streams, 0)) {}

  /// The next entry in order of time. Events of before are of nothing.
  void follow(const CapturedStreams::Entry& entry) {
    if (entry.stream < 0) return;
    std::vector<int64_t>& mine = before_.at(static_cast<size_t>(entry.stream));
    if (entry.call == CapturedStreams::Call::work) ++mine.at(static_cast<size_t>(entry.stream));
    if (entry.call == CapturedStreams::Call::record) events_[entry.event] = mine;
    const auto event = events_.find(entry.event);
    if (entry.call != CapturedStreams::Call::block || event == events_.end()) return;
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], event->second[i]);
  }

  /// How many pieces of work of `other` are over when the last entry of `stream` is reached.
  int64_t over(int stream, int other) const {
    return before_.at(static_cast<size_t>(stream)).at(static_cast<size_t>(other));
  }

 private:
  std::vector<std::vector<int64_t>> before_;
  std::map<int64_t, std::vector<int64_t>> events_;
};

}  // namespace tandem
