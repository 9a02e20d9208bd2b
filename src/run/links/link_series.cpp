#include "run/links/link_series.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

// Each element of an all-reduce of n tensors crosses n - 1 links on its way to a sum and as many back, over n ports.
double allReduceFactor(int parties) { return 2.0 * (parties - 1) / parties; }
double copyFactor(int) { return 1; }

constexpr LinkKind table[] = {
    {"cores", "Core to core: a thread reads what another one wrote", copyFactor, false, true},
    {"replicas", "All-reduce between replicas, which are threads", allReduceFactor, true, false},
    {"ranks", "All-reduce between ranks, which are processes", allReduceFactor, true, false},
    {"rank-broadcast", "Broadcast from rank 0 to the others", copyFactor, false, false},
    {"host-gpu", "Host to GPU and back", copyFactor, false, false},
    {"gpu-gpu", "GPU to GPU", copyFactor, false, false},
};

nlohmann::json jsonOf(const LinkTimes& times) {
  return {{"bytes", times.bytes}, {"calls", times.calls}, {"seconds", times.seconds}};
}

LinkTimes timesOf(const nlohmann::json& object) {
  return {.bytes = object.at("bytes").get<int64_t>(),
          .calls = object.at("calls").get<int64_t>(),
          .seconds = object.at("seconds").get<std::vector<double>>()};
}

}  // namespace

std::span<const LinkKind> linkKinds() { return table; }

const LinkKind& linkKind(std::string_view name) {
  const auto row = std::ranges::find(table, name, &LinkKind::name);
  check(row != std::end(table), "a series of links is of a known kind");
  return *row;
}

std::string textOf(const LinkSeries& series) {
  nlohmann::json object{{"kind", series.kind},          {"link", series.link},
                        {"path", series.path},          {"way", series.way},
                        {"parties", series.parties},    {"copies", series.copies},
                        {"stated", series.statedBytes}, {"times", nlohmann::json::array()}};
  for (const LinkTimes& times : series.times) object["times"].push_back(jsonOf(times));
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

LinkSeries seriesOf(const std::string& text) {
  try {
    const auto object = nlohmann::json::parse(text);
    LinkSeries series{.kind = object.at("kind").get<std::string>(),
                      .link = object.at("link").get<std::string>(),
                      .path = object.at("path").get<std::string>(),
                      .way = object.at("way").get<std::string>(),
                      .parties = object.at("parties").get<int>(),
                      .copies = object.at("copies").get<int>(),
                      .statedBytes = object.at("stated").get<double>()};
    linkKind(series.kind);
    for (const auto& times : object.at("times")) series.times.push_back(timesOf(times));
    return series;
  } catch (const nlohmann::json::exception& failure) {
    throw InternalError(concat("links: a process reported what cannot be read: ", lineOf(failure)));
  }
}

}  // namespace tandem
