#pragma once

#include <ATen/core/Tensor.h>
#include <benchmark/benchmark.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "kernels/peak/peaks.h"
#include "shapes.h"

namespace tandem::bench {

/// What a row repeats: one call of an operation, with its tensors.
using Call = std::function<void()>;

/// What this machine can do on as many threads.
struct Peaks {
  int threads = 1;
  Peak copy, fp32, bf16;
};

/// Adds a row whose call moves at least `bytes` between memory and the processor. `prepare` makes the call's tensors
/// when the row is run.
void addByteRow(const std::string& name, const Peaks& peaks, double bytes, const std::function<Call()>& prepare);

/// Adds a row whose call does `flops`; `peak` of 0 is unknown.
void addFlopRow(const std::string& name, double peak, double flops, const std::function<Call()>& prepare);

inline constexpr std::array elementTypes{at::kFloat, at::kBFloat16};
inline const char* nameOf(at::ScalarType type) { return type == at::kFloat ? "fp32" : "bf16"; }
inline int64_t bytesOf(at::ScalarType type) { return type == at::kFloat ? 4 : 2; }

/// Normally distributed values; some repeat, so that large tensors are made quickly.
at::Tensor randomVector(int64_t count, at::ScalarType type);
at::Tensor randomImages(const Activation& shape, at::ScalarType type);  ///< NHWC

/// Rows of an optimizer for all parameterCounts: by the kernel, by ATen's operations, and in fp32 by ATen's fused one
/// if there is one, which knows no master weights. A State(count, type) holds the tensors of an update.
template <class State>
struct OptimizerRows {
  const char* name;
  double bytesPerElement;
  void (*kernel)(State&);
  void (*aten)(State&);
  void (*atenFused)(State&);  ///< null: ATen has none

  void add(const Peaks& peaks) const {
    for (const Parameters& parameters : parameterCounts) {
      for (const at::ScalarType type : elementTypes) {
        addRow(parameters, type, {"kernel", kernel}, peaks);
        addRow(parameters, type, {"aten", aten}, peaks);
        if (type == at::kFloat && atenFused != nullptr) addRow(parameters, type, {"aten_fused", atenFused}, peaks);
      }
    }
  }

 private:
  struct Update {
    const char* by;
    void (*run)(State&);
  };
  void addRow(const Parameters& parameters, at::ScalarType type, const Update& update, const Peaks& peaks) const {
    const auto prepare = [run = update.run, type, count = parameters.count]() -> Call {
      const auto state = std::make_shared<State>(count, type);
      return [=] { run(*state); };
    };
    addByteRow(concat(name, "/", parameters.name, "_", parameters.count, "/", nameOf(type), "/", update.by), peaks,
               bytesPerElement * static_cast<double>(parameters.count), prepare);
  }
};

// One per family of rows, each in a source of its own.
void addPeakRows(const Peaks& peaks);
void addNormActRows(const Peaks& peaks);
void addSgdRows(const Peaks& peaks);
void addAdamRows(const Peaks& peaks);
void addRmspropRows(const Peaks& peaks);
void addSoftmaxCrossEntropyRows(const Peaks& peaks);
void addNormalizeRows(const Peaks& peaks);
void addSumRows(const Peaks& peaks);
void addConvolutionRows(const Peaks& peaks);
void addChannelGateRows(const Peaks& peaks);
void addTransformerRows(const Peaks& peaks);

}  // namespace tandem::bench
