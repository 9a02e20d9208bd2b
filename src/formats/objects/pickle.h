#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// Index of a value in Pickle::values.
using PickleId = uint32_t;

struct PickleValue {
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    bytes,
    tuple,
    list,
    dict,
    orderedDict,
    global,      ///< the name of a Python object, which is never looked up
    reduced,     ///< a call that is recorded but not made: items are the global, the tuple of arguments, and then the
                 ///< state that BUILD gave it, if there is one
    persistent,  ///< a reference to data outside the pickle: its one item is a tuple
  };

  Kind kind = Kind::none;
  uint32_t offset = 0;          ///< offset of the opcode that made it
  int64_t integer = 0;          ///< value of a boolean or an integer
  std::string_view text;        ///< of a text, in UTF-8; of bytes, these; of a global, its name in PickleRules
  std::vector<PickleId> items;  ///< of a dict, keys and values alternate

  bool isDict() const { return kind == Kind::dict || kind == Kind::orderedDict; }
  /// A string of Python 2 is bytes, one of Python 3 a text.
  bool isString() const { return kind == Kind::text || kind == Kind::bytes; }
};

/// "a list", "an integer"; for messages.
const char* nameOf(PickleValue::Kind kind);

/// The content of a pickle, as data. A container may contain itself.
struct Pickle {
  std::vector<PickleValue> values;  ///< in the order of creation: items of a tuple precede it
  PickleId root = 0;
  /// Bytes that stand in the pickle as a text of Latin-1; values refer to them.
  std::shared_ptr<std::deque<std::string>> decoded;

  const PickleValue& item(const PickleValue& value, size_t i) const { return values[value.items[i]]; }
  /// Value of the last entry with this string for a key, as in Python; null without one. REQUIRES: `dict` is one.
  const PickleValue* valueOf(const PickleValue& dict, std::string_view key) const;
};

struct PickleLimits {
  uint64_t opcodes = 1 << 21;
  uint64_t values = 1 << 18;
  uint64_t marks = 64;  ///< open at the same time
};

/// Sets of opcodes.
enum class PickleOpcodes : uint8_t {
  ofStateDict = 1,  ///< of protocol 2, as torch.save writes them for a state dict
  ofArrays = 2,     ///< of protocols 2 to 5, as Python 2 and 3 write lists and dicts of strings, bytes and NumPy arrays
};

/// What a pickle may hold. Python objects have names such as "torch._utils._rebuild_tensor_v2"; of them
/// collections.OrderedDict is always allowed.
struct PickleRules {
  std::string_view content;  ///< what it is, for messages: "a state dict"
  std::string_view advice;   ///< how to get one that may be read
  PickleOpcodes opcodes;
  uint8_t newestProtocol;  ///< the oldest is 2
  std::span<const std::string_view> named;
  std::span<const std::string_view> callable;
  std::span<const std::string_view> buildable;  ///< may be called, and BUILD may give the result a state
};

/// True if the bytes start like a pickle of protocol 2 or later.
bool isPickle(std::span<const uint8_t> head);

/// Reads a pickle. Nothing is imported, called or executed: a call becomes a value. The values refer to `bytes`, and to
/// the names in `rules`.
/// Errors name opcode and offset. Refuses opcodes and globals that `rules` do not have, calls of anything not callable,
/// and keys that are neither string nor integer. Refuses reads beyond the stack or the memo, and bytes after STOP.
Result<Pickle> parsePickle(std::span<const uint8_t> bytes, const PickleRules& rules, const PickleLimits& limits = {});

}  // namespace tandem
