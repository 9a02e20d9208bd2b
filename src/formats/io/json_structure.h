#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace tandem {

/// Why a JSON text was refused.
struct JsonRefusal {
  std::string text;
  uint64_t offset = 0;
};

struct JsonLimits {
  int deepest = 4;  ///< levels of lists and objects
  size_t mostMembers = 32;
};

/// Checks the structure while nlohmann's library parses, as its callback. That library keeps the last of two equal
/// members and allows any depth of nesting; this class refuses both by throwing JsonRefusal.
template <class Json>
class JsonStructure {
 public:
  explicit JsonStructure(const JsonLimits& limits) : limits_(limits) {}

  bool operator()(int, typename Json::parse_event_t event, Json& value) {
    using Event = typename Json::parse_event_t;
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::object_end || event == Event::array_end) --depth_;
    if (event == Event::object_start) keys_.emplace_back();
    if ((event == Event::object_start || event == Event::array_start) && ++depth_ > limits_.deepest) {
      throw JsonRefusal{concat("lists and objects are nested deeper than ", limits_.deepest)};
    }
    if (event != Event::key) return true;
    const auto name = value.template get<std::string>();
    if (!keys_.back().insert(name).second) {
      throw JsonRefusal{concat("member '", escaped(name), "' stands twice in one object")};
    }
    if (keys_.back().size() > limits_.mostMembers) {
      throw JsonRefusal{concat("an object has more than ", limits_.mostMembers, " members")};
    }
    return true;
  }

 private:
  const JsonLimits limits_;
  std::vector<std::unordered_set<std::string>> keys_;
  int depth_ = 0;
};

/// The value of a JSON text. Throws JsonRefusal for what JsonStructure refuses and for a byte 0, which the library
/// would take for the end; Json::parse_error and Json::exception as the library does.
template <class Json>
Json parseJson(std::span<const uint8_t> bytes, const JsonLimits& limits) {
  const auto nul = std::ranges::find(bytes, uint8_t{0});
  if (nul != bytes.end()) {
    throw JsonRefusal{"a byte 0: this is no JSON", static_cast<uint64_t>(nul - bytes.begin())};
  }
  return Json::parse(bytes.begin(), bytes.end(), JsonStructure<Json>(limits));
}

}  // namespace tandem
