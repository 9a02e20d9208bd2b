#include "formats/network/network_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "formats/io/json_structure.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of attributes

constexpr std::string_view formatName = "tandem-network";
constexpr int64_t formatVersion = 1;
constexpr JsonLimits structure{.deepest = 4, .mostMembers = 32};  // levels: file, nodes, a node, its inputs
constexpr int64_t largestImage = 32'768, mostClasses = 1'000'000, mostBatch = 1'000'000;
constexpr double largestWeight = 1e6;
constexpr size_t longestName = 200;  // with ".weight" it still is a valid tensor name

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw JsonRefusal{concat(parts...)};
}

std::string textOf(const Json& value) { return escaped(value.dump(-1, ' ', true, Json::error_handler_t::replace)); }

/// The members of an object. Each is read once; a member that nobody read is unknown to the format.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse(where_, " is ", textOf(object), "; it must be an object");
  }

  const Json* find(const char* name) {
    known_.emplace_back(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& at(const char* name) {
    const Json* const found = find(name);
    if (found == nullptr) refuse(where_, " lacks the member '", name, "'");
    return *found;
  }

  template <class Take>
  void forOthers(const Take& take) const {
    for (const auto& [name, value] : object_.items()) {
      if (std::ranges::find(known_, name) == known_.end()) take(name, value);
    }
  }

  void refuseOthers() const {
    forOthers([this](const std::string& name, const Json&) {
      refuse(where_, " has the unknown member '", escaped(name), "'; there are ", join(known_));
    });
  }

  std::string named(const char* name) const { return concat("member '", name, "' of ", where_); }

 private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

std::string textIn(const Json& value, const std::string& what) {
  if (!value.is_string()) refuse(what, " is ", textOf(value), "; it must be a text");
  return value.get<std::string>();
}

std::string nameIn(const Json& value, const std::string& what) {
  std::string name = textIn(value, what);
  const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  if (!printable || name.empty() || name.size() > longestName || name.find('/') != std::string::npos) {
    refuse(what, " is '", escaped(name), "'; it must be 1 to ", longestName,
           " printable ASCII characters without blanks and slashes");
  }
  return name;
}

int64_t wholeIn(const Json& value, const std::string& what, int64_t low, int64_t high) {
  const bool fits = value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  const int64_t number = fits ? value.get<int64_t>() : low - 1;
  if (number < low || number > high) {
    refuse(what, " is ", textOf(value), "; it must be a whole number from ", low, " to ", high);
  }
  return number;
}

double positiveIn(const Json& value, const std::string& what, double high) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (number > 0 && number <= high) return number;
  refuse(what, " is ", textOf(value), "; it must be a number above 0 and at most ", high);
}

const Json& listIn(const Json& value, const std::string& what, size_t most) {
  if (!value.is_array()) refuse(what, " is ", textOf(value), "; it must be a list");
  if (value.size() > most) refuse(what, " has ", value.size(), " items; there may be ", most);
  return value;
}

double numberIn(const Json& value, const std::string& what, int64_t largest) {
  if (!value.is_number()) refuse(what, " holds ", textOf(value), "; it must hold numbers");
  if (std::abs(value.get<double>()) <= static_cast<double>(largest)) return value.get<double>();
  refuse(what, " holds ", textOf(value), "; numbers are at most ", largest);
}

NetworkValue attributeIn(const Json& value, const std::string& what, const NetworkLimits& limits) {
  constexpr size_t mostNumbers = 4;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  std::vector<double> numbers;
  if (value.is_number()) return std::vector{numberIn(value, what, limits.number)};
  if (!value.is_array()) refuse(what, " is ", textOf(value), "; it must be a number, a list of numbers, true or false");
  for (const Json& item : listIn(value, what, mostNumbers)) numbers.push_back(numberIn(item, what, limits.number));
  return numbers;
}

NetworkNode nodeIn(const Json& value, size_t index, const NetworkLimits& limits) {
  Members anonymous(value, concat("node ", index));
  NetworkNode node;
  node.name = nameIn(anonymous.at("name"), concat("the name of node ", index));
  Members members(value, concat("node '", node.name, "'"));
  members.find("name");
  node.operation = textIn(members.at("op"), members.named("op"));
  for (const Json& input : listIn(members.at("inputs"), members.named("inputs"), limits.inputs)) {
    node.inputs.push_back(textIn(input, concat("an input of node '", node.name, "'")));
  }
  members.forOthers([&](const std::string& name, const Json& attribute) {
    const std::string what = concat("member '", escaped(name), "' of node '", node.name, "'");
    node.attributes.emplace_back(name, attributeIn(attribute, what, limits));
  });
  return node;
}

void readFormat(Members& file) {
  const std::string format = textIn(file.at("format"), "member 'format'");
  if (format != formatName) refuse("member 'format' is '", escaped(format), "'; a network file says ", formatName);
  const Json& version = file.at("version");
  if (version != formatVersion) refuse("version ", textOf(version), " is unknown; this program reads ", formatVersion);
}

NetworkFile fileIn(const Json& document, const NetworkLimits& limits) {
  Members file(document, "the file");
  readFormat(file);
  NetworkFile network;
  network.name = nameIn(file.at("name"), "the name of the network");
  const Json& input = listIn(file.at("input"), "member 'input'", 3);
  if (input.size() != 3) refuse("member 'input' has ", input.size(), " items; it must have channels, height, width");
  for (size_t i = 0; i < 3; ++i) network.input[i] = wholeIn(input[i], "an item of member 'input'", 1, largestImage);
  network.classes = wholeIn(file.at("classes"), "member 'classes'", 1, mostClasses);
  if (const Json* loss = file.find("loss")) network.loss = textIn(*loss, "member 'loss'");
  if (const Json* batch = file.find("batch")) network.batch = wholeIn(*batch, "member 'batch'", 1, mostBatch);
  if (const Json* rate = file.find("learning_rate")) {
    network.learningRate = positiveIn(*rate, "member 'learning_rate'", largestWeight);
  }
  for (const Json& node : listIn(file.at("nodes"), "member 'nodes'", limits.nodes)) {
    network.nodes.push_back(nodeIn(node, network.nodes.size() + 1, limits));
  }
  if (const Json* auxiliaries = file.find("auxiliaries")) {
    for (const Json& item : listIn(*auxiliaries, "member 'auxiliaries'", limits.inputs)) {
      Members members(item, "an item of 'auxiliaries'");
      network.auxiliaries.push_back(
          {textIn(members.at("value"), members.named("value")),
           positiveIn(members.at("loss_weight"), members.named("loss_weight"), largestWeight)});
      members.refuseOthers();
    }
  }
  file.refuseOthers();
  return network;
}

/// Writes whole numbers without a point, and one number without a list.
Json numberOf(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) return static_cast<int64_t>(value);
  return value;
}

Json valueOf(const NetworkValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto& numbers = std::get<std::vector<double>>(value);
  if (numbers.size() == 1) return numberOf(numbers.front());
  auto list = Json::array();
  for (const double number : numbers) list.push_back(numberOf(number));
  return list;
}

std::string lineOf(const NetworkNode& node) {
  Json line{{"name", node.name}, {"op", node.operation}, {"inputs", node.inputs}};
  for (const auto& [name, value] : node.attributes) line[name] = valueOf(value);
  return line.dump();
}

}  // namespace

Result<NetworkFile> parseNetwork(std::span<const uint8_t> bytes, const NetworkLimits& limits) {
  if (bytes.size() > limits.bytes) {
    return parseError(0, "the file has ", bytes.size(), " bytes; a network file has at most ", limits.bytes);
  }
  try {
    return fileIn(parseJson<Json>(bytes, structure), limits);
  } catch (const JsonRefusal& refusal) {
    return parseError(refusal.offset, refusal.text);
  } catch (const Json::parse_error& error) {
    return parseError(std::min<uint64_t>(error.byte, bytes.size()), "this is no JSON in UTF-8");
  } catch (const Json::exception&) {
    return parseError(0, "a number is beyond the range of numbers");
  }
}

std::string networkText(const NetworkFile& network) {
  const auto member = [](const char* name, const Json& value) { return concat("  \"", name, "\": ", value.dump()); };
  std::vector<std::string> members{
      member("format", formatName),       member("version", formatVersion),
      member("name", network.name),       member("input", network.input),
      member("classes", network.classes), member("loss", network.loss),
      member("batch", network.batch),     member("learning_rate", numberOf(network.learningRate))};
  std::vector<std::string> lines;
  for (const NetworkNode& node : network.nodes) lines.push_back(lineOf(node));
  members.push_back(concat("  \"nodes\": [\n    ", join(lines, ",\n    "), "\n  ]"));
  lines.clear();
  for (const auto& [value, weight] : network.auxiliaries) {
    lines.push_back(Json{{"value", value}, {"loss_weight", numberOf(weight)}}.dump());
  }
  if (!lines.empty()) members.push_back(concat("  \"auxiliaries\": [\n    ", join(lines, ",\n    "), "\n  ]"));
  return concat("{\n", join(members, ",\n"), "\n}\n");
}

}  // namespace tandem
