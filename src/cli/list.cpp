#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "cli/commands.h"
#include "comm/group.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "data/transform/image_preparation.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "graph/operation.h"
#include "kernels/conv/convolution.h"
#include "measure/metrics/metric.h"
#include "models/model.h"
#include "models/names/weights_map.h"
#include "optim/optimizer.h"
#include "report/render/renderer.h"
#include "run/output_activation.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

template <auto catalog>
ordered_json summaries() {
  auto rows = ordered_json::array();
  for (const auto& entry : catalog()) rows.push_back({{"name", entry.name}, {"summary", entry.summary}});
  return rows;
}

ordered_json modelRows() {
  auto rows = ordered_json::array();
  for (const auto& entry : models()) {
    rows.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"parameters", entry.parameters},
                    {"forward_gflop", entry.forwardFlops * 1e-9},
                    {"image_size", entry.input.height},
                    {"classes", entry.classes},
                    {"source", entry.source}});
  }
  return rows;
}

ordered_json metricRows() {
  auto rows = ordered_json::array();
  for (const auto& entry : metrics()) {
    rows.push_back({{"name", entry.name}, {"summary", entry.help}, {"unit", entry.unit}});
  }
  return rows;
}

constexpr std::string_view dumpFlag = "--dump";

struct Section {
  std::string_view name;
  ordered_json (*rows)();
};

constexpr Section sections[] = {
    {"models", modelRows},
    {"strategies", summaries<strategies>},
    {"all-reduces", summaries<allReduces>},
    {"loss-places", summaries<lossPlacements>},
    {"losses", summaries<taskLosses>},
    {"inputs", summaries<sources>},
    {"augments", summaries<augments>},
    {"precisions", summaries<precisions>},
    {"layouts", summaries<layouts>},
    {"convolutions", summaries<convolutionAlgorithms>},
    {"image-paddings", summaries<imagePaddings>},
    {"executors", summaries<executors>},
    {"recomputes", summaries<recomputes>},
    {"weights-maps", summaries<weightsMaps>},
    {"normalizations", summaries<normalizations>},
    {"scores", summaries<scores>},
    {"schedules", summaries<schedules>},
    {"optimizers", summaries<optimizers>},
    {"operations", summaries<operations>},
    {"formats", summaries<renderers>},
    {"metrics", metricRows},
};

/// "25557032 parameters, 8.18 GFLOP forward, 224x224; " of a model; the unit of a metric.
std::string facts(const ordered_json& row) {
  if (row.contains("parameters")) {
    const auto size = row["image_size"].get<int64_t>();
    return concat(row["parameters"].get<int64_t>(), " parameters, ", fixed(row["forward_gflop"].get<double>(), 2),
                  " GFLOP forward at ", size, 'x', size, "; ");
  }
  const std::string unit = row.value("unit", "");
  return unit.empty() ? "" : concat('[', unit, "] ");
}

std::string sourceOf(const ordered_json& row) {
  return row.contains("source") ? concat(" (", row["source"].get_ref<const std::string&>(), ")") : "";
}

void print(const Section& section) {
  const auto rows = section.rows();
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row["name"].get_ref<const std::string&>().size());
  std::cout << section.name << ":\n";
  for (const auto& row : rows) {
    std::cout << "  " << std::left << std::setw(static_cast<int>(width + 2)) << row["name"].get<std::string>()
              << facts(row) << row["summary"].get<std::string>() << sourceOf(row) << '\n';
  }
}

std::vector<Section> chosen(Arguments arguments) {
  std::vector<Section> result;
  for (const auto& argument : arguments) {
    if (argument != "--json") result.push_back(find(std::span<const Section>(sections), argument, "list"));
  }
  if (result.empty()) result.assign(std::begin(sections), std::end(sections));
  return result;
}

int dump(Arguments arguments) {
  if (arguments.size() != 3 || arguments[0] != "models" || arguments[1] != dumpFlag) {
    throw UsageError("tandem list: a network is printed by 'tandem list models --dump NAME'");
  }
  std::cout << modelText(arguments[2]);
  return 0;
}

}  // namespace

int listCommand(Arguments arguments) {
  if (std::ranges::find(arguments, dumpFlag) != arguments.end()) return dump(arguments);
  const auto wanted = chosen(arguments);
  if (std::ranges::find(arguments, "--json") == arguments.end()) {
    for (const auto& section : wanted) print(section);
    return 0;
  }
  ordered_json object;
  for (const auto& section : wanted) object[std::string(section.name)] = section.rows();
  std::cout << object.dump(2) << '\n';
  return 0;
}

}  // namespace tandem
