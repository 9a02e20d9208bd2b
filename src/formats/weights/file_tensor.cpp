#include "formats/weights/file_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr size_t longestName = 256;

/// Copies dimension `d` and those inside it, starting at element `from` of the storage. Returns the next place to
/// write.
uint8_t* gather(const FileTensor& tensor, size_t d, int64_t from, uint8_t* to) {
  const uint64_t width = tensor.type->bytes;
  if (d == tensor.shape.size()) {
    std::memcpy(to, tensor.bytes.data() + static_cast<uint64_t>(from) * width, width);
    return to + width;
  }
  // A contiguous innermost dimension is one copy.
  const bool run = d + 1 == tensor.shape.size() && tensor.strides[d] == 1;
  if (run) {
    const uint64_t length = static_cast<uint64_t>(tensor.shape[d]) * width;
    std::memcpy(to, tensor.bytes.data() + static_cast<uint64_t>(from) * width, length);
    return to + length;
  }
  for (int64_t i = 0; i < tensor.shape[d]; ++i) to = gather(tensor, d + 1, from + i * tensor.strides[d], to);
  return to;
}

/// True if a part between slashes is empty, "." or "..".
bool leadsOut(std::string_view name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

uint64_t FileTensor::elements() const {
  uint64_t product = 1;
  for (const int64_t size : shape) product *= static_cast<uint64_t>(size);
  return product;
}

std::optional<uint64_t> byteCount(std::span<const int64_t> shape, uint64_t elementBytes) {
  uint64_t bytes = 1;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) return std::nullopt;
  }
  if (__builtin_mul_overflow(bytes, elementBytes, &bytes)) return std::nullopt;
  return bytes;
}

std::vector<int64_t> stridesUnlessRowMajor(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return {};
  int64_t expected = 1;
  bool rowMajor = true;
  for (size_t d = shape.size(); d-- > 0;) {
    rowMajor = rowMajor && (shape[d] == 1 || strides[d] == expected);
    expected *= shape[d];
  }
  return rowMajor ? std::vector<int64_t>() : std::vector<int64_t>(strides.begin(), strides.end());
}

std::span<const uint8_t> rowMajorBytes(const FileTensor& tensor, std::vector<uint8_t>& scratch) {
  if (tensor.strides.empty()) return tensor.bytes;
  scratch.resize(tensor.byteCount());
  gather(tensor, 0, 0, scratch.data());
  return scratch;
}

std::optional<std::string> nameFault(std::string_view name, Slashes slashes) {
  if (name.empty()) return "a tensor's name is empty";
  if (name.size() > longestName) {
    return concat("the name '", escaped(name), "' has ", name.size(), " bytes; the limit is ", longestName);
  }
  if (!isUtf8(name)) return concat("the name '", escaped(name), "' is not UTF-8");
  const auto forbidden = [slashes](char c) {
    return static_cast<uint8_t>(c) < 0x20 || c == 0x7F || c == '\\' || (c == '/' && slashes == Slashes::refused);
  };
  if (std::ranges::any_of(name, forbidden)) {
    return concat("the name '", escaped(name),
                  "' has a control character or a slash; names are such as 'conv1.weight'");
  }
  if (slashes == Slashes::inside && leadsOut(name)) {
    return concat("the name '", escaped(name), "' would lead out of a folder; names are such as 'conv1_conv/kernel'");
  }
  return std::nullopt;
}

std::optional<std::string> repeatedName(std::span<const FileTensor> tensors) {
  std::vector<std::string_view> names;
  for (const FileTensor& tensor : tensors) names.emplace_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  return twice == names.end() ? std::nullopt : std::optional<std::string>(*twice);
}

}  // namespace tandem
