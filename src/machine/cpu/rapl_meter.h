#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

/// Energy of the processor packages by RAPL, from Linux's powercap files. One thread at a time may use it.
class RaplMeter {
 public:
  /// `root` is prepended to /sys (tests).
  explicit RaplMeter(const std::string& root = "");

  /// Joules of all packages since construction. Empty if a package cannot be read: the files exist on bare metal only,
  /// and most systems let only root read them. REQUIRES: called more often than a counter wraps (minutes).
  std::optional<double> joules();

 private:
  struct Package {
    std::string file;
    int64_t range = 0, last = 0;  ///< microjoules
  };
  std::vector<Package> packages_;
  bool readable_ = false;
  int64_t taken_ = 0;  ///< microjoules
};

}  // namespace tandem
