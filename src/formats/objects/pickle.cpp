#include "formats/objects/pickle.h"

#include "formats/objects/pickle_machine.h"

namespace tandem {

using Kind = PickleValue::Kind;

const char* nameOf(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a float";
    case Kind::text:
      return "a text";
    case Kind::bytes:
      return "bytes";
    case Kind::tuple:
      return "a tuple";
    case Kind::list:
      return "a list";
    case Kind::dict:
    case Kind::orderedDict:
      return "a dict";
    case Kind::global:
      return "a global";
    case Kind::reduced:
      return "an object";
    case Kind::persistent:
      return "a storage";
  }
  return "a value";
}

const PickleValue* Pickle::valueOf(const PickleValue& dict, std::string_view key) const {
  const PickleValue* found = nullptr;
  for (size_t i = 0; i < dict.items.size(); i += 2) {
    const PickleValue& name = item(dict, i);
    if (name.isString() && name.text == key) found = &item(dict, i + 1);
  }
  return found;
}

bool isPickle(std::span<const uint8_t> head) {
  return head.size() >= 2 && head[0] == PickleMachine::protocolOpcode && head[1] >= PickleMachine::oldestProtocol &&
         head[1] <= PickleMachine::newestProtocol;
}

Result<Pickle> parsePickle(std::span<const uint8_t> bytes, const PickleRules& rules, const PickleLimits& limits) {
  return PickleMachine(bytes, rules, limits).run();
}

}  // namespace tandem
