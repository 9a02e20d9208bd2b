#include "formats/weights/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/io/little_endian.h"
#include "formats/weights/safetensors_header.h"

namespace tandem {
namespace {

constexpr uint64_t prefixBytes = 8;
constexpr uint64_t alignment = 8;

/// The JSON text of the header.
Result<std::string_view> headerText(std::span<const uint8_t> bytes, const SafetensorsLimits& limits) {
  if (bytes.size() < prefixBytes) {
    return parseError(bytes.size(), "the file is ", bytes.size(),
                      " bytes; a safetensors file starts with the 8-byte size of its header; fetch it again");
  }
  const auto size = littleEndian<uint64_t>(bytes, 0);
  if (size > limits.headerBytes) {
    return parseError(0, "the safetensors header has ", size, " bytes; the limit is ", limits.headerBytes);
  }
  if (size > bytes.size() - prefixBytes) {
    return parseError(0, "the safetensors header has ", size, " bytes, but only ", bytes.size() - prefixBytes,
                      " follow; truncated, fetch the file again");
  }
  if (size == 0 || bytes[prefixBytes] != '{')
    return parseError(prefixBytes, "the safetensors header must start with {");
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + prefixBytes, size);
}

std::optional<std::string> refusePlace(const HeaderTensor& entry, uint64_t expected, uint64_t available) {
  const std::string name = concat("tensor '", escaped(entry.tensor.name), "'");
  if (entry.end < entry.begin) return concat(name, " ends at ", entry.end, ", before its begin ", entry.begin);
  if (entry.begin != expected) {
    return concat(name, " begins at ", entry.begin, ", but the bytes before it end at ", expected,
                  entry.begin < expected ? ": they overlap" : ": a hole");
  }
  const auto bytes = byteCount(entry.tensor.shape, entry.tensor.type->bytes);
  if (!bytes) return concat(name, ": its sizes multiply to more than 64 bits");
  if (*bytes != entry.end - entry.begin) {
    return concat(name, " has ", entry.end - entry.begin, " bytes, but its shape and type need ", *bytes);
  }
  if (entry.end > available) {
    return concat(name, " ends at ", entry.end, ", but only ", available, " bytes follow the header; truncated");
  }
  return std::nullopt;
}

/// Checks the byte ranges and sets each tensor's bytes.
Result<Safetensors> place(SafetensorsHeader header, std::span<const uint8_t> data, uint64_t dataOffset) {
  // In the order of begins, one comparison per tensor finds overlaps and holes. The end breaks ties of empty tensors.
  std::ranges::sort(header.tensors, {}, [](const HeaderTensor& entry) { return std::tie(entry.begin, entry.end); });
  Safetensors file{.tensors = {}, .metadata = std::move(header.metadata)};
  file.tensors.reserve(header.tensors.size());
  uint64_t end = 0;
  for (HeaderTensor& entry : header.tensors) {
    if (auto fault = refusePlace(entry, end, data.size())) return parseError(prefixBytes, *fault);
    entry.tensor.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    end = entry.end;
    file.tensors.push_back(std::move(entry.tensor));
  }
  if (end != data.size()) {
    return parseError(dataOffset + end, data.size() - end, " bytes follow the last tensor; the file is damaged");
  }
  if (auto name = repeatedName(file.tensors))
    return parseError(prefixBytes, "tensor '", escaped(*name), "' is there twice");
  return file;
}

}  // namespace

bool isSafetensors(std::span<const uint8_t> head) { return head.size() > prefixBytes && head[prefixBytes] == '{'; }

Result<Safetensors> parseSafetensors(std::span<const uint8_t> bytes, const SafetensorsLimits& limits) {
  const auto text = headerText(bytes, limits);
  if (!text) return text.error();
  auto header = readSafetensorsHeader(text.value(), limits);
  if (!header) return parseError(prefixBytes + header.error().offset, header.error().text);
  const uint64_t dataOffset = prefixBytes + text.value().size();
  return place(std::move(header.value()), bytes.subspan(dataOffset), dataOffset);
}

std::string safetensorsHeader(std::span<const FileTensor> tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t begin = 0;
  for (const FileTensor& tensor : tensors) {
    const uint64_t end = begin + tensor.byteCount();
    header.push_back(
        {tensor.name, {{"dtype", tensor.type->name}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}}});
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  std::string prefix;
  for (uint64_t i = 0; i < prefixBytes; ++i) prefix += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return prefix + text;
}

std::vector<FileTensor> inSafetensorsOrder(std::vector<FileTensor> tensors) {
  std::ranges::sort(tensors, [](const FileTensor& a, const FileTensor& b) {
    return std::tie(b.type->bytes, a.name) < std::tie(a.type->bytes, b.name);
  });
  return tensors;
}

void appendSafetensors(AtomicFile& file, std::vector<FileTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const auto ordered = inSafetensorsOrder(std::move(tensors));
  file.append(asBytes(safetensorsHeader(ordered, metadata)));
  std::vector<uint8_t> scratch;
  for (const FileTensor& tensor : ordered) file.append(rowMajorBytes(tensor, scratch));
}

void writeSafetensors(const std::string& path, std::vector<FileTensor> tensors,
                      const std::map<std::string, std::string>& metadata) {
  AtomicFile file(path);
  appendSafetensors(file, std::move(tensors), metadata);
  file.commit();
}

}  // namespace tandem
