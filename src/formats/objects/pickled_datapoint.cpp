#include <utility>

#include "base/text.h"
#include "formats/objects/datapoint.h"

namespace tandem {
namespace {

using namespace std::string_view_literals;

// Opcodes of pickle (Python's Lib/pickletools.py). Protocol 3, which every Python 3 reads.
constexpr std::string_view protocol = "\x80\x03"sv, emptyList = "]"sv, mark = "("sv, appends = "e"sv, stop = "."sv;
constexpr char integer = 'J', bytesOfLength = 'B';

/// numpy.ndarray before its state, which is (1, (SIDE,), dtype, False, BYTES). The function's module has this name in
/// NumPy 2 too, for such files.
constexpr std::string_view beforeSide =
    "cnumpy.core.multiarray\n_reconstruct\n"
    "cnumpy\nndarray\n"
    "K\0\x85"
    "C\1b"
    "\x87R"
    "(K\1"sv;
/// dtype('u1', False, True) with the state (3, '|', None, None, None, -1, -1, 0), and not in Fortran's order.
constexpr std::string_view afterSide =
    "\x85"
    "cnumpy\ndtype\n"
    "X\2\0\0\0u1\x89\x88\x87R"
    "(K\3X\1\0\0\0|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
    "\x89"sv;
constexpr std::string_view afterBytes = "tb"sv;

class PickleText {
 public:
  PickleText() { add(protocol); }

  void add(std::string_view opcodes) { bytes_.insert(bytes_.end(), opcodes.begin(), opcodes.end()); }
  void addBytes(std::span<const uint8_t> bytes) {
    add(bytesOfLength, static_cast<uint32_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void add(char opcode, uint32_t number) {
    bytes_.push_back(static_cast<uint8_t>(opcode));
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<uint8_t>(number >> shift));
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::vector<uint8_t> pickledDatapoint(std::span<const uint8_t> image, int32_t label) {
  PickleText pickle;
  pickle.add(concat(emptyList, mark, beforeSide));
  pickle.add(integer, static_cast<uint32_t>(image.size()));
  pickle.add(afterSide);
  pickle.addBytes(image);
  pickle.add(afterBytes);
  pickle.add(integer, static_cast<uint32_t>(label));
  pickle.add(concat(appends, stop));
  return pickle.take();
}

std::vector<uint8_t> pickledKeys(std::span<const std::string> keys) {
  PickleText pickle;
  pickle.add(concat(emptyList, mark));
  for (const std::string& key : keys) pickle.addBytes(asBytes(key));
  pickle.add(concat(appends, stop));
  return pickle.take();
}

}  // namespace tandem
