#include "data/transform/transform_chain.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::string_view between = "+", beforeValue = ":";

std::string ruleOf(const TransformParameter& parameter) {
  return concat(parameter.whole ? "a whole number from " : "a number from ", parameter.least, " to ", parameter.most);
}

/// What a transform takes beside numbers.
std::string wordsRule(std::span<const TransformParameter> parameters, std::string_view before) {
  std::string rule;
  for (const TransformParameter& parameter : parameters) {
    if (parameter.words != nullptr) rule += concat(before, parameter.name, ": ", join(parameter.words(), ", "));
  }
  return rule;
}

double valueOf(std::string_view text, const TransformParameter& parameter, const TransformEntry& entry,
               const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && end == text.data() + text.size();
  const bool fits = read && value >= parameter.least && value <= parameter.most;
  if (fits && (!parameter.whole || value == std::floor(value))) return value;
  throw UsageError(concat(where, ": its ", parameter.name, " is '", text, "', which must be ", ruleOf(parameter),
                          wordsRule(entry.parameters, ", or its ")));
}

/// The parameter that has this word, and which of its words it is.
std::optional<std::pair<size_t, double>> wordOf(const std::string& text,
                                                std::span<const TransformParameter> parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].words == nullptr) continue;
    const std::vector<std::string> words = parameters[i].words();
    const auto found = std::ranges::find(words, text);
    if (found != words.end()) return std::pair(i, static_cast<double>(found - words.begin()));
  }
  return std::nullopt;
}

TransformChain::Step stepOf(const std::string& text, std::string_view option) {
  const std::vector<std::string> words = split(text, beforeValue);
  const TransformEntry& entry = find(transforms(), words.front(), option);
  const std::string where = concat(option, ": ", text);
  const auto numbers = static_cast<size_t>(
      std::ranges::count_if(entry.parameters, [](const auto& parameter) { return parameter.words == nullptr; }));
  TransformChain::Step step{&entry, {}};
  for (size_t i = 0; i < entry.parameters.size(); ++i) step.values.at(i) = entry.parameters[i].fallback;
  size_t given = 0;
  std::vector<bool> named(entry.parameters.size());
  for (size_t i = 1; i < words.size(); ++i) {
    if (const auto word = wordOf(words[i], entry.parameters); word && !named[word->first]) {
      step.values.at(word->first) = word->second, named[word->first] = true;
      continue;
    }
    if (given == numbers) {
      throw UsageError(concat(where, ": ", entry.name, " takes ",
                              numbers == 0 ? "no value" : concat("at most ", numbers),
                              numbers == 0   ? ""
                              : numbers == 1 ? " value"
                                             : " values",
                              wordsRule(entry.parameters, ", and its ")));
    }
    step.values.at(given) = valueOf(words[i], entry.parameters[given], entry, where);
    ++given;
  }
  return step;
}

std::string sizeText(const ImageSize& size) { return concat(size.width, 'x', size.height); }

}  // namespace

TransformChain TransformChain::parse(std::string_view text, std::string_view option) {
  TransformChain chain;
  for (const std::string& part : split(text, between)) chain.steps_.push_back(stepOf(part, option));
  return chain;
}

void TransformChain::apply(WorkingImage& image, const TransformContext& context) const {
  for (const Step& step : steps_) step.entry->apply(image, step.values, context);
}

std::string TransformChain::fault(const ImageSize& images, const ImageSize& input) const {
  ImageSize size = images;                                  // 0: not known
  int64_t shorter = std::min(images.height, images.width);  // of the sides; 0: not known
  for (const auto& [entry, values] : steps_) {
    const ImageSize side = sideOf(values, input);
    const bool fits = size.height > 0 && size.height <= side.height && size.width <= side.width;
    if (entry->size == TransformedSize::padded && !fits) {
      const std::string own = size.height == 0 ? "of any size" : concat(sizeText(size), " pixels");
      return concat("images are ", own, " but ", entry->name, " takes none larger than ", sizeText(side));
    }
    const int64_t longest = std::max(side.height, side.width);
    if (entry->size == TransformedSize::cropped && shorter > 0 &&
        static_cast<double>(shorter) + 2 * values[1] < static_cast<double>(longest)) {
      return concat("images have a side of ", shorter, " pixels but ", entry->name, " takes ", sizeText(side));
    }
    if (entry->size == TransformedSize::scaled) {
      shorter = scaledSize({1, 1}, values, input).height;
      if (size.height > 0) size = scaledSize(size, values, input);
    } else if (entry->size == TransformedSize::grown) {
      const auto both = 2 * static_cast<int64_t>(values[0]);
      if (size.height > 0) size.height += both, size.width += both;
      if (shorter > 0) shorter += both;
    } else if (entry->size != TransformedSize::same) {
      size = side, shorter = std::min(side.height, side.width);
    }
  }
  if (size.height == input.height && size.width == input.width) return {};
  return concat("images come out ", size.height == 0 ? "in sizes of their own" : concat("as ", sizeText(size)),
                " but the network's input is ", sizeText(input));
}

}  // namespace tandem
