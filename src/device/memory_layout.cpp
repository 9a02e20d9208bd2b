#include "device/memory_layout.h"

namespace tandem {

std::span<const LayoutEntry> layouts() {
  static constexpr LayoutEntry table[] = {
      {"nhwc", "channels last: what the convolution kernels prefer", at::MemoryFormat::ChannelsLast},
      {"nchw", "channels first", at::MemoryFormat::Contiguous},
      {"blocked", "blocks of 16 or 8 channels between convolutions: CPU, planned executor",
       at::MemoryFormat::ChannelsLast, true},
  };
  return table;
}

}  // namespace tandem
