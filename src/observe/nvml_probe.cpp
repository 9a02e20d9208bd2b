#include "observe/nvml_probe.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "measure/profile/telemetry.h"

namespace tandem {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct GpuQuantity {
  const char *name, *unit;
  std::optional<double> (Nvml::*read)(Nvml::Device) const;
};

constexpr std::array gpuQuantities{
    GpuQuantity{"use", "%", &Nvml::usePercent},
    GpuQuantity{"memory", "MiB", &Nvml::memoryMebibytes},
    GpuQuantity{"power", "W", &Nvml::watts},
    GpuQuantity{"temperature", "C", &Nvml::celsius},
    GpuQuantity{"SM clock", "MHz", &Nvml::smMegahertz},
    GpuQuantity{"memory clock", "MHz", &Nvml::memoryMegahertz},
    GpuQuantity{"programs", "", &Nvml::programs},
};

class NvmlProbe final : public Probe {
 public:
  NvmlProbe(std::unique_ptr<Nvml> nvml, std::vector<ProbedGpu> gpus) : nvml_(std::move(nvml)), gpus_(std::move(gpus)) {
    for (const ProbedGpu& gpu : gpus_) devices_.push_back(nvml_->device(gpu.pciBusId));
  }

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> found;
    for (const ProbedGpu& gpu : gpus_) {
      for (const GpuQuantity& quantity : gpuQuantities) found.push_back({gpu.device, quantity.name, quantity.unit});
      for (const Nvml::SlowReason& reason : Nvml::slowReasons()) {
        found.push_back({gpu.device, concat(slowedBy, reason.name), "0 or 1"});
      }
    }
    return found;
  }

  void read(std::span<double> values) override {
    size_t next = 0;
    for (Nvml::Device device : devices_) {
      for (const GpuQuantity& quantity : gpuQuantities) {
        const auto value = device ? ((*nvml_).*quantity.read)(device) : std::nullopt;
        values[next++] = value.value_or(unknown);
      }
      const auto reasons = device ? nvml_->slowedBy(device) : std::nullopt;
      for (const Nvml::SlowReason& reason : Nvml::slowReasons()) {
        values[next++] = !reasons ? unknown : (*reasons & reason.bit) != 0 ? 1 : 0;
      }
    }
  }

  std::optional<double> joules() override {
    double sum = 0;
    for (Nvml::Device device : devices_) {
      const auto taken = device ? nvml_->joules(device) : std::nullopt;
      if (!taken) return {};
      sum += *taken;
    }
    return sum;
  }

 private:
  std::unique_ptr<Nvml> nvml_;
  std::vector<ProbedGpu> gpus_;
  std::vector<Nvml::Device> devices_;
};

}  // namespace

std::unique_ptr<Probe> nvmlProbe(std::vector<ProbedGpu> gpus, const char* library) {
  if (gpus.empty()) return nullptr;
  auto nvml = Nvml::open(library);
  if (!nvml) return nullptr;
  return std::make_unique<NvmlProbe>(std::move(nvml), std::move(gpus));
}

}  // namespace tandem
