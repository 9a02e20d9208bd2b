#include "formats/dataset/data_manifest.h"

#include <nlohmann/json.hpp>

#include "formats/io/json_structure.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* formatName = "tandem-data";
constexpr int64_t version = 2;
constexpr uint64_t most = uint64_t{1} << 40;  // of any number: so no sum overflows
constexpr JsonLimits structure{.deepest = 5, .mostMembers = 64};

int64_t sumOf(const DataManifest::Split& split, int64_t DataManifest::Shard::*member) {
  int64_t sum = 0;
  for (const auto& shard : split.shards) sum += shard ? (*shard).*member : 0;
  return sum;
}

/// Throws Json::exception for another type.
int64_t countOf(const Json& json, const char* name) {
  const Json& value = json.at(name);
  if (value.is_number_unsigned() && value.get<uint64_t>() <= most) return value.get<int64_t>();
  throw JsonRefusal{concat("its member '", name, "' is no number from 0 to ", most)};
}

DataManifest::Shard shardOf(const Json& json) {
  return {.images = countOf(json, "images"),
          .skipped = countOf(json, "skipped"),
          .file = {static_cast<uint64_t>(countOf(json, "bytes")), json.at("sha256").get<std::string>()}};
}

DataManifest manifestOf(const Json& json) {
  if (json.at("format").get<std::string>() != formatName) throw JsonRefusal{"its member 'format' is not 'tandem-data'"};
  if (countOf(json, "version") != version) throw JsonRefusal{concat("its version is not ", version, ", which is read")};
  DataManifest manifest{.complete = json.at("complete").get<bool>(), .options = {}, .splits = {}};
  for (const auto& [name, value] : json.at("options").items()) {
    manifest.options.emplace_back(name, value.get<std::string>());
  }
  for (const Json& split : json.at("splits")) {
    DataManifest::Split& added = manifest.splits.emplace_back();
    added.name = split.at("name").get<std::string>();
    for (const Json& shard : split.at("shards")) {
      added.shards.push_back(shard.is_null() ? std::nullopt : std::optional(shardOf(shard)));
    }
  }
  return manifest;
}

Json jsonOf(const DataManifest::Split& split) {
  Json json{{"name", split.name}, {"images", split.images()}, {"skipped", split.skipped()}, {"sha256", split.sha256()}};
  json["shards"] = Json::array();
  for (const auto& shard : split.shards) {
    if (!shard) {
      json["shards"].push_back(nullptr);
      continue;
    }
    json["shards"].push_back({{"images", shard->images},
                              {"skipped", shard->skipped},
                              {"bytes", shard->file.bytes},
                              {"sha256", shard->file.sha256}});
  }
  return json;
}

}  // namespace

int64_t DataManifest::Split::images() const { return sumOf(*this, &Shard::images); }
int64_t DataManifest::Split::skipped() const { return sumOf(*this, &Shard::skipped); }

std::string DataManifest::Split::sha256() const {
  std::string all;
  for (const auto& shard : shards) all += shard ? shard->file.sha256 : "";
  return sha256Of(asBytes(all));
}

Result<DataManifest> parseManifest(std::span<const uint8_t> bytes) {
  try {
    return manifestOf(parseJson<Json>(bytes, structure));
  } catch (const JsonRefusal& refusal) {
    return parseError(refusal.offset, refusal.text);
  } catch (const Json::exception&) {
    return parseError(0, "it is no JSON in which each member has its form");
  }
}

std::string manifestText(const DataManifest& manifest) {
  Json json{{"format", formatName}, {"version", version}, {"complete", manifest.complete}};
  json["options"] = Json::object();
  for (const auto& [name, value] : manifest.options) json["options"][name] = value;
  json["splits"] = Json::array();
  for (const DataManifest::Split& split : manifest.splits) json["splits"].push_back(jsonOf(split));
  return json.dump(1) + '\n';
}

}  // namespace tandem
