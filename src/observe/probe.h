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

/// Reads some quantities of some devices. Used by one thread at a time.
class Probe {
 public:
  virtual ~Probe() = default;
  /// The same at every call.
  virtual std::vector<Quantity> quantities() const = 0;
  /// One value for each quantity; NaN: could not be read.
  virtual void read(std::span<double> values) = 0;
  /// Energy that the devices have taken so far; empty without a meter.
  virtual std::optional<double> joules() { return std::nullopt; }
};

using Probes = std::vector<std::unique_ptr<Probe>>;

}  // namespace tandem
