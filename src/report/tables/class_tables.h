#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/training_record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// An evaluation of which figures by class are shown, under its heading.
struct HeadedEvaluation {
  std::string heading;
  const EvaluationRecord* evaluation;
};

/// "3 cat", or "3" without names.
std::string classText(std::span<const std::string> classes, size_t index);

/// The AUC of each class, a column per evaluation. `classes`: their names; none: their numbers are shown. Empty cells:
/// all images have the flag, or none. Has a picture of at most 100 classes.
ResultTable aucTable(std::span<const std::string> classes, std::span<const HeadedEvaluation> evaluations);

/// The five pairs of classes with most images that were taken for the other one. REQUIRES: a confusion matrix.
ResultTable confusedTable(std::span<const std::string> classes, const EvaluationRecord& evaluation);

/// The confusion matrix with its picture: images of each class by what they were taken for. REQUIRES: one.
ResultTable confusionTable(std::span<const std::string> classes, const EvaluationRecord& evaluation);

/// Of each training the AUC by class, and the most confused pairs. Empty without either.
std::vector<ResultTable> classTables(const ReportRuns& runs);

/// The confusion matrix of each training that has one, of at most 100 classes.
std::vector<ResultTable> confusionTables(const ReportRuns& runs);

}  // namespace tandem
