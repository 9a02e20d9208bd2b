#include "device/layout.h"

namespace tandem {

std::span<const LayoutEntry> layouts() {
  static constexpr LayoutEntry table[] = {
      {"nhwc", "channels last: what the convolution kernels prefer", at::MemoryFormat::ChannelsLast},
      {"nchw", "channels first", at::MemoryFormat::Contiguous},
  };
  return table;
}

}  // namespace tandem
