#pragma once

#include "config/option.h"
#include "config/table/option_rules.h"

/// What the rows of the option table have in common, and short names for them.
namespace tandem::option_rows {

using namespace rules;
using Network = Config::Network;
using Numerics = Config::Numerics;
using Placement = Config::Placement;
using Exchange = Config::Exchange;
using Input = Config::Input;
using Step = Config::Step;
using Training = Config::Training;
using Inference = Config::Inference;
using Measurement = Config::Measurement;
using Output = Config::Output;

inline constexpr std::string_view trained = "What is trained", from = "Weights", seen = "Images and predictions",
                                  on = "Devices", exchange = "Exchange of gradients", fed = "Input",
                                  step = "Training step", course = "Course of a training", measured = "Measurement",
                                  output = "Output";
inline constexpr int64_t million = 1'000'000, billion = 1'000'000'000;
inline constexpr Variation oneValue = Variation::none, measuring = Variation::measuring, axis = Variation::way,
                           rounding = Variation::rounding, results = Variation::result, work = Variation::work;

/// The row of an option that --help of these commands shows first.
constexpr Option often(unsigned commands, Option option) {
  option.mostUsedOn = commands;
  return option;
}

/// The row of an option with this rule for the bits that are trained.
constexpr Option withBits(Bits bits, Option option) {
  option.bits = bits;
  return option;
}

/// The row of an option whose values train the same bits.
constexpr Option keepingBits(Option option) { return withBits(Bits::kept, option); }

}  // namespace tandem::option_rows
