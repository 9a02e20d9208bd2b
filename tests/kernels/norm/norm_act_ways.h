#pragma once

#include <optional>
#include <string>

#include "kernels/norm/backend.h"
#include "kernels/simulated_blocks.h"
#include "support/test_devices.h"

namespace tandem {

/// The programs that normAct() runs on a GPU, on the host.
inline const NormActPasses& simulatedNormAct() {
  static const auto passes = normActInBlocks([](const NormProgram& program, const at::Tensor&) {
    std::visit([](const auto& chosen) { simulate(chosen, simulationOrder()); }, program);
  });
  return *passes;
}

/// One way of running the kernels of normAct().
struct Way {
  std::string name;
  at::Device device;
  bool simulated;

  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                     const NormActOptions& options, NormActSaved& saved) const {
    if (!simulated) return normAct(x, residual, parameters, options, saved);
    saved.parameters = parameters;
    return normActBy(simulatedNormAct(), x.contiguous(at::MemoryFormat::ChannelsLast), residual, options, saved);
  }

  /// Into `saved`; again() then gives the output.
  void statistics(const at::Tensor& x, const ChannelStats& sums, const NormParameters& parameters,
                  const NormActOptions& options, NormActSaved& saved) const {
    if (!simulated) return normActStatistics(x, sums, parameters, options, saved);
    saved.parameters = parameters;
    simulatedNormAct().statistics(x, sums, options, saved);
  }

  at::Tensor again(const at::Tensor& x, const at::Tensor& residual, const NormActOptions& options,
                   NormActSaved& saved) const {
    if (!simulated) return normActAgain(x, residual, options, saved);
    return normActAgainBy(simulatedNormAct(), x, residual, options, saved);
  }

  NormActGradients backward(std::vector<at::Tensor> gradients, const NormActSaved& saved, bool hasResidual,
                            const NormActOptions& options) const {
    if (!simulated) return normActBackward(std::move(gradients), saved, hasResidual, options);
    return normActBackwardBy(simulatedNormAct(), std::move(gradients), saved, hasResidual, options);
  }
};

inline std::vector<Way> ways() {
  std::vector<Way> all{{"a GPU's programs on the host", at::kCPU, true}};
  for (const at::Device device : testDevices()) all.push_back({device.str(), device, false});
  return all;
}

}  // namespace tandem
