#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "support/recorded_streams.h"

namespace tandem {

/// While it lives, a copy on a stream beside is made as late as it may be: when the host waits for an event behind it.
/// Until then it has written ones in every bit, which is no number. One at a time, made and ended while no other thread
/// copies.
class LateCopies {
 public:
  /// What was asked of copy_().
  struct Copy {
    const void* to;
    bool nonBlocking;
    int stream;  ///< the one beside that was current, or -1
  };

  LateCopies() {
    state.clear();
    CapturedStreams::observer = follow;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(begin, end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~LateCopies() {
    at::removeCallback(handle_);
    CapturedStreams::observer = nullptr;
    state.clear();
  }
  LateCopies(const LateCopies&) = delete;
  LateCopies& operator=(const LateCopies&) = delete;

  static std::vector<Copy> seen() {
    const std::lock_guard lock(state.mutex);
    return state.seen;
  }

 private:
  struct Pending {
    at::Tensor to, from;
    int stream;
  };
  struct Begun : at::ObserverContext {
    Pending copy;
  };
  struct State {
    std::mutex mutex;
    std::vector<Copy> seen;
    std::map<int, std::vector<Pending>> pending;  // by stream
    struct Point {
      int stream;
      size_t copies;  // enqueued there before it, of all
    };
    std::map<int64_t, Point> points;  // by event
    std::map<int, size_t> made;       // copies, by stream
    void clear() { seen.clear(), pending.clear(), points.clear(), made.clear(); }
  };
  static inline State state;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& call) {
    if (std::string_view(call.name()) != "aten::copy_") return nullptr;
    const auto inputs = call.inputs();
    const int stream = CapturedStreams::currentBeside();
    const at::Tensor to = inputs.at(0).toTensor();
    const std::lock_guard lock(state.mutex);
    state.seen.push_back({to.const_data_ptr(), inputs.at(2).toBool(), stream});
    if (stream < 0) return nullptr;
    auto begun = std::make_unique<Begun>();
    begun->copy = {to, inputs.at(1).toTensor(), stream};
    return begun;
  }

  static void end(const at::RecordFunction&, at::ObserverContext* context) {
    if (context == nullptr) return;
    Pending& copy = static_cast<Begun*>(context)->copy;
    CapturedStreams::add({CapturedStreams::Call::work, copy.stream, -1});
    std::memset(copy.to.mutable_data_ptr(), 0xFF, copy.to.nbytes());
    const std::lock_guard lock(state.mutex);
    state.pending[copy.stream].push_back(copy);
  }

  static void follow(const CapturedStreams::Entry& entry) {
    const std::lock_guard lock(state.mutex);
    if (entry.call == CapturedStreams::Call::record) {
      state.points[entry.event] = {entry.stream, state.pending[entry.stream].size()};
    }
    const auto point = state.points.find(entry.event);
    if (entry.call != CapturedStreams::Call::hostWaits || point == state.points.end()) return;
    const auto [stream, copies] = point->second;
    for (size_t& made = state.made[stream]; made < copies; ++made) {
      const Pending& copy = state.pending[stream][made];
      std::memcpy(copy.to.mutable_data_ptr(), copy.from.const_data_ptr(), copy.to.nbytes());
    }
  }

  at::CallbackHandle handle_ = 0;
};

}  // namespace tandem
