// The loops of the peaks as rows: how far this moment is from the best of start-up.
#include "rows.h"

namespace tandem::bench {
namespace {

void addCopyRow(const char* name, const Peaks& peaks, Stores stores) {
  addByteRow(name, peaks, copyBytes(peaks.threads),
             [=, threads = peaks.threads] { return copyLoop(threads, stores).run; });
}

}  // namespace

void addPeakRows(const Peaks& peaks) {
  addCopyRow("copy/streaming_stores", peaks, Stores::streaming);
  addCopyRow("copy/ordinary_stores", peaks, Stores::ordinary);
  if (const auto loop = fmaLoop(peaks.threads)) {
    addFlopRow("fma_fp32/" + loop->name, peaks.fp32.perSecond, loop->work, [run = loop->run] { return run; });
  }
  if (const auto loop = bf16Loop(peaks.threads)) {
    addFlopRow("dot_bf16/" + loop->name, peaks.bf16.perSecond, loop->work, [run = loop->run] { return run; });
  }
}

}  // namespace tandem::bench
