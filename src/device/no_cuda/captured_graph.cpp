#include "device/captured_graph.h"

#include "base/error.h"

namespace tandem {

std::unique_ptr<CapturedGraph> makeCapturedGraph(const Device&) {
  throw InternalError("recorded work: this build has no CUDA");
}

}  // namespace tandem
