#include "report/tables/wrong_table.h"

#include <gtest/gtest.h>

#include "measure/training_example.h"

namespace tandem {
namespace {

TEST(WrongTable, EachSplitHasTheErrorsOfItsLastEvaluation) {
  std::vector<RunRecord> records{exampleWithWrongPredictions()};
  const auto tables = wrongTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].title, "validation");
  EXPECT_EQ(tables[1].title, "test");
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0].cells, (std::vector<std::string>{"3 shape 3", "5 shape 5", "99.61", "shapes image 7"}));
  EXPECT_TRUE(tables[0].pictures.empty());
  EXPECT_EQ(tables[0].notes, std::vector<std::string>{"their pictures are on the page that a training writes itself"});
  EXPECT_TRUE(wrongTables(ReportRuns(std::vector<RunRecord>{exampleTraining()})).empty());
}

TEST(WrongTable, PicturesThatWereReadHaveCaptions) {
  std::vector<RunRecord> records{exampleWithWrongPredictions()};
  records[0].training->evaluations[11].wrong[1].png = examplePng();
  const auto tables = wrongTables(ReportRuns(records));
  ASSERT_EQ(tables.at(0).pictures.size(), 1U);
  EXPECT_EQ(tables[0].pictures[0].caption, "0 shape 0 taken for 1 shape 1, 75.00 %");
  EXPECT_EQ(tables[0].pictures[0].png, examplePng());
  EXPECT_TRUE(tables[0].notes.empty());
}

TEST(WrongTable, AFlagIsThereOrNot) {
  const std::vector<std::string> classes{"round", "red"};
  EXPECT_EQ(wrongText(classes, {.label = 1, .score = 0.5}), "1 red taken for no 1 red, 50.00 %");
  EXPECT_EQ(wrongText(classes, {.predicted = 0, .score = 1}), "no 0 round taken for 0 round, 100.00 %");
  EXPECT_EQ(wrongText({}, {.label = 4, .predicted = 7, .score = 0.25}), "4 taken for 7, 25.00 %");
}

}  // namespace
}  // namespace tandem
