#include "formats/dataset/web_sample.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/utf8.h"
#include "formats/io/json_structure.h"

namespace tandem {
namespace {

Result<int64_t> numberLabel(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  int64_t label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error == std::errc() && end == text.data() + text.size() && label >= 0) return label;
  return parseError(0, "the label is '", escaped(std::string(text.substr(0, 32))), "', which must be a number from 0");
}

Result<int64_t> jsonLabel(std::span<const uint8_t> bytes) {
  try {
    const auto json = parseJson<nlohmann::json>(bytes, {.deepest = 16, .mostMembers = 1024});
    for (const char* member : {"label", "cls"}) {
      if (!json.is_object() || !json.contains(member)) continue;
      const auto& value = json.at(member);
      if (value.is_number_unsigned() && value.get<uint64_t>() <= INT32_MAX) return value.get<int64_t>();
      return parseError(0, "the label's member '", member, "' is no number from 0");
    }
    return parseError(0, "the label's JSON has neither a member 'label' nor 'cls'");
  } catch (const JsonRefusal& refusal) {
    return parseError(refusal.offset, "the label: ", refusal.text);
  } catch (const nlohmann::json::parse_error& error) {
    return parseError(error.byte, "the label is no JSON");
  } catch (const nlohmann::json::exception& error) {  // a number beyond those of the machine
    return parseError(0, "the label is no JSON that can be read: ", escaped(error.what()));
  }
}

/// What a file of a sample is, by its ending.
struct Ending {
  std::string_view text;
  WebSample::ParseLabel label;  // null: it is the image
};

constexpr Ending endings[] = {{"jpg", nullptr},     {"jpeg", nullptr},      {"png", nullptr},
                              {"cls", numberLabel}, {"class", numberLabel}, {"json", jsonLabel}};

struct Name {
  std::string_view key, ending;
};

Name nameOf(std::string_view name) {
  const size_t slash = name.rfind('/'), from = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', from);
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

bool areEqual(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::vector<WebSample> webSamples(const std::vector<TarEntry>& entries) {
  std::vector<WebSample> samples;
  std::string_view key;
  for (const TarEntry& entry : entries) {
    const Name name = nameOf(entry.name);
    const auto* const ending =
        std::ranges::find_if(endings, [&](const Ending& row) { return areEqual(row.text, name.ending); });
    if (ending == std::end(endings)) continue;
    if (samples.empty() || name.key != key) samples.emplace_back(), key = name.key;
    WebSample& sample = samples.back();
    WebSample::Part& part = ending->label == nullptr ? sample.image : sample.label;
    if (part.bytes > 0) continue;
    part = {entry.offset, entry.bytes};
    if (ending->label != nullptr) sample.parseLabel = ending->label;
  }
  return samples;
}

}  // namespace tandem
