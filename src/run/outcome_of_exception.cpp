#include "run/outcome_of_exception.h"

#include <new>

#include "base/text.h"
#include "config/device_set.h"
#include "device/device.h"
#include "device/out_of_memory.h"
#include "machine/process/resource_limits.h"

namespace tandem {
namespace {

constexpr std::string_view libtorchsAllocator = "DefaultCPUAllocator: ";  // follows the source position in its text

constexpr std::string_view adviceBegins = "; lower --batch, --image-size or --replicas";
constexpr std::string_view howToTuneTheAllocator =
    " If reserved but unallocated memory is large";  // begins libtorch's advice for GPUs

std::string memoryText(int64_t bytes) { return bytesText(static_cast<double>(bytes)); }

std::string causeOf(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return "out of memory: the system refused a request";
  std::string line = firstLine(failure.what());
  line = line.substr(0, line.find(howToTuneTheAllocator));
  if (lowered(line).find("out of memory") != std::string::npos) return line;
  const size_t begin = line.find(libtorchsAllocator);
  return concat("out of memory: ", line.substr(begin == std::string::npos ? 0 : begin));
}

Outcome outOfMemory(const std::string& cause, const Config& config) {
  return {.kind = OutcomeKind::failed,
          .code = ExitCode::usage,
          .reason = cause + memoryAdvice(config),
          .outOfMemory = true};
}

}  // namespace

std::string memoryAdvice(const Config& config) {
  return concat(adviceBegins, config.step.forwardOnly ? "" : ", or try --accumulate, --recompute or --batch=max");
}

std::string withoutAdvice(const std::string& reason) { return reason.substr(0, reason.find(adviceBegins)); }

Outcome outcomeOf(const std::exception& failure, const Config& config) {
  if (!isOutOfMemory(failure)) {
    const Error known = explained(failure);
    return {OutcomeKind::failed, known.code(), known.what()};
  }
  std::string cause = causeOf(failure);
  if (isOnCpu(config)) cause += concat("; ", memoryText(Device::cpu(0, {}, 1).availableBytes()), " are left");
  return outOfMemory(cause, config);
}

Outcome overLimit(int64_t limitBytes, const Config& config) {
  return outOfMemory(concat("out of memory: the run went beyond its limit of ", memoryText(limitBytes)), config);
}

}  // namespace tandem
