#pragma once

#include <cstdint>
#include <vector>

#include "device/flat_buffers.h"

namespace tandem {

/// Finished gradients, put off until there are enough of them to be told together: where each telling is a call of the
/// host amid recorded work, and cuts it. For one thread; `buffers` must outlive it.
class ReadyGradients {
 public:
  /// Enough are `bytes` of them, as exchanged.
  ReadyGradients(const FlatBuffers& buffers, int64_t bytes);

  /// Notes a gradient. True when the noted ones are enough and more are to come in this step.
  bool note(Slice slice);
  /// What was noted since the last take().
  std::vector<Slice> take();
  /// What was noted after the step's last take(). It stays so until a step has noted gradients again: a step that is
  /// launched has the same.
  const std::vector<Slice>& rest();

 private:
  int64_t bytesOfAll() const;

  const FlatBuffers& buffers_;
  int64_t enough_;
  int64_t bytes_ = 0;    // of ready_
  int64_t missing_ = 0;  // bytes that are to come in this step
  std::vector<Slice> ready_, rest_;
};

}  // namespace tandem
