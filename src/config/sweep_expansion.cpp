#include "base/error.h"
#include "base/text.h"
#include "config/command_line.h"

namespace tandem {
namespace {

constexpr size_t mostPoints = 10'000;

void requireAtMost(const Sweep& sweep, size_t most) {
  size_t points = 1;
  for (const Axis& axis : sweep.axes) {
    points *= axis.values.size();
    if (points > most) throw UsageError(concat("the lists span more than ", most, " points; give fewer values"));
  }
}

}  // namespace

std::vector<Config> expand(const Sweep& sweep, const CatalogNames& names) {
  requireAtMost(sweep, mostPoints);
  std::vector<Config> points{sweep.base};
  for (const Axis& axis : sweep.axes) {
    std::vector<Config> longer;
    for (const Config& point : points) {
      for (const std::string& value : axis.values) setValue(longer.emplace_back(point), *axis.option, value, names);
    }
    points = std::move(longer);
  }
  if (sweep.keeps != nullptr) std::erase_if(points, [&](const Config& point) { return !sweep.keeps(point); });
  return points;
}

}  // namespace tandem
