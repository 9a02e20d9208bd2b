#pragma once

#include <cstdint>
#include <span>
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
    tuple,
    list,
    dict,
    orderedDict,
    global,      ///< the name of a Python object, which is never looked up
    reduced,     ///< a call that is recorded but not made: items are the global and the tuple of arguments
    persistent,  ///< a reference to data outside the pickle: its one item is a tuple
  };

  Kind kind = Kind::none;
  uint32_t offset = 0;          ///< offset of the opcode that made it
  int64_t integer = 0;          ///< value of a boolean or an integer
  std::string_view text;        ///< of a text, in UTF-8; of a global, its name in PickleGlobals
  std::vector<PickleId> items;  ///< of a dict, keys and values alternate

  bool isDict() const { return kind == Kind::dict || kind == Kind::orderedDict; }
};

/// "a list", "an integer"; for messages.
const char* nameOf(PickleValue::Kind kind);

/// The content of a pickle, as data. A container may contain itself.
struct Pickle {
  std::vector<PickleValue> values;  ///< in the order of creation: items of a tuple precede it
  PickleId root = 0;
};

struct PickleLimits {
  uint64_t opcodes = 1 << 21;
  uint64_t values = 1 << 18;
  uint64_t marks = 64;  ///< open at the same time
};

/// Names of Python objects ("torch._utils._rebuild_tensor_v2") that a pickle may refer to. collections.OrderedDict is
/// always allowed.
struct PickleGlobals {
  std::span<const std::string_view> named;     ///< may occur
  std::span<const std::string_view> callable;  ///< may occur and be called
};

/// Reads the opcodes of protocol 2 that torch.save writes for a state dict. Nothing is imported, called or executed: a
/// call becomes a value.
/// Errors name opcode and offset. Refuses other opcodes and globals, calls of anything not callable, and keys that are
/// neither text nor integer. Refuses reads beyond the stack or the memo, and bytes after STOP.
Result<Pickle> parsePickle(std::span<const uint8_t> bytes, const PickleGlobals& globals,
                           const PickleLimits& limits = {});

}  // namespace tandem
