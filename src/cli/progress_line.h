#pragma once

#include <string>

#include "run/run_point.h"

namespace tandem {

/// The text of a progress line, cut to `width` bytes: "[2/4] replicas=2: step 12 of 40, 31.5 images/s, 12 s left".
std::string progressText(const std::string& point, const Progress& progress, size_t width);

/// One line on standard error that is rewritten in place. Shows nothing if standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine();
  void show(const std::string& point, const Progress& progress);
  void show(const std::string& text);
  void clear();

 private:
  bool onTerminal_;
};

}  // namespace tandem
