#include "report/tables/chart.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/page/escaping.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int significantDigits = 5;

/// Rounds to what a pixel can show. All digits would be most of the page.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10, significantDigits - 1 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? Json(std::round(value * scale) / scale) : Json(value);
}

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(rounded(value));
  return array;
}

Json texts(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const std::string& value : values) array.push_back(visibleText(value));
  return array;
}

Json jsonOf(const ChartSeries& series) {
  Json object{{"name", visibleText(series.name)},
              {"values", numbers(series.values)},
              {"remarks", texts(series.remarks)},
              {"ideal", series.ideal}};
  if (!series.at.empty()) object["at"] = numbers(series.at);
  if (series.like >= 0) object["like"] = series.like;
  return object;
}

Json jsonOf(const ChartBand& band) {
  return {{"name", visibleText(band.name)}, {"from", rounded(band.from)}, {"to", rounded(band.to)}};
}

template <class Item>
Json listOf(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(jsonOf(item));
  return array;
}

}  // namespace

std::string_view nameOf(ChartKind kind) {
  switch (kind) {
    case ChartKind::scaling:
      return "scaling";
    case ChartKind::time:
      return "time";
    case ChartKind::bars:
      return "bars";
    case ChartKind::parts:
      return "parts";
    case ChartKind::histogram:
      return "histogram";
    case ChartKind::curves:
      return "curves";
    case ChartKind::matrix:
      return "matrix";
  }
  throw InternalError("a kind of chart without a name");
}

std::string jsonOf(const Chart& chart) {
  const Json object{{"kind", nameOf(chart.kind)},   {"x", visibleText(chart.x)},     {"y", visibleText(chart.y)},
                    {"at", numbers(chart.at)},      {"labels", texts(chart.labels)}, {"series", listOf(chart.series)},
                    {"bands", listOf(chart.bands)}, {"fromZero", chart.fromZero}};
  return scriptJson(object.dump(-1, ' ', true));
}

}  // namespace tandem
