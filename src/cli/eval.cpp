#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/arguments/command_files.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/inference_command.h"
#include "measure/metrics/evaluation.h"
#include "report/render/renderer.h"
#include "report/tables/class_tables.h"
#include "run/training/save_scores.h"
#include "train/loss/loss.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

EvaluatedImages judged(const InferenceRequest& request, const InferenceResult& result) {
  const Judge* const judge = lossOf(*request.plan.graph).judge;
  if (judge == nullptr) {
    throw UsageError(
        concat("--model=", request.plan.config.network.model, ": outputs of a detector are not evaluated"));
  }
  EvaluatedImages images;
  judge->resize(result.outputs.size(0), result.outputs.size(1), images);
  judge->write(result.outputs, result.labels, 0, images);
  return images;
}

ordered_json toJson(const InferenceRequest& request, const InferenceResult& result, const EvaluationRecord& record) {
  ordered_json object{{"model", request.plan.config.network.model}, {"weights", request.plan.config.network.weights},
                      {"data_split", splitJson(request)},           {"images", record.images},
                      {"left_out", leftOutJson(request, result)},   {"images_per_second", imagesPerSecond(result)}};
  for (const EvaluationMetric& metric : evaluationMetrics()) {
    const double value = metric.of(record);
    object[std::string(metric.name)] = value == EvaluationRecord::none ? ordered_json() : ordered_json(value);
  }
  auto classes = ordered_json::array();
  for (const double auc : record.classAuc) {
    classes.push_back(auc == EvaluationRecord::none ? ordered_json() : ordered_json(auc));
  }
  if (!classes.empty()) object["class_auc"] = std::move(classes);
  if (!record.confusion.empty()) object["confusion"] = record.confusion;
  return object;
}

/// AUC by class, or the most confused classes.
std::vector<ResultTable> classTables(const InferenceRequest& request, const EvaluationRecord& record) {
  const auto& names = request.images->info().classNames;
  std::vector<ResultTable> tables;
  if (!record.classAuc.empty()) tables.push_back(aucTable(names, std::array{HeadedEvaluation{"AUC", &record}}));
  if (record.confusion.empty()) return tables;
  tables.push_back(confusedTable(names, record));
  tables.back().title = "Most confused classes";
  if (tables.back().rows.empty()) tables.pop_back();
  return tables;
}

void print(const InferenceRequest& request, const InferenceResult& result, const EvaluationRecord& record) {
  std::cout << record.images << ' ' << withoutControls(dataText(request.plan)) << ": " << figuresText(record) << '\n';
  if (const auto tables = classTables(request, record); !tables.empty()) {
    std::cout << '\n';
    renderers().front().print(tables, std::cout);
    std::cout << '\n';
  }
  std::cout << rateText(request, result) << '\n';
}

}  // namespace

int evalCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << helpText("eval", catalogNames());
    return 0;
  }
  const InferenceRequest request = inferenceRequest("eval", DataSplit::test, arguments);
  const Config& config = request.plan.config;
  checkFiles(filesOf(config, onEval));
  const InferenceResult result = infer(request, *request.plan.graph, readPretrained(config, *request.plan.graph));
  const EvaluatedImages images = judged(request, result);
  if (!config.training.saveScores.empty()) saveScores(config.training.saveScores, images);
  const EvaluationRecord record = evaluated(images, /*withConfusion=*/true);
  if (config.inference.json) {
    std::cout << toJson(request, result, record).dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    print(request, result, record);
  }
  return 0;
}

}  // namespace tandem
