#include "kernels/peak/peaks.h"

namespace tandem {

Peak copyPeak(int) { return {}; }
Peak fp32Peak(int) { return {}; }
Peak bf16Peak(int) { return {}; }

}  // namespace tandem
