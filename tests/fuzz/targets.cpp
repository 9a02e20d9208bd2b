#include "fuzz/targets.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/archive/gzip.h"
#include "formats/archive/lmdb.h"
#include "formats/archive/zip.h"
#include "formats/dataset/array_message.h"
#include "formats/dataset/cifar.h"
#include "formats/dataset/csv.h"
#include "formats/dataset/data_manifest.h"
#include "formats/dataset/idx.h"
#include "formats/dataset/label_table.h"
#include "formats/dataset/packed_shard.h"
#include "formats/dataset/tf_example.h"
#include "formats/dataset/web_sample.h"
#include "formats/image/image.h"
#include "formats/network/network_file.h"
#include "formats/objects/datapoint.h"
#include "formats/objects/msgpack.h"
#include "formats/objects/pickle.h"
#include "formats/onnx/onnx_model.h"
#include "formats/weights/pth.h"
#include "formats/weights/pth_tensors.h"
#include "formats/weights/safetensors.h"
#include "graph/network.h"
#include "graph/state.h"
#include "models/onnx/onnx_network.h"
#include "support/packed_bytes.h"
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
  const auto pickle = parsePickle(bytes, pthRules());
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

/// A network that is read has a tensor of the right shape for each parameter and statistic.
void fuzzOnnx(std::span<const uint8_t> bytes) {
  const OnnxLimits small{.bytes = 1 << 20, .unpacked = 1 << 20};
  const auto model = parseOnnx(bytes, small);
  if (!model) return requireError(model.error());
  std::vector<uint8_t> scratch;
  for (const FileTensor& tensor : model.value().initializers) {
    require(rowMajorBytes(tensor, scratch).size() == tensor.byteCount(), "the elements are all there");
  }
  try {
    const OnnxImport made = importOnnx({bytes.begin(), bytes.end()}, "model");
    const NetworkFile& file = made.network.file;
    const Graph graph = buildNetwork(file, file.classes, file.input[1]);
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const FileTensor& tensor : made.weights.tensors()) {
      require(shapes.emplace(tensor.name, tensor.shape).second, "names differ");
      require(rowMajorBytes(tensor, scratch).size() == tensor.byteCount(), "the values are all there");
    }
    const auto state = stateTensors(graph);
    require(state.size() == shapes.size(), "each tensor of the network has values");
    for (const StateTensor& tensor : state) require(shapes[tensor.name] == tensor.shape, "shapes fit");
  } catch (const DataError& error) {
    requireError({0, error.what()});
  }
}

constexpr ImageLimits limits{.pixels = 1 << 18, .edge = 1 << 10, .scans = 20};

/// Parts whose place and shrink follow from the size, so that a seed means the same for both ways of decoding.
void fuzzImageParts(std::span<const uint8_t> bytes) {
  const auto extent = partExtent(bytes, limits);
  if (!extent) return requireError(extent.error());
  const auto [height, width] = extent.value();
  if (height == 0) return;
  for (const int64_t shrink : {1, 2, 4, 8}) {
    const int64_t top = height * shrink / 9, left = width * (8 - shrink) / 9;
    const ImagePart part{top, left, height - top, (width - left + 1) / 2, shrink};
    const auto image = decodeImagePart(bytes, part);
    if (!image) return requireError(image.error());
    require(image.value().pixels.size() == static_cast<size_t>(image.value().height * image.value().width * 3),
            "every pixel has three values");
  }
}

void fuzzImage(std::span<const uint8_t> bytes) {
  fuzzImageParts(bytes);
  const auto image = decodeImage(bytes, limits);
  if (!image) return requireError(image.error());
  const auto& [height, width, pixels] = image.value();
  require(!sizeFault(height, width, limits), "the limits hold");
  require(pixels.size() == static_cast<size_t>(height * width * 3), "every pixel has three values");
}

void fuzzCsv(std::span<const uint8_t> bytes) {
  const auto csv = parseCsv(bytes, {.rowBytes = 1 << 12, .columns = 64});
  if (!csv) return requireError(csv.error());
  require(!csv.value().columns.empty() && csv.value().columns.size() <= 64, "columns are within their limit");
  int64_t line = 0;
  for (const Csv::Row& row : csv.value().rows) {
    require(row.cells.size() == csv.value().columns.size(), "each row has a cell for each column");
    require(row.line > line, "lines are counted up");
    line = row.line;
  }
}

/// The first byte says which form the others have.
void fuzzLabels(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  const auto table = bytes[0] % 2 == 0 ? parseLabelCsv(bytes.subspan(1)) : parseLabelJson(bytes.subspan(1));
  if (!table) return requireError(table.error());
  for (const LabelTable::Row& row : table.value().rows) {
    require(table.value().several || row.labels.size() <= 1, "a table of single labels has one for a file, or none");
  }
}

void fuzzPackedFile(std::span<const uint8_t> bytes) {
  const auto read = [&](uint64_t offset, std::span<uint8_t> out) {
    require(offset <= bytes.size() && out.size() <= bytes.size() - offset, "only the file is read");
    std::ranges::copy(bytes.subspan(offset, out.size()), out.begin());
  };
  const auto shard = parsePackedShard(bytes.size(), read);
  if (!shard) return requireError(shard.error());
  for (size_t i = 0; i < shard.value().size(); ++i) {
    const PackedPlace& place = shard.value().places[i];
    require(place.offset <= bytes.size() && place.bytes <= bytes.size() - place.offset, "samples lie within the file");
    require(shard.value().labelOf(i).size() == static_cast<size_t>(shard.value().facts.labelBytes), "each has a label");
  }
}

/// A file; and a description in one line and the index of another, whose checksums are right.
void fuzzPacked(std::span<const uint8_t> bytes) {
  fuzzPackedFile(bytes);
  const auto line = std::ranges::find(bytes, uint8_t{'\n'});
  const std::vector<uint8_t> index(line == bytes.end() ? line : line + 1, bytes.end());
  fuzzPackedFile(packedBytes(std::string(64, 'x'), index, std::string(bytes.begin(), line)));
}

void fuzzManifest(std::span<const uint8_t> bytes) {
  const auto manifest = parseManifest(bytes);
  if (!manifest) return requireError(manifest.error());
  const std::string text = manifestText(manifest.value());
  const auto reread = parseManifest(asBytes(text));
  require(reread.ok() && manifestText(reread.value()) == text, "what is written can be read");
}

void fuzzExample(std::span<const uint8_t> bytes) {
  const auto example = parseImageExample(bytes);
  if (!example) return requireError(example.error());
  require(example.value().image.size() <= bytes.size(), "an image is no larger than its example");
}

void fuzzTar(std::span<const uint8_t> bytes) {
  const auto read = [&](uint64_t offset, std::span<uint8_t> out) {
    require(offset <= bytes.size() && out.size() <= bytes.size() - offset, "only the archive is read");
    std::ranges::copy(bytes.subspan(offset, out.size()), out.begin());
  };
  const auto entries = indexTar(bytes.size(), read, {.entries = 1000, .nameBytes = 256});
  if (!entries) return requireError(entries.error());
  for (const TarEntry& entry : entries.value()) {
    require(entry.offset <= bytes.size() && entry.bytes <= bytes.size() - entry.offset, "files lie within the archive");
  }
  for (const WebSample& sample : webSamples(entries.value())) {
    if (sample.label.bytes == 0) continue;
    const auto label = sample.parseLabel(bytes.subspan(sample.label.offset, sample.label.bytes));
    require(!label || label.value() >= 0, "a label is a number from 0");
  }
}

void fuzzCifar(std::span<const uint8_t> bytes) {
  const auto batch = parseCifar(bytes);
  if (!batch) return requireError(batch.error());
  require(batch.value().count() > 0, "there is an image");
  for (int64_t i = 0; i < batch.value().count(); ++i) {
    require(batch.value().labels[static_cast<size_t>(i)] < batch.value().layout->classes, "a label is a class");
    require(batch.value().planes(i).size() == CifarLayout::imageBytes, "an image has all its pixels");
    require(batch.value().memory != nullptr || within(batch.value().planes(i), bytes), "pixels lie within the file");
  }
}

void fuzzLmdb(std::span<const uint8_t> bytes) {
  const auto read = [&](uint64_t offset, std::span<uint8_t> out) {
    require(offset <= bytes.size() && out.size() <= bytes.size() - offset, "only the file is read");
    std::ranges::copy(bytes.subspan(offset, out.size()), out.begin());
  };
  const auto entries = indexLmdb(bytes.size(), read, {.entries = 1000, .depth = 8});
  if (!entries) return requireError(entries.error());
  std::string_view before;
  for (const LmdbEntry& entry : entries.value()) {
    require(before < entry.key, "keys rise");
    before = entry.key;
    std::vector<uint8_t> memory;
    const auto value = readLmdbValue(entry, read, memory);
    if (!value) return requireError(value.error());
    require(value.value().size() == entry.bytes && within(value.value(), memory), "the value is all there");
  }
}

void fuzzDatapoint(std::span<const uint8_t> bytes) {
  MsgpackReader reader(bytes);
  while (reader.at() < bytes.size()) {
    const uint64_t before = reader.at();
    if (const auto fault = reader.skip()) {
      requireError(*fault);
      break;
    }
    require(reader.at() > before && reader.at() <= bytes.size(), "each value has a byte");
  }
  const auto datapoint = parseDatapoint(bytes);
  if (!datapoint) return requireError(datapoint.error());
  require(datapoint.value().label >= 0, "a label counts from 0");
  require(datapoint.value().memory != nullptr || within(datapoint.value().image, bytes),
          "an image lies within the value");
}

void fuzzIdx(std::span<const uint8_t> bytes) {
  const auto idx = parseIdx(bytes, {.count = 1 << 12, .edge = 1 << 8});
  if (!idx) return requireError(idx.error());
  require(within(idx.value().values, bytes), "values lie within the file");
  require(idx.value().fileBytes() == bytes.size(), "the file is as long as it says");
}

void fuzzGzip(std::span<const uint8_t> bytes) {
  require(gunzipHead(bytes, 64).size() <= 64, "a head is no longer than asked for");
  const auto content = gunzip(bytes, {.outputBytes = 1 << 20, .ratio = 200, .ratioFrom = 1 << 12});
  if (!content) return requireError(content.error());
  require(content.value().size() <= 1 << 20, "the limit holds");
}

void fuzzArrays(std::span<const uint8_t> bytes) {
  const auto arrays = parseArrayMessage(bytes);
  if (!arrays) return requireError(arrays.error());
  for (const MessageArray& array : arrays.value()) {
    int64_t expected = array.type->bytes;
    for (const int64_t side : array.shape) expected *= side;
    require(std::ssize(array.bytes) == expected, "an array has the bytes of its shape");
    require(within(array.bytes, bytes), "values lie within the message");
  }
  const auto written = arrayMessage(arrays.value());
  require(std::ranges::equal(written, bytes), "what is read is written alike");
}

constexpr FuzzTarget table[] = {
    {"arrays", fuzzArrays}, {"safetensors", fuzzSafetensors}, {"zip", fuzzZip},       {"pickle", fuzzPickle},
    {"pth", fuzzPth},       {"network", fuzzNetwork},         {"onnx", fuzzOnnx},     {"image", fuzzImage},
    {"csv", fuzzCsv},       {"labels", fuzzLabels},           {"cifar", fuzzCifar},   {"cifar_pickle", fuzzCifar},
    {"lmdb", fuzzLmdb},     {"datapoint", fuzzDatapoint},     {"tar", fuzzTar},       {"idx", fuzzIdx},
    {"gzip", fuzzGzip},     {"example", fuzzExample},         {"packed", fuzzPacked}, {"manifest", fuzzManifest},
};

}  // namespace

std::span<const FuzzTarget> fuzzTargets() { return table; }

}  // namespace tandem
