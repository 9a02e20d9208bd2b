#include "formats/dataset/packed_shard.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/io/json_structure.h"
#include "formats/io/little_endian.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr std::string_view beginning = "tandem-packed ", magic = "tandem-packed 1\n";
constexpr uint64_t placeBytes = 16, offsetsBytes = 24, endBytes = offsetsBytes + 4 + magic.size();
constexpr JsonLimits structure{.deepest = 2, .mostMembers = 64};
constexpr int64_t mostClasses = int64_t{1} << 31, mostSamples = int64_t{1} << 40;

std::string_view textOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Where the parts begin, and their checksums.
struct Parts {
  uint64_t index = 0, description = 0, end = 0;
  uint32_t crcOfIndex = 0, crcOfDescription = 0;
};

class Parser {
 public:
  Parser(uint64_t size, const ReadAt& read, const PackedLimits& limits) : size_(size), read_(read), limits_(limits) {}

  Result<PackedShard> parse() {
    std::optional<ParseError> fault = takeEnds();
    if (!fault) fault = takeDescription();
    if (!fault) fault = takeIndex();
    if (fault) return std::move(*fault);
    return std::move(shard_);
  }

 private:
  std::optional<ParseError> takeEnds() {
    const uint64_t least = magic.size() + endBytes;
    if (size_ < least) {
      return parseError(size_, "the file has ", size_, " bytes, a packed shard at least ", least, "; fetch it again");
    }
    std::vector<uint8_t> first(magic.size()), last(endBytes);
    read_(0, first);
    if (textOf(first) != magic) return otherBeginning(textOf(first));
    const uint64_t at = size_ - endBytes;
    read_(at, last);
    if (textOf(last).substr(offsetsBytes + 4) != magic) {
      return parseError(at, "the file does not end as a packed shard; it is truncated, fetch it again");
    }
    if (crc32cOf(std::span(last).first(offsetsBytes)) != littleEndian<uint32_t>(last, offsetsBytes)) {
      return parseError(at, "the checksum of the offsets differs; the file is damaged");
    }
    parts_ = {littleEndian<uint64_t>(last, 0), littleEndian<uint64_t>(last, 8), at, littleEndian<uint32_t>(last, 16),
              littleEndian<uint32_t>(last, 20)};
    const bool inOrder =
        magic.size() <= parts_.index && parts_.index <= parts_.description && parts_.description <= parts_.end;
    if (inOrder) return std::nullopt;
    return parseError(at, "index and description begin at ", parts_.index, " and ", parts_.description,
                      "; both must lie in order between ", magic.size(), " and ", parts_.end);
  }

  static std::optional<ParseError> otherBeginning(std::string_view first) {
    if (!first.starts_with(beginning)) return parseError(0, "the file does not begin as a packed shard");
    return parseError(beginning.size(), "its version is '", escaped(first.substr(beginning.size())),
                      "'; version 1 is read, so convert the images anew, or use a newer tandem");
  }

  std::optional<ParseError> takeDescription() {
    const uint64_t bytes = parts_.end - parts_.description;
    if (bytes > limits_.descriptionBytes) {
      return parseError(parts_.description, "the description has ", bytes, " bytes; the limit is ",
                        limits_.descriptionBytes);
    }
    std::vector<uint8_t> text(bytes);
    read_(parts_.description, text);
    if (crc32cOf(text) != parts_.crcOfDescription) {
      return parseError(parts_.description, "the checksum of the description differs; the file is damaged");
    }
    try {
      return takeMembers(parseJson<Json>(text, structure));
    } catch (const JsonRefusal& refusal) {
      return parseError(parts_.description + refusal.offset, "the description: ", refusal.text);
    } catch (const Json::exception&) {
      return fault("is no JSON in which each member has its form");
    }
  }

  /// Throws Json::exception for a member that is missing or of another type.
  std::optional<ParseError> takeMembers(const Json& json) {
    PackedFacts& facts = shard_.facts;
    facts.labels = json.at("labels").get<std::string>();
    std::optional<ParseError> wrong =
        number(json.at("label_bytes"), "label_bytes", {1, limits_.labelBytes}, facts.labelBytes);
    if (!wrong) wrong = number(json.at("classes"), "classes", {0, mostClasses}, facts.classes);
    if (!wrong) wrong = number(json.at("samples"), "samples", {0, mostSamples}, samples_);
    if (!wrong) wrong = takeSize(json.at("size"));
    if (wrong) return wrong;
    if (json.contains("class_names")) facts.classNames = json.at("class_names").get<std::vector<std::string>>();
    const size_t names = facts.classNames.size();
    if (names > 0 && names != static_cast<size_t>(facts.classes)) {
      return fault("has ", names, " class_names for ", facts.classes, " classes");
    }
    if (facts.height == 0) return std::nullopt;
    wrong = ofChannels(json.at("sums"), "sums", facts.sums);
    return wrong ? wrong : ofChannels(json.at("squares"), "squares", facts.squares);
  }

  std::optional<ParseError> ofChannels(const Json& list, const char* name, std::array<uint64_t, 3>& out) const {
    if (!list.is_array() || list.size() != out.size()) return fault("has '", name, "' that are not three numbers");
    for (size_t c = 0; c < out.size(); ++c) {
      int64_t sum = 0;
      if (auto wrong = number(list[c], name, {0, INT64_MAX}, sum)) return wrong;
      out[c] = static_cast<uint64_t>(sum);
    }
    return std::nullopt;
  }

  std::optional<ParseError> takeSize(const Json& size) {
    PackedFacts& facts = shard_.facts;
    if (!size.is_array() || size.size() != 3) return fault("has a size that is not [height, width, channels]");
    std::optional<ParseError> wrong = number(size[0], "height", {0, limits_.edge}, facts.height);
    if (!wrong) wrong = number(size[1], "width", {0, limits_.edge}, facts.width);
    if (!wrong) wrong = number(size[2], "channels", {0, 3}, facts.channels);
    if (wrong) return wrong;
    const bool files = facts.height == 0 && facts.width == 0 && facts.channels == 0;
    const bool pixels = facts.height > 0 && facts.width > 0 && (facts.channels == 1 || facts.channels == 3);
    if (files || pixels) return std::nullopt;
    return fault("has the size ", facts.height, " x ", facts.width, " x ", facts.channels,
                 "; it must be that of images in grey or colour, or 0 x 0 x 0");
  }

  struct Range {
    int64_t least, most;
  };
  std::optional<ParseError> number(const Json& value, const char* name, Range range, int64_t& out) const {
    const bool isWhole =
        value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
    if (isWhole) out = value.get<int64_t>();
    if (isWhole && out >= range.least && out <= range.most) return std::nullopt;
    return fault("has a member '", name, "' that is no whole number from ", range.least, " to ", range.most);
  }

  template <class... Texts>
  ParseError fault(const Texts&... texts) const {
    return parseError(parts_.description, "the description ", texts...);
  }

  std::optional<ParseError> takeIndex() {
    const auto labelBytes = static_cast<uint64_t>(shard_.facts.labelBytes), samples = static_cast<uint64_t>(samples_);
    const uint64_t bytes = parts_.description - parts_.index, wanted = samples * (placeBytes + labelBytes);
    if (bytes != wanted) {
      return parseError(parts_.index, "the index has ", bytes, " bytes; ", samples, " samples with labels of ",
                        labelBytes, " bytes need ", wanted);
    }
    std::vector<uint8_t> index(bytes);
    read_(parts_.index, index);
    if (crc32cOf(index) != parts_.crcOfIndex) {
      return parseError(parts_.index, "the checksum of the index differs; the file is damaged");
    }
    shard_.places.reserve(samples);
    for (uint64_t i = 0; i < samples; ++i) {
      if (auto wrong = takePlace(std::span(index).subspan(i * placeBytes, placeBytes))) return wrong;
    }
    shard_.labels.assign(index.begin() + static_cast<std::ptrdiff_t>(samples * placeBytes), index.end());
    return sumsFault();
  }

  std::optional<ParseError> sumsFault() const {
    const PackedFacts& facts = shard_.facts;
    const double pixels = static_cast<double>(samples_) * static_cast<double>(facts.height * facts.width);
    for (size_t c = 0; c < facts.sums.size(); ++c) {
      const double sum = static_cast<double>(facts.sums[c]), squares = static_cast<double>(facts.squares[c]);
      if (sum <= 255 * pixels && squares <= 255 * sum) continue;
      return fault("has sums of channel ", c, " that no pixels in bytes have");
    }
    return std::nullopt;
  }

  std::optional<ParseError> takePlace(std::span<const uint8_t> entry) {
    const PackedPlace place{littleEndian<uint64_t>(entry, 0), littleEndian<uint32_t>(entry, 8),
                            littleEndian<uint32_t>(entry, 12)};
    const PackedFacts& facts = shard_.facts;
    const auto pixels = static_cast<uint64_t>(facts.height * facts.width * facts.channels);
    const auto refuse = [&](const auto&... texts) {
      const size_t number = shard_.places.size();
      return parseError(parts_.index + number * placeBytes, "sample ", number, " (from 0) has ", place.bytes, " bytes",
                        texts...);
    };
    if (place.bytes > limits_.sampleBytes) return refuse("; the limit is ", limits_.sampleBytes);
    if (pixels > 0 && place.bytes != pixels) return refuse("; its pixels need ", pixels);
    if (place.offset < magic.size() || place.offset > parts_.index || place.bytes > parts_.index - place.offset) {
      return refuse(" at ", place.offset, "; samples lie between ", magic.size(), " and ", parts_.index);
    }
    shard_.places.push_back(place);
    return std::nullopt;
  }

  const uint64_t size_;
  const ReadAt& read_;
  const PackedLimits& limits_;
  Parts parts_;
  int64_t samples_ = 0;
  PackedShard shard_;
};

std::string descriptionOf(const PackedFacts& facts, size_t samples) {
  nlohmann::ordered_json json{{"labels", facts.labels},
                              {"label_bytes", facts.labelBytes},
                              {"classes", facts.classes},
                              {"size", {facts.height, facts.width, facts.channels}},
                              {"samples", samples}};
  if (!facts.classNames.empty()) json["class_names"] = facts.classNames;
  if (facts.height > 0) json["sums"] = facts.sums, json["squares"] = facts.squares;
  return json.dump();
}

}  // namespace

Result<PackedShard> parsePackedShard(uint64_t size, const ReadAt& read, const PackedLimits& limits) {
  return Parser(size, read, limits).parse();
}

PackedShardWriter::PackedShardWriter(std::string path) : file_(std::move(path)) { file_.append(asBytes(magic)); }

void PackedShardWriter::add(std::span<const uint8_t> sample, std::span<const uint8_t> label) {
  check(sample.size() <= PackedLimits().sampleBytes && labels_.size() == samples_ * label.size(),
        "PackedShardWriter::add: sizes");
  appendLittleEndian(places_, file_.bytes());
  appendLittleEndian(places_, static_cast<uint32_t>(sample.size()));
  appendLittleEndian(places_, crc32cOf(sample));
  labels_.insert(labels_.end(), label.begin(), label.end());
  file_.append(sample);
  ++samples_;
}

FileSum PackedShardWriter::commit(const PackedFacts& facts) {
  const std::string description = descriptionOf(facts, samples_);
  check(description.size() <= PackedLimits().descriptionBytes, "PackedShardWriter::commit: description");
  std::vector<uint8_t> end;
  appendLittleEndian(end, file_.bytes());
  std::vector<uint8_t>& index = places_;
  index.insert(index.end(), labels_.begin(), labels_.end());
  appendLittleEndian(end, file_.bytes() + index.size());
  appendLittleEndian(end, crc32cOf(index));
  appendLittleEndian(end, crc32cOf(description));
  appendLittleEndian(end, crc32cOf(end));
  file_.append(index);
  file_.append(asBytes(description));
  file_.append(end);
  file_.append(asBytes(magic));
  return file_.commit();
}

}  // namespace tandem
