#include "report/tables/class_tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measure/training_example.h"

namespace tandem {
namespace {

using Cells = std::vector<std::string>;

EvaluationRecord confused(std::vector<int64_t> images) { return {.images = 9, .confusion = std::move(images)}; }

TEST(ClassTables, ThePairsThatAreMostConfusedCountBothWays) {
  // clang-format off
  const EvaluationRecord evaluation = confused({5, 2, 0, 1,
                                                3, 4, 0, 0,
                                                0, 0, 9, 0,
                                                1, 0, 0, 0});
  // clang-format on
  const std::vector<std::string> classes{"cat", "dog"};
  const ResultTable table = confusedTable(classes, evaluation);
  ASSERT_EQ(table.rows.size(), 2U) << "a pair without images is none";
  EXPECT_EQ(table.rows[0].cells, (Cells{"0 cat", "1 dog", "5", "2", "3", "33.3"}));
  EXPECT_EQ(table.rows[1].cells, (Cells{"0 cat", "3", "2", "1", "1", "22.2"}))
      << "a class without a name has its number";
}

TEST(ClassTables, FivePairsAreEnoughAndTheFirstOfEqualOnesComesFirst) {
  std::vector<int64_t> images(49, 1);
  images[3 * 7 + 4] = 2;
  const ResultTable table = confusedTable({}, confused(images));
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(table.rows[0].cells, (Cells{"3", "4", "3", "2", "1", "20.0"}));
  EXPECT_EQ(table.rows[1].cells[1], "1");
  EXPECT_EQ(table.rows[4].cells[1], "4");
}

TEST(ClassTables, AMatrixHasARowPerClassAndItsShareOfRightOnes) {
  const ResultTable table = confusionTable({}, confused({3, 1, 0, 0}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells, (Cells{"0", "75.0", "3", "1"}));
  EXPECT_EQ(table.rows[1].cells, (Cells{"1", "", "0", "0"})) << "a class without images";
  const Chart& chart = table.charts.at(0);
  EXPECT_EQ(chart.kind, ChartKind::matrix);
  EXPECT_EQ(chart.labels, (Cells{"0", "1"}));
  EXPECT_EQ(chart.series[0].values, (std::vector<double>{3, 1}));
}

TEST(ClassTables, AClassWithoutAnAreaHasAnEmptyCell) {
  const double none = EvaluationRecord::none;
  const EvaluationRecord first{.classAuc = {0.5, none, std::nan("")}}, second{.classAuc = {0.25}};
  const std::vector<std::string> classes{"round", "red\nhot"};
  const ResultTable table = aucTable(classes, std::vector<HeadedEvaluation>{{"last", &first}, {"best", &second}});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].cells, (Cells{"0 round", "0.5000", "0.2500"}));
  EXPECT_EQ(table.rows[1].cells, (Cells{"1 red hot", "", ""}));
  EXPECT_EQ(table.rows[2].cells, (Cells{"2", "", ""}));
  const Chart& chart = table.charts.at(0);
  EXPECT_EQ(chart.labels.size(), 3U);
  EXPECT_EQ(chart.series[0].values[0], 0.5);
  EXPECT_TRUE(std::isnan(chart.series[0].values[1]) && std::isnan(chart.series[0].values[2]));
  const EvaluationRecord many{.classAuc = std::vector<double>(101, 0.5)};
  EXPECT_TRUE(aucTable({}, std::vector<HeadedEvaluation>{{"last", &many}}).charts.empty()) << "too many bars";
}

TEST(ClassTables, OfATrainingTheLastEvaluationOfEachSplitAndTheBest) {
  const std::vector<RunRecord> records{exampleFlagsTraining()};
  const auto tables = classTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].title, "AUC by class");
  EXPECT_EQ(headingOf(tables[0].columns.at(1)), "validation, last");
  EXPECT_EQ(headingOf(tables[0].columns.at(2)), "validation, best");
  EXPECT_EQ(headingOf(tables[0].columns.at(3)), "test");
  EXPECT_EQ(tables[0].rows.at(0).cells, (Cells{"0 round", "0.8883", "0.9200", "0.8783"}));
  EXPECT_EQ(tables[0].rows.at(2).cells, (Cells{"2 rare", "", "", ""}));
  EXPECT_TRUE(confusionTables(ReportRuns(records)).empty());
}

TEST(ClassTables, OfATrainingTheMatrixOfEachSplit) {
  std::vector<RunRecord> records{exampleTraining()};
  const auto tables = classTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1].title, "Most confused classes, test");
  EXPECT_EQ(tables[0].rows.at(0).cells, (Cells{"2 shape 2", "3 shape 3", "6", "6", "0", "6.0"}));
  const auto matrices = confusionTables(ReportRuns(records));
  ASSERT_EQ(matrices.size(), 2U);
  EXPECT_EQ(matrices[0].title, "validation");
  EXPECT_EQ(matrices[0].rows.size(), 10U);
  records[0].training->evaluations.back().confusion.assign(101 * 101, 1);
  EXPECT_EQ(confusionTables(ReportRuns(records)).size(), 1U) << "more than 100 classes are not drawn";
  EXPECT_EQ(classTables(ReportRuns(records)).size(), 2U);
  records.push_back(exampleTraining());
  records[1].config.training.epochs = 20;
  EXPECT_EQ(classTables(ReportRuns(records)).back().title,
            "Most confused classes, test, training 2: replicas=1 epochs=20");
}

}  // namespace
}  // namespace tandem
