#include "fuzz/targets.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/archive/zip.h"
#include "formats/image/image.h"
#include "formats/network/network_file.h"
#include "formats/weights/pickle.h"
#include "formats/weights/pth.h"
#include "formats/weights/pth_tensors.h"
#include "formats/weights/safetensors.h"
#include "graph/network.h"
#include "support/pickle_writer.h"

namespace tandem {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "broken promise: " << what << '\n';
  std::abort();
}

bool within(std::span<const uint8_t> part, std::span<const uint8_t> whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void requireError(const ParseError& error) {
  require(!error.text.empty() && error.text.size() < 2000, "an error has a short text");
  require(std::ranges::all_of(error.text, [](char c) { return c >= 0x20 && c < 0x7F; }), "an error is printable");
}

void requireTensors(std::span<const FileTensor> tensors, std::span<const uint8_t> bytes) {
  std::vector<uint8_t> scratch;
  for (const FileTensor& tensor : tensors) {
    require(!nameFault(tensor.name), "names are good");
    require(within(tensor.bytes, bytes), "bytes lie within the file");
    require(byteCount(tensor.shape, tensor.type->bytes).has_value(), "no size overflows");
    require(tensor.byteCount() <= bytes.size(), "no tensor is larger than the file");
    require(rowMajorBytes(tensor, scratch).size() == tensor.byteCount(), "the elements are all there");
    countNonFinite(*tensor.type, rowMajorBytes(tensor, scratch));
  }
}

void fuzzSafetensors(std::span<const uint8_t> bytes) {
  const auto file = parseSafetensors(bytes);
  if (!file) return requireError(file.error());
  requireTensors(file.value().tensors, bytes);
  const auto ordered = inSafetensorsOrder(file.value().tensors);
  std::string again = safetensorsHeader(ordered, file.value().metadata);
  for (const FileTensor& tensor : ordered) again.append(tensor.bytes.begin(), tensor.bytes.end());
  const auto copy = bytesOf(again);
  const auto reread = parseSafetensors(copy);
  require(reread.ok() && reread.value().tensors.size() == ordered.size(), "what is written can be read");
  require(reread.value().metadata == file.value().metadata, "metadata survives");
}

void fuzzZip(std::span<const uint8_t> bytes) {
  const auto entries = parseZip(bytes);
  if (!entries) return requireError(entries.error());
  for (const ZipEntry& entry : entries.value()) {
    require(within(entry.data, bytes), "an entry lies within the file");
    require(isUtf8(entry.name), "a name is UTF-8");
  }
}

void fuzzPickle(std::span<const uint8_t> bytes) {
  const auto pickle = parsePickle(bytes, pthGlobals());
  if (!pickle) return requireError(pickle.error());
  const auto& values = pickle.value().values;
  require(pickle.value().root < values.size(), "the root is a value");
  for (PickleId id = 0; id < values.size(); ++id) {
    for (const PickleId item : values[id].items) require(item < values.size(), "an item is a value");
    if (values[id].kind != PickleValue::Kind::tuple) continue;
    for (const PickleId item : values[id].items) require(item < id, "items of a tuple stand before it");
  }
}

/// The bytes are the pickle of a good archive: so checksums do not stand in the way.
void fuzzPth(std::span<const uint8_t> bytes) {
  const auto file = bytesOf(pickled::archive(std::string(bytes.begin(), bytes.end())));
  const auto pth = parsePth(file);
  if (!pth) return requireError(pth.error());
  require(!pth.value().tensors.empty(), "there is a tensor");
  requireTensors(pth.value().tensors, file);
}

void fuzzNetwork(std::span<const uint8_t> bytes) {
  const auto file = parseNetwork(bytes);
  if (!file) return requireError(file.error());
  const std::string text = networkText(file.value());
  const auto reread = parseNetwork(bytesOf(text));
  require(reread.ok() && networkText(reread.value()) == text, "what is written can be read");
  try {
    const NetworkFile network = networkOf(bytes, "network").file;
    const Graph graph = buildNetwork(network, network.classes, network.input[1]);
    require(parameterCount(graph) > 0 && parameterCount(graph) <= int64_t{1} << 38, "parameters are bounded");
    require(activationCount(graph) > 0 && activationCount(graph) <= int64_t{1} << 38, "values are bounded");
    require(forwardFlops(graph) >= 0, "FLOPs can be counted");
  } catch (const DataError& error) {
    requireError({0, error.what()});
  }
}

void fuzzImage(std::span<const uint8_t> bytes) {
  constexpr ImageLimits limits{.pixels = 1 << 18, .edge = 1 << 10, .scans = 20};
  const auto image = decodeImage(bytes, limits);
  if (!image) return requireError(image.error());
  const auto& [height, width, pixels] = image.value();
  require(!sizeFault(height, width, limits), "the limits hold");
  require(pixels.size() == static_cast<size_t>(height * width * 3), "every pixel has three values");
}

constexpr FuzzTarget table[] = {
    {"safetensors", fuzzSafetensors}, {"zip", fuzzZip},     {"pickle", fuzzPickle}, {"pth", fuzzPth},
    {"network", fuzzNetwork},         {"image", fuzzImage},
};

}  // namespace

std::span<const FuzzTarget> fuzzTargets() { return table; }

}  // namespace tandem
