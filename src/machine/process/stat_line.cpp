#include "machine/process/stat_line.h"

#include <unistd.h>

#include <sstream>

namespace tandem {

std::optional<Nanos> timeInStat(const std::string& line, int field) {
  const size_t close = line.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(close + 1));
  std::string skipped;
  for (int i = 0; i < field; ++i) fields >> skipped;
  int64_t ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;
  return Nanos(1'000'000'000 / sysconf(_SC_CLK_TCK)) * ticks;
}

}  // namespace tandem
