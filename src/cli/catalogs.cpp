#include "cli/catalogs.h"

#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "comm/group.h"
#include "config/modes.h"
#include "config/recipe/recipe.h"
#include "data/dataset/data_split.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "data/transform/augment.h"
#include "data/transform/interpolation.h"
#include "data/transform/normalizations.h"
#include "data/transform/views.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "graph/operation.h"
#include "kernels/conv/convolution.h"
#include "measure/metrics/evaluation.h"
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

/// A chain by its name, or of one transform.
std::vector<std::string> augmentNames() {
  std::vector<std::string> all = namesOf(augments());
  for (const TransformEntry& entry : transforms()) all.emplace_back(entry.name);
  return all;
}

std::vector<std::string> recipeNames() {
  std::vector<std::string> all;
  for (const Recipe& recipe : recipes()) all.push_back(recipe.name);
  return all;
}

ordered_json recipeRows() {
  auto rows = ordered_json::array();
  for (const Recipe& recipe : recipes()) {
    ordered_json options = ordered_json::object();
    for (const auto& [option, value] : recipe.options) options[option] = value;
    rows.push_back({{"name", recipe.name},
                    {"summary", recipe.summary},
                    {"source", recipe.source},
                    {"needs", recipe.needs},
                    {"options", options}});
  }
  return rows;
}

/// The losses of heads that have several.
std::vector<std::string> lossForms() {
  std::vector<std::string> all;
  for (const TaskLoss& loss : taskLosses()) {
    if (!loss.form.empty()) all.emplace_back(loss.form);
  }
  return all;
}

ordered_json lossFormRows() {
  auto rows = ordered_json::array();
  for (const TaskLoss& loss : taskLosses()) {
    if (loss.form.empty()) continue;
    rows.push_back({{"name", loss.form}, {"summary", concat("--head=", loss.head, ", ", loss.summary)}});
  }
  return rows;
}

/// The splits, and a word for no evaluation.
std::vector<std::string> validationNames() {
  std::vector<std::string> all = namesOf(dataSplits());
  all.emplace_back(Config::noSplit);
  return all;
}

ordered_json validationRows() {
  auto rows = summaries<dataSplits>();
  rows.push_back({{"name", Config::noSplit}, {"summary", "nothing is evaluated"}});
  return rows;
}

template <auto catalog>
constexpr Catalog row(std::string_view name, std::string_view option) {
  return {name, option, names<catalog>, summaries<catalog>};
}

constexpr Catalog table[] = {
    {"models", "model", names<models>, modelRows},
    row<strategies>("strategies", "strategy"),
    row<serverModes>("server-modes", "server-mode"),
    row<allReduces>("all-reduces", "all-reduce"),
    row<compressions>("compressions", "compression"),
    row<overlaps>("overlaps", "overlap"),
    row<lossPlacements>("loss-places", "loss-at"),
    row<taskLosses>("losses", ""),
    {"loss-forms", "loss", lossForms, lossFormRows},
    row<sources>("inputs", "input"),
    {"augments", "augment", augmentNames, summaries<augments>},
    row<transforms>("transforms", ""),
    row<precisions>("precisions", "precision"),
    row<gradientPrecisions>("gradient-precisions", "gradient-precision"),
    row<layouts>("layouts", "layout"),
    row<convolutionAlgorithms>("convolutions", "convolution"),
    row<imagePaddings>("image-paddings", "pad-images"),
    row<executors>("executors", "executor"),
    row<recomputes>("recomputes", "recompute"),
    row<cudaGraphs>("cuda-graphs", "cuda-graph"),
    row<weightsMaps>("weights-maps", "weights-map"),
    row<interpolations>("interpolations", "interpolation"),
    row<normalizations>("normalizations", "normalization"),
    row<evaluationViews>("views", "views"),
    row<badImages>("bad-images", "bad-image"),
    row<decodings>("decodings", "decode"),
    row<dataSplits>("data-splits", "data-split"),
    {"validations", "validate-on", validationNames, validationRows},
    row<loaders>("loaders", "loader"),
    row<verifications>("verifications", "verify"),
    row<scores>("scores", "scores"),
    row<schedules>("schedules", "schedule"),
    row<optimizers>("optimizers", "optimizer"),
    {"recipes", "", recipeNames, recipeRows},
    row<lrScalings>("lr-scalings", "lr-scaling"),
    row<decayedParameters>("decayed", "decayed"),
    row<frozenParameters>("frozen", "frozen"),
    row<resumes>("resumes", "resume"),
    row<nanPolicies>("nan-policies", "on-nan"),
    row<evaluationMetrics>("evaluation-metrics", "best"),
    row<scalings>("scalings", "scaling"),
    row<operations>("operations", ""),
    row<renderers>("formats", "format"),
    {"metrics", "", names<metrics>, metricRows},
};

}  // namespace

std::span<const Catalog> catalogs() { return table; }

CatalogNames catalogNames() {
  CatalogNames all;
  for (const Catalog& catalog : table) {
    if (!catalog.option.empty()) all.rows.push_back({catalog.option, catalog.names(), catalog.name});
  }
  return all;
}

}  // namespace tandem
