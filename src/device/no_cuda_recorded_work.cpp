#include "base/error.h"
#include "device/recorded_work.h"

namespace tandem {

std::unique_ptr<RecordedWork> makeRecordedWork(const Device&) {
  throw InternalError("recorded work: this build has no CUDA");
}

}  // namespace tandem
