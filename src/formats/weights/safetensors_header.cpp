#include "formats/weights/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr std::string_view metadataName = "__metadata__";
constexpr uint64_t longestGap = 4 << 20;

/// Limits tokens and spaces, because the JSON parser keeps them in memory. Refuses NUL, which that parser takes for the
/// end.
std::optional<ParseError> refuseTokens(std::string_view text) {
  uint64_t quote = 0;
  for (uint64_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return parseError(i, "the header is not JSON: it has a byte 0");
    if (text[i] == '"') quote = i;
    if (text[i] == '\\') ++i;
    if (i - quote > longestGap) return parseError(i, "the header has ", longestGap, " bytes without a quote");
  }
  return std::nullopt;
}

/// Receives the parser's events; a method that returns false stops it. Nesting deeper than the format's is an event in
/// the wrong place.
class HeaderEvents final : public nlohmann::json_sax<json> {
 public:
  explicit HeaderEvents(const SafetensorsLimits& limits) : limits_(limits) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(int64_t) override { return unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { return unexpected("a number that is not an integer"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(uint64_t value) override {
    if (place_ == Place::shape) return addSize(value);
    if (place_ != Place::offsets) return unexpected("a number");
    if (offsets_ == 2) return refuse("tensor '", escaped(current().tensor.name), "' has more than two data_offsets");
    (offsets_++ == 0 ? current().begin : current().end) = value;
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) return addMetadata(value);
    if (place_ != Place::tensor || field_ != "dtype") return unexpected("a text");
    FileTensor& tensor = current().tensor;
    tensor.type = elementTypeNamed(value);
    if (tensor.type == nullptr) {
      return refuse("tensor '", escaped(tensor.name), "' is of type '", escaped(value), "', which is not read");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::outside) return enter(Place::header);
    if (place_ != Place::header) return unexpected("an object");
    if (key_ == metadataName) return enter(Place::metadata);
    if (header_.tensors.size() == limits_.tensors) return refuse("there are more than ", limits_.tensors, " tensors");
    header_.tensors.push_back({.tensor = {.name = std::move(key_), .shape = {}, .strides = {}, .bytes = {}}});
    seen_.clear();
    return enter(Place::tensor);
  }

  bool key(std::string& name) override {
    if (place_ == Place::header) return startEntry(name);
    if (place_ == Place::metadata) return startMetadata(name);
    return startField(name);
  }

  bool end_object() override {
    if (place_ == Place::header) return enter(Place::outside);
    if (place_ == Place::tensor && seen_.size() != 3) {
      return refuse("tensor '", escaped(current().tensor.name), "' lacks one of dtype, shape, data_offsets");
    }
    return enter(Place::header);
  }

  bool start_array(size_t) override {
    if (place_ == Place::tensor && field_ == "shape") return enter(Place::shape);
    if (place_ != Place::tensor || field_ != "data_offsets") return unexpected("a list");
    offsets_ = 0;
    return enter(Place::offsets);
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) {
      return refuse("tensor '", escaped(current().tensor.name), "' has fewer than two data_offsets");
    }
    return enter(Place::tensor);
  }

  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    error_ = tandem::parseError(position, "the header is not JSON in UTF-8");
    return false;
  }

  const std::optional<ParseError>& error() const { return error_; }
  SafetensorsHeader& header() { return header_; }

 private:
  enum class Place { outside, header, tensor, shape, offsets, metadata };

  template <class... Parts>
  bool refuse(const Parts&... parts) {
    error_ = tandem::parseError(0, parts...);
    return false;
  }

  bool enter(Place place) {
    place_ = place;
    return true;
  }

  bool unexpected(const char* what) {
    switch (place_) {
      case Place::outside:
        return refuse("the header is ", what, "; it must be an object");
      case Place::header:
        return refuse("entry '", escaped(key_), "' is ", what, "; it must be an object");
      case Place::metadata:
        return refuse("entry '", escaped(key_), "' of __metadata__ is ", what, "; it must be a text");
      case Place::tensor:
        return refuse("field ", field_, " of tensor '", escaped(current().tensor.name), "' is ", what);
      default:
        return refuse("field ", field_, " of tensor '", escaped(current().tensor.name), "' holds ", what,
                      "; it must hold integers of at least 0");
    }
  }

  HeaderTensor& current() { return header_.tensors.back(); }

  bool startEntry(std::string& name) {
    key_ = std::move(name);
    if (key_ != metadataName) {
      const auto fault = nameFault(key_, limits_.slashes);
      return fault ? refuse(*fault) : true;
    }
    if (hasMetadata_) return refuse("__metadata__ is there twice");
    return hasMetadata_ = true;
  }

  bool startField(const std::string& name) {
    constexpr std::array<std::string_view, 3> fields{"dtype", "shape", "data_offsets"};
    const auto known = std::ranges::find(fields, name);
    const std::string of = concat(" of tensor '", escaped(current().tensor.name), "'");
    if (known == fields.end()) {
      return refuse("field '", escaped(name), "'", of, " is unknown; there are dtype, shape, data_offsets");
    }
    field_ = *known;
    if (std::ranges::find(seen_, field_) != seen_.end()) return refuse("field ", field_, of, " is there twice");
    seen_.push_back(field_);
    return true;
  }

  bool startMetadata(std::string& name) {
    if (header_.metadata.contains(name)) return refuse("entry '", escaped(name), "' of __metadata__ is there twice");
    key_ = std::move(name);
    return true;
  }

  bool addMetadata(std::string& value) {
    constexpr uint64_t perEntry = 128;  // memory of a node of the map
    metadataBytes_ += key_.size() + value.size() + perEntry;
    if (metadataBytes_ > limits_.metadataBytes) {
      return refuse("__metadata__ holds more than ", limits_.metadataBytes, " bytes");
    }
    header_.metadata.emplace(key_, std::move(value));
    return true;
  }

  bool addSize(uint64_t size) {
    auto& shape = current().tensor.shape;
    const std::string name = escaped(current().tensor.name);
    if (shape.size() == FileTensor::maxRank) {
      return refuse("tensor '", name, "' has more than ", FileTensor::maxRank, " dimensions");
    }
    if (size > INT64_MAX) return refuse("tensor '", name, "' has a size of ", size, ", over 63 bits");
    shape.push_back(static_cast<int64_t>(size));
    return true;
  }

  const SafetensorsLimits& limits_;
  SafetensorsHeader header_;
  std::optional<ParseError> error_;
  Place place_ = Place::outside;
  std::string key_;                     // key of the entry, or of an entry of __metadata__
  std::string_view field_;              // current field of the tensor
  std::vector<std::string_view> seen_;  // fields of the tensor so far
  int offsets_ = 0;
  bool hasMetadata_ = false;
  uint64_t metadataBytes_ = 0;
};

}  // namespace

Result<SafetensorsHeader> readSafetensorsHeader(std::string_view text, const SafetensorsLimits& limits) {
  if (auto error = refuseTokens(text)) return *error;
  HeaderEvents events(limits);
  json::sax_parse(text.begin(), text.end(), &events);
  if (auto error = events.error()) return parseError(std::min<uint64_t>(error->offset, text.size()), error->text);
  return std::move(events.header());
}

}  // namespace tandem
