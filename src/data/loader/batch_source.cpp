#include "data/loader/batch_source.h"

#include "data/loader/batch_stager.h"

namespace tandem {

std::span<const SourceEntry> sources() {
  static constexpr SourceEntry table[] = {
      {"device", "one batch, made once, already on the device: no input cost", false, false, makeDeviceSource,
       /*repeats=*/true},
      {"queue", "made by producer threads ahead of the step, staged to the device", true, true, makeQueueSource},
      {"host", "made on the CPU in every step and copied to the device", true, false, makeHostSource},
  };
  return table;
}

}  // namespace tandem
