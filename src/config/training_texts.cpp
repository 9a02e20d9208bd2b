#include "config/training_texts.h"

#include <cmath>

#include "base/number.h"
#include "base/text.h"

namespace tandem {

std::optional<Target> parseTarget(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == text.npos) return std::nullopt;
  const auto value = numberIn<double>(text.substr(colon + 1));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return Target{std::string(text.substr(0, colon)), *value};
}

std::optional<std::vector<SizeFrom>> parseTrainSize(std::string_view text) {
  std::vector<SizeFrom> sizes;
  for (const std::string& part : split(text, "+")) {
    const size_t at = part.find('@');
    const auto pixels = numberWithin(part.substr(0, at), leastImageSize, mostImageSize);
    const auto epochs = at == part.npos ? (sizes.empty() ? std::optional(0.0) : std::nullopt)
                                        : numberIn<double>(std::string_view(part).substr(at + 1));
    if (!pixels || !epochs || !std::isfinite(*epochs)) return std::nullopt;
    if (sizes.empty() ? *epochs != 0 : *epochs <= sizes.back().epochs) return std::nullopt;
    sizes.push_back({*epochs, *pixels});
  }
  return sizes;
}

std::vector<SizeFrom> trainSizesOf(const Config::Training& training) {
  return training.trainSize.empty() ? std::vector<SizeFrom>() : parseTrainSize(training.trainSize).value();
}

std::optional<std::vector<double>> parseLrSteps(std::string_view text) {
  std::vector<double> steps;
  for (const std::string& part : split(text, "+")) {
    const auto step = numberIn<double>(part);
    const double least = steps.empty() ? 0 : steps.back();
    if (!step || !std::isfinite(*step) || *step <= least) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

}  // namespace tandem
