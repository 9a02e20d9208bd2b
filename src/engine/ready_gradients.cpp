#include "engine/ready_gradients.h"

#include <utility>

namespace tandem {

ReadyGradients::ReadyGradients(const FlatBuffers& buffers, int64_t bytes)
    : buffers_(buffers), enough_(bytes), missing_(bytesOfAll()) {}

int64_t ReadyGradients::bytesOfAll() const {
  int64_t bytes = 0;
  for (int i = 0; i < buffers_.parameters(); ++i) bytes += buffers_.gradientBytes(buffers_.slice(i));
  return bytes;
}

bool ReadyGradients::note(Slice slice) {
  const int64_t bytes = buffers_.gradientBytes(slice);
  ready_.push_back(slice);
  bytes_ += bytes;
  missing_ -= bytes;
  return bytes_ >= enough_ && missing_ > 0;
}

std::vector<Slice> ReadyGradients::take() {
  bytes_ = 0;
  return std::exchange(ready_, {});
}

const std::vector<Slice>& ReadyGradients::rest() {
  if (!ready_.empty()) {
    rest_ = take();
    missing_ = bytesOfAll();
  }
  return rest_;
}

}  // namespace tandem
