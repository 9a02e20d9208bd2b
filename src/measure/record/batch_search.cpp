#include "measure/record/batch_search.h"

#include "base/text.h"

namespace tandem {
namespace {

std::string memoryText(int64_t bytes) { return bytesText(static_cast<double>(bytes)); }

std::string roomText(const BatchSearch& search) {
  if (search.limitBytes == 0) {
    return concat(memoryText(search.availableBytes - search.peakBytes), " of the GPU's ",
                  memoryText(search.availableBytes), " left");
  }
  return concat(memoryText(search.limitBytes - search.peakBytes), " below the limit of ", memoryText(search.limitBytes),
                " (", memoryText(search.availableBytes), " available, ",
                memoryText(search.availableBytes - search.limitBytes), " kept in reserve)");
}

}  // namespace

std::string textOf(const BatchSearch& search, int64_t batch) {
  const std::string larger = search.tooLarge > 0 ? concat(search.tooLarge, " did not fit: ") : "no larger one: ";
  return concat("--batch=max is ", batch, ": peak ", memoryText(search.peakBytes), ", ", roomText(search), "; ",
                search.probes, search.probes == 1 ? " probe, " : " probes, ", larger, search.stoppedBy);
}

}  // namespace tandem
