#include <algorithm>

#include "formats/objects/pickle_machine.h"

namespace tandem {

namespace {

constexpr std::string_view orderedDictName = "collections.OrderedDict";
/// Python 3 writes bytes into protocol 2 as encode(text, 'latin1').
constexpr std::string_view encodeName = "_codecs.encode";

const std::string_view* nameIn(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &*found;
}

/// The bytes whose Latin-1 characters the text has; none if it has others. REQUIRES: `text` is UTF-8.
std::optional<std::string> latin1(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequenceLength(text.substr(at));
    const uint32_t code = codeOf(text.substr(at, length));
    if (code > 0xFF) return std::nullopt;
    bytes += static_cast<char>(code);
    at += length;
  }
  return bytes;
}

}  // namespace

bool PickleMachine::global() {
  std::string_view module, attribute;
  return takeLine(module) && takeLine(attribute) && pushGlobal(module, attribute);
}

bool PickleMachine::stackGlobal() {
  if (!needs(2)) return false;
  const PickleValue &attribute = pickle_.values[pop()], &module = pickle_.values[pop()];
  const bool formed = attribute.kind == Kind::text && module.kind == Kind::text;
  if (!formed || attribute.text.size() > longestName || module.text.size() > longestName) {
    return refuse(name_, " without two names of at most ", longestName, " bytes");
  }
  return pushGlobal(module.text, attribute.text);
}

bool PickleMachine::pushGlobal(std::string_view module, std::string_view attribute) {
  const std::string name = concat(module, '.', attribute);
  const std::string_view* allowed = name == orderedDictName ? &orderedDictName : nullptr;
  for (const auto names : {rules_.named, rules_.callable, rules_.buildable}) {
    if (allowed == nullptr) allowed = nameIn(names, name);
  }
  if (allowed == nullptr) {
    return refuse(name_, " names '", escaped(name), "', which ", rules_.content,
                  " does not need and which is never loaded; ", rules_.advice);
  }
  return push({.kind = Kind::global, .text = *allowed, .items = {}});
}

bool PickleMachine::reduce() {
  if (!needs(2)) return false;
  const PickleId arguments = pop();
  const PickleId function = pop();
  const PickleValue& called = pickle_.values[function];
  if (called.kind != Kind::global) return refuse("REDUCE calls ", nameOf(called.kind));
  if (pickle_.values[arguments].kind != Kind::tuple) return refuse("REDUCE without a tuple of arguments");
  // These are the only calls whose result is known here. Other calls are recorded for the caller.
  if (called.text == orderedDictName) {
    if (!pickle_.values[arguments].items.empty()) return refuse("REDUCE: OrderedDict with arguments");
    return pushKind(Kind::orderedDict);
  }
  if (called.text == encodeName) return decode(pickle_.values[arguments]);
  if (nameIn(rules_.callable, called.text) == nullptr && nameIn(rules_.buildable, called.text) == nullptr) {
    return refuse("REDUCE calls '", called.text, "', which is never called");
  }
  return push({.kind = Kind::reduced, .text = {}, .items = {function, arguments}});
}

bool PickleMachine::decode(const PickleValue& arguments) {
  const bool formed = arguments.items.size() == 2 && pickle_.item(arguments, 0).kind == Kind::text &&
                      pickle_.item(arguments, 1).kind == Kind::text && pickle_.item(arguments, 1).text == "latin1";
  if (!formed) return refuse("REDUCE: ", encodeName, " without (text, 'latin1')");
  const std::string_view text = pickle_.item(arguments, 0).text;
  // A text in the memo could be decoded any number of times.
  decodedFrom_ += text.size();
  if (decodedFrom_ > bytes_.size()) return refuse("REDUCE: more texts are decoded than the pickle has");
  auto bytes = latin1(text);
  if (!bytes) return refuse("REDUCE: ", encodeName, " of a text that is not Latin-1");
  if (pickle_.decoded == nullptr) pickle_.decoded = std::make_shared<std::deque<std::string>>();
  return push({.kind = Kind::bytes, .text = pickle_.decoded->emplace_back(std::move(*bytes)), .items = {}});
}

/// The state of an OrderedDict is torch's _metadata. It is dropped.
bool PickleMachine::build() {
  if (!needs(2)) return false;
  const PickleId state = pop();
  PickleValue& object = top();
  const Kind kind = pickle_.values[state].kind;
  if (object.kind == Kind::orderedDict && pickle_.values[state].isDict()) return true;
  const bool takesState = object.kind == Kind::reduced && object.items.size() == 2 && kind == Kind::tuple &&
                          nameIn(rules_.buildable, pickle_.item(object, 0).text) != nullptr;
  if (!takesState) {
    return refuse("BUILD gives ", nameOf(object.kind), " ", nameOf(kind), " for a state; ",
                  rules_.buildable.empty() ? "only an OrderedDict has one" : "only an array and its type have one");
  }
  object.items.push_back(state);
  return true;
}

bool PickleMachine::persistent() {
  if (!needs(1)) return false;
  const PickleId id = pop();
  if (pickle_.values[id].kind != Kind::tuple) return refuse("BINPERSID with ", nameOf(pickle_.values[id].kind));
  return push({.kind = Kind::persistent, .text = {}, .items = {id}});
}

}  // namespace tandem
