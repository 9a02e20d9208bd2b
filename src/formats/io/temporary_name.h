#pragma once

#include <string>

namespace tandem {

/// A name for a file that is not whole yet, in the folder of the file that it will become. Any thread may have some.
class TemporaryName {
 public:
  /// Chooses a random name that is short: ".tandem-" and 16 digits. `folder`: a descriptor that outlives this.
  explicit TemporaryName(int folder);
  /// Removes the file of this name, if there is one.
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const char* text() const { return name_.c_str(); }

 private:
  const int folder_;
  const std::string name_;
  int slot_;
};

/// Removes the files of all temporary names, for a process that ends at once. Async-signal-safe. Of more than 64 names
/// at a time some are not known here.
void removeTemporaryFiles() noexcept;

}  // namespace tandem
