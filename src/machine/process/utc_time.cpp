#include "machine/process/utc_time.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace tandem {
namespace {

/// Without the "Z".
std::string textOf(std::time_t seconds) {
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

}  // namespace

std::string utcTime() { return textOf(std::time(nullptr)) + "Z"; }

std::string exactUtcTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  char fraction[8];
  std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(millis % 1000));
  return textOf(millis / 1000) + fraction;
}

}  // namespace tandem
