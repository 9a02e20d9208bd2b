#include "run/child/worker_protocol.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/config_json.h"
#include "measure/record/record_json.h"

namespace tandem {

using nlohmann::json;

namespace {

/// By Phase.
constexpr std::array<std::string_view, 7> phaseNames{"choosing-kernels", "sharing-out", "warming-up", "measuring",
                                                     "comparing",        "training",    "evaluating"};

json toJson(const RankPlace& place) {
  return {{"rank", place.rank},
          {"size", place.size},
          {"local-rank", place.localRank},
          {"local-size", place.localSize},
          {"store", asUtf8(place.host)},
          {"port", place.port},
          {"run", asUtf8(place.run)},
          {"interface", asUtf8(place.interface)}};
}

RankPlace placeFromJson(const json& object) {
  return {.rank = object.at("rank"),
          .size = object.at("size"),
          .localRank = object.at("local-rank"),
          .localSize = object.at("local-size"),
          .host = object.at("store"),
          .port = object.at("port"),
          .run = object.at("run"),
          .interface = object.at("interface")};
}

}  // namespace

std::string toText(const WorkerOrder& order) {
  return json{{"config", toJson(order.config)}, {"sweep-begin", order.sweepBegin}, {"place", toJson(order.place)}}
      .dump();
}

WorkerOrder orderFromText(const std::string& text) {
  try {
    const auto object = json::parse(text);
    return {.config = configFromJson(object.at("config")),
            .sweepBegin = object.at("sweep-begin").get<std::string>(),
            .place = placeFromJson(object.at("place"))};
  } catch (const std::exception& failure) {
    throw UsageError(
        concat("worker: standard input is no order of 'tandem bench' (", failure.what(), "); use 'tandem bench'"));
  }
}

std::string startLine(const RunRecord& record) { return json{{"start", toJson(record)}}.dump() + '\n'; }

std::string recordLine(const RunRecord& record) { return json{{"record", toJson(record)}}.dump() + '\n'; }

std::string warningLine(const std::string& text) { return json{{"warning", asUtf8(text)}}.dump() + '\n'; }

std::string progressLine(const Progress& progress) {
  const json object{{"phase", phaseNames.at(static_cast<size_t>(progress.phase))},
                    {"step", progress.step},
                    {"steps", progress.steps},
                    {"images-per-second", progress.imagesPerSecond},
                    {"seconds-left", progress.secondsLeft},
                    {"line", asUtf8(progress.line)}};
  return json{{"progress", object}}.dump() + '\n';
}

namespace {

Progress progressFrom(const json& object) {
  const auto number = [&](const char* name) { return object.at(name).is_null() ? 0.0 : object.at(name).get<double>(); };
  const auto name = std::ranges::find(phaseNames, object.at("phase").get<std::string>());
  if (name == phaseNames.end()) throw InternalError("a line of the worker names an unknown phase");
  return {.phase = static_cast<Phase>(name - phaseNames.begin()),
          .step = object.at("step").get<int64_t>(),
          .steps = object.at("steps").get<int64_t>(),
          .imagesPerSecond = number("images-per-second"),
          .secondsLeft = number("seconds-left"),
          .line = object.at("line").get<std::string>()};
}

}  // namespace

void readLine(const std::string& line, const WorkerEvents& events) {
  try {
    const auto object = json::parse(line);
    if (object.contains("progress")) {
      if (events.progress) events.progress(progressFrom(object.at("progress")));
    } else if (object.contains("warning")) {
      events.warning(object.at("warning").get<std::string>());
    } else if (object.contains("start")) {
      events.start(recordFromJson(object.at("start")));
    } else {
      events.record(recordFromJson(object.at("record")));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    throw InternalError(concat("a line of the worker cannot be read: ", failure.what()));
  }
}

}  // namespace tandem
