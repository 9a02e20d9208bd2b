#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/zip_writer.h"

/// Opcodes of pickles as torch.save writes them; each function gives the text that leaves one value on the stack.
namespace tandem::pickled {

inline std::string word(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

inline std::string whole(const std::string& value) { return concat("\x80\x02", value, "."); }
inline std::string text(const std::string& value) { return concat("X", word(value.size(), 4), value); }
inline std::string integer(int64_t value) { return concat("\x8A\x08", word(static_cast<uint64_t>(value), 8)); }
inline std::string global(const std::string& module, const std::string& name) {
  return concat("c", module, "\n", name, "\n");
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const auto& item : items) out += item;
  return out + "t";
}
inline std::string sizes(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string call(const std::string& function, const std::string& arguments) {
  return function + arguments + "R";
}
inline std::string orderedDict() { return call(global("collections", "OrderedDict"), ")"); }
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "u";
}
inline const std::string yes = "\x88", no = "\x89", none = "N";

struct Stored {
  std::string key = "0", type = "FloatStorage";
  int64_t count = 6;
};
inline std::string storage(const Stored& stored = {}) {
  return tuple({text("storage"), global("torch", stored.type), text(stored.key), text("cpu"), integer(stored.count)}) +
         "Q";
}

struct Placed {
  std::string storage = pickled::storage();
  int64_t offset = 0;
  std::vector<int64_t> shape{2, 3}, strides{3, 1};
  std::string gradient = no;
};
inline std::string tensor(const Placed& placed = {}) {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              tuple({placed.storage, integer(placed.offset), sizes(placed.shape), sizes(placed.strides),
                     placed.gradient, orderedDict()}));
}

/// A file of torch.save with this pickle, and six floats 0, 1, ... as storage "0".
inline std::string archive(const std::string& pickle, std::vector<ZipPart> more = {}) {
  std::string values;
  for (const char* word : {"\0\0\0\0", "\0\0\x80\x3F", "\0\0\0\x40", "\0\0\x40\x40", "\0\0\x80\x40", "\0\0\xA0\x40"}) {
    values += std::string(word, 4);
  }
  std::vector<ZipPart> parts{{.name = "a/data.pkl", .data = pickle},
                             {.name = "a/byteorder", .data = "little"},
                             {.name = "a/data/0", .data = values},
                             {.name = "a/version", .data = "3\n"}};
  for (auto& part : more) parts.push_back(std::move(part));
  return zipOf(parts);
}

}  // namespace tandem::pickled
