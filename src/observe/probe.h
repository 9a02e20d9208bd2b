#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem {

struct Quantity {
  std::string device, name, unit;
};

/// Reads some quantities of some devices. One thread at a time may use it.
class Probe {
 public:
  virtual ~Probe() = default;
  /// Returns the same at every call.
  virtual std::vector<Quantity> quantities() const = 0;
  /// Reads one value for each quantity. NaN: it could not be read.
  virtual void read(std::span<double> values) = 0;
  /// Energy of the devices so far. Empty without a meter.
  virtual std::optional<double> joules() { return std::nullopt; }
};

using Probes = std::vector<std::unique_ptr<Probe>>;

}  // namespace tandem
