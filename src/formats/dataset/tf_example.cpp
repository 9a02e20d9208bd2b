#include "formats/dataset/tf_example.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <array>
#include <string_view>

#include "base/utf8.h"
#include "formats/dataset/example.pb.h"
#include "formats/io/little_endian.h"
#include "formats/log/tfrecord.h"

namespace tandem {
namespace {

constexpr uint64_t headBytes = 12, tailBytes = 4, largestRecord = uint64_t{1} << 30;

/// Names of features that belong together.
struct ExampleForm {
  const char *image, *label;
  int64_t firstLabel;
};

constexpr ExampleForm ofImageNet{"image/encoded", "image/class/label", 1};
constexpr ExampleForm forms[] = {ofImageNet, {"image", "label", 0}};

std::string_view textOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using FeatureMap = google::protobuf::Map<std::string, example::Feature>;

/// The feature, if it is there and has one value.
const example::Feature* featureOf(const FeatureMap& features, const char* name) {
  const auto found = features.find(name);
  if (found == features.end()) return nullptr;
  const bool isOne = found->second.bytes_list().value_size() == 1 || found->second.int64_list().value_size() == 1;
  return isOne ? &found->second : nullptr;
}

std::string namesIn(const FeatureMap& features) {
  std::string names;
  for (const auto& [name, feature] : features) names += concat(names.empty() ? "" : ", ", name);
  return escaped(names);
}

}  // namespace

std::vector<RecordPlace> indexTfRecords(const ReadableFile& file) {
  std::vector<RecordPlace> places;
  const auto refuse = [&](uint64_t at, const auto&... texts) {
    throw DataError(concat(file.path(), ": record ", places.size(), " (from 0) at byte ", at, ": ", texts...));
  };
  for (uint64_t at = 0; at < file.size();) {
    std::array<uint8_t, headBytes> head{};
    if (file.size() - at < headBytes) refuse(at, "the file ends within its length; it is truncated");
    file.read(at, head);
    const auto bytes = littleEndian<uint64_t>(head, 0);
    if (littleEndian<uint32_t>(head, 8) != maskedCrc32c(textOf(std::span(head).first(8)))) {
      refuse(at, "the checksum of its length differs; the file is damaged or no TFRecord file");
    }
    const uint64_t rest = file.size() - at - headBytes;
    if (bytes > largestRecord) refuse(at, "it is ", bytes, " bytes long; the limit is ", largestRecord);
    if (rest < tailBytes || bytes > rest - tailBytes) {
      refuse(at, "it is ", bytes, " bytes long, ", rest, " are left; the file is truncated");
    }
    places.push_back({at + headBytes, bytes});
    at += headBytes + bytes + tailBytes;
  }
  return places;
}

std::vector<uint8_t> readTfRecord(const ReadableFile& file, const RecordPlace& place) {
  std::vector<uint8_t> bytes(place.bytes + tailBytes);
  file.read(place.offset, bytes);
  const auto sum = littleEndian<uint32_t>(bytes, place.bytes);
  bytes.resize(place.bytes);
  if (sum == maskedCrc32c(textOf(bytes))) return bytes;
  throw DataError(concat(file.path(), ": byte ", place.offset, ": the checksum of this record differs; it is damaged"));
}

Result<ImageExample> parseImageExample(std::span<const uint8_t> bytes) {
  example::Example parsed;
  if (!parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return parseError(0, "it is no tf.train.Example");
  }
  auto& features = *parsed.mutable_features()->mutable_feature();
  for (const ExampleForm& form : forms) {
    const example::Feature *image = featureOf(features, form.image), *label = featureOf(features, form.label);
    if (image == nullptr || label == nullptr) continue;
    if (!image->has_bytes_list()) return parseError(0, "its feature '", form.image, "' holds no bytes");
    if (!label->has_int64_list()) return parseError(0, "its feature '", form.label, "' holds no whole number");
    const int64_t number = label->int64_list().value(0);
    if (number < form.firstLabel) {
      return parseError(0, "its feature '", form.label, "' is ", number, "; it counts from ", form.firstLabel);
    }
    ImageExample found;
    found.label = number - form.firstLabel;
    found.image = std::move(*features[form.image].mutable_bytes_list()->mutable_value(0));
    return found;
  }
  return parseError(0,
                    "it has neither image/encoded with image/class/label nor image with label, one value each; it has ",
                    features.empty() ? "no feature" : namesIn(features));
}

std::string imageExampleOf(const NewExample& example) {
  example::Example message;
  auto& features = *message.mutable_features()->mutable_feature();
  const auto addBytes = [&](const char* name, std::string_view bytes) {
    features[std::string(name)].mutable_bytes_list()->add_value(bytes.data(), bytes.size());
  };
  addBytes(ofImageNet.image, textOf(example.image));
  addBytes("image/format", example.format);
  if (!example.className.empty()) addBytes("image/class/text", example.className);
  features[std::string(ofImageNet.label)].mutable_int64_list()->add_value(example.label + ofImageNet.firstLabel);
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);  // a map has no order of its own
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace tandem
