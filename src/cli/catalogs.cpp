#include "cli/catalogs.h"

#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "comm/group.h"
#include "config/modes.h"
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
std::vector<std::string> names() {
  return namesOf(catalog());
}

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

template <auto catalog>
constexpr Catalog row(std::string_view name, Choices choices) {
  return {name, choices, names<catalog>, summaries<catalog>};
}

constexpr Catalog table[] = {
    {"models", Choices::models, names<models>, modelRows},
    row<strategies>("strategies", Choices::strategies),
    row<allReduces>("all-reduces", Choices::allReduces),
    row<overlaps>("overlaps", Choices::overlaps),
    row<lossPlacements>("loss-places", Choices::lossPlacements),
    row<taskLosses>("losses", Choices::any),
    row<sources>("inputs", Choices::inputs),
    row<augments>("augments", Choices::augments),
    row<precisions>("precisions", Choices::precisions),
    row<layouts>("layouts", Choices::layouts),
    row<convolutionAlgorithms>("convolutions", Choices::convolutions),
    row<imagePaddings>("image-paddings", Choices::imagePaddings),
    row<executors>("executors", Choices::executors),
    row<recomputes>("recomputes", Choices::recomputes),
    row<cudaGraphs>("cuda-graphs", Choices::cudaGraphs),
    row<weightsMaps>("weights-maps", Choices::weightsMaps),
    row<normalizations>("normalizations", Choices::normalizations),
    row<badImages>("bad-images", Choices::badImages),
    row<scores>("scores", Choices::scores),
    row<schedules>("schedules", Choices::schedules),
    row<optimizers>("optimizers", Choices::optimizers),
    row<scalings>("scalings", Choices::scalings),
    row<operations>("operations", Choices::any),
    row<renderers>("formats", Choices::formats),
    {"metrics", Choices::any, names<metrics>, metricRows},
};

}  // namespace

std::span<const Catalog> catalogs() { return table; }

CatalogNames catalogNames() {
  CatalogNames all;
  for (const Catalog& catalog : table) {
    if (catalog.choices != Choices::any) all.rows.emplace_back(catalog.choices, catalog.names());
  }
  return all;
}

}  // namespace tandem
