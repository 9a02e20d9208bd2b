#include "config/option.h"

#include <array>
#include <tuple>

#include "config/table/exchange_options.h"
#include "config/table/image_options.h"
#include "config/table/input_options.h"
#include "config/table/network_options.h"
#include "config/table/output_options.h"
#include "config/table/step_options.h"
#include "config/table/training_options.h"

namespace tandem {
namespace {

using namespace option_rows;

/// All rows, in the order of --help.
template <size_t... sizes>
constexpr auto joined(const Option (&... parts)[sizes]) {
  std::array<Option, (sizes + ...)> all;
  size_t next = 0;
  const auto append = [&](std::span<const Option> rows) {
    for (const Option& row : rows) all[next++] = row;
  };
  (append(parts), ...);
  return all;
}

constexpr auto table = joined(networkOptions, imageOptions, deviceOptions, exchangeOptions, inputOptions, stepOptions,
                              trainingOptions, measurementOptions, outputOptions);

}  // namespace

std::span<const Option> options() { return table; }

}  // namespace tandem
