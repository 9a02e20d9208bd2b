#include "report/tables/training_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/catalog.h"
#include "base/text.h"
#include "measure/training_example.h"
#include "report/render/print_report.h"

namespace tandem {
namespace {

std::vector<std::string> headings(const ResultTable& table) {
  std::vector<std::string> found;
  for (const TableColumn& column : table.columns) found.push_back(headingOf(column));
  return found;
}

const Chart& chartCalled(const ResultTable& table, const std::string& title) {
  for (const Chart& chart : table.charts) {
    if (chart.title == title) return chart;
  }
  throw InternalError("no chart " + title);
}

/// Of one class per image, and of flags that went on for longer.
std::vector<RunRecord> two() {
  std::vector<RunRecord> records{exampleTraining(), exampleFlagsTraining()};
  records[1].config.training.epochs = 20;
  records[1].training->ended = "max-time", records[1].training->interrupted = true;
  return records;
}

TEST(TrainingTables, ATrainingIsARow) {
  const std::vector<RunRecord> records{exampleTraining()};
  const auto tables = trainingTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(headings(tables[0]),
            (std::vector<std::string>{"training", "epochs", "updates", "images/s", "epoch, steps (s)",
                                      "epoch, whole (s)", "training loss", "loss", "best", "accuracy", "best", "top5",
                                      "best", "memory (MiB)", "ended", "result"}));
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_EQ(tables[0].rows[0].cells,
            (std::vector<std::string>{"1: replicas=1", "12.00", "1200", "160.00", "10.0", "11.6", "0.1173", "0.1633",
                                      "0.1000", "0.9183", "0.9500", "0.9837", "0.9900", "900", "all epochs", "ok"}));
  EXPECT_EQ(tables[0].notes,
            (std::vector<std::string>{"best by accuracy after update 1000, epoch 10.00; figures are of "
                                      "the split validation"}));
}

TEST(TrainingTables, RunsThatAreNoFinishedTrainingAreLeftOut) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleTraining()};
  records[1].outcome = {OutcomeKind::failed, ExitCode::numeric, "loss is NaN"};
  const ReportRuns runs(records);
  EXPECT_TRUE(trainingTables(runs).empty() && evaluationTables(runs).empty() && courseTables(runs).empty());
}

TEST(TrainingTables, RepeatsOfATrainingAreRowsOfTheirOwnWithTheirTimes) {
  std::vector<RunRecord> records(14, exampleTraining());
  for (size_t i = 0; i < records.size(); ++i) records[i].time = concat("2026-01-02T03:04:", 10 + i, 'Z');
  const auto table = trainingTables(ReportRuns(records)).at(0);
  ASSERT_EQ(table.rows.size(), 12U);
  EXPECT_EQ(table.rows[0].cells[0], "1: replicas=1, 2026-01-02T03:04:12Z");
  EXPECT_EQ(table.notes.back(), "the last 12 of 14 trainings");
}

TEST(TrainingTables, WhyItEndedAndWhetherItCanGoOnIsSaid) {
  const auto table = trainingTables(ReportRuns(two())).at(0);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1].cells[table.columns.size() - 2], "max-time, can go on");
  EXPECT_EQ(table.rows[1].cells[0], "2: head=3xsigmoid replicas=1 epochs=20") << "by the options that differ";
  EXPECT_TRUE(table.notes[1].starts_with("2: head=3xsigmoid replicas=1 epochs=20: best by auc ")) << table.notes[1];
}

TEST(TrainingTables, SizesOfImagesAreShownWhereThereAreSeveral) {
  std::vector<RunRecord> records{exampleTraining()};
  auto& course = records[0].training->course;
  for (EpochRecord& part : course) part.imageSize = 32;
  EXPECT_EQ(headings(evaluationTables(ReportRuns(records)).at(0)).at(4), "accuracy");
  course.front().imageSize = 24;
  const auto shown = evaluationTables(ReportRuns(records)).at(0);
  EXPECT_EQ(headings(shown).at(4), "image size (pixels)");
  EXPECT_EQ(shown.rows[0].cells.at(4), "") << "epoch 4 was in the record of the training that was interrupted";
  EXPECT_EQ(shown.rows[1].cells.at(4), "24");
  EXPECT_EQ(shown.rows[2].cells.at(4), "32");
}

TEST(TrainingTables, TheLastTenEvaluationsAndTheBestAreShown) {
  std::vector<RunRecord> records{exampleTraining()};
  const auto shown = evaluationTables(ReportRuns(records)).at(0);
  EXPECT_EQ(headings(shown), (std::vector<std::string>{"epoch", "update", "split", "training loss", "accuracy", "top5",
                                                       "loss", "took (s)", ""}));
  ASSERT_EQ(shown.rows.size(), 10U);
  EXPECT_EQ(shown.rows[0].cells,
            (std::vector<std::string>{"4.00", "400", "validation", "", "0.8750", "0.9750", "0.2500", "1.0", ""}))
      << "the loss of its steps was in the record of the training that was interrupted";
  EXPECT_EQ(shown.rows[6].cells, (std::vector<std::string>{"10.00", "1000", "validation", "0.1888", "0.9500", "0.9900",
                                                           "0.1000", "1.0", "best"}));
  EXPECT_EQ(shown.rows[9].cells[2], "test");
  EXPECT_EQ(shown.notes, std::vector<std::string>{"10 of 13 evaluations: the last 10"});
  records[0].training->bestStep = 200;
  const auto early = evaluationTables(ReportRuns(records)).at(0);
  ASSERT_EQ(early.rows.size(), 11U);
  EXPECT_EQ(early.rows[0].cells.back(), "best");
  EXPECT_EQ(early.notes, std::vector<std::string>{"11 of 13 evaluations: the last 10 and the best"});
}

TEST(TrainingTables, TimeGoesToStepsEvaluationsCheckpointsAndWhatLiesBetween) {
  const std::vector<RunRecord> records{exampleTraining()};
  const auto table = courseTables(ReportRuns(records)).at(0);
  EXPECT_EQ(table.rows.at(0).cells,
            (std::vector<std::string>{"1: replicas=1", "80.00", "9.00", "3.20", "0.80", "3.44", "0.86"}));
  const Chart& chart = table.charts.at(0);
  EXPECT_EQ(chart.at[0], 45.5);
  EXPECT_EQ(chart.at[1], 55.5);
  EXPECT_EQ(chart.series.at(0).values[1], 160) << "1600 images in 10 s";
  EXPECT_TRUE(std::isnan(chart.series[0].values[2])) << "nothing is trained between two parts";
  ASSERT_EQ(chart.bands.size(), 1U + 8 * 3 + 1);
  const auto isBand = [&](size_t index, const char* name, double from, double to) {
    const ChartBand& band = chart.bands[index];
    EXPECT_EQ(band.name, name);
    EXPECT_EQ(band.from, from);
    EXPECT_EQ(band.to, to);
  };
  isBand(0, "before the resume", 0, 45.5);
  isBand(1, "training", 45.5, 55.5);
  isBand(2, "validation", 55.5, 56.5);
  isBand(3, "saving", 56.5, 56.9);
  isBand(4, "training", 57, 67);
  isBand(24, "test", 137, 138);
}

TEST(TrainingCharts, LossesOfStepsAndEvaluationsLieOverOneAnother) {
  const std::vector<RunRecord> records{exampleTraining()};
  const auto table = trainingTables(ReportRuns(records)).at(0);
  const Chart& loss = chartCalled(table, "loss over epochs");
  ASSERT_EQ(loss.series.size(), 2U);
  EXPECT_EQ(loss.series[0].name, "validation");
  EXPECT_EQ(loss.series[0].at.size(), 12U);
  EXPECT_EQ(loss.series[0].at[11], 12);
  EXPECT_DOUBLE_EQ(loss.series[0].values[9], 0.1);
  EXPECT_EQ(loss.series[1].name, "training");
  EXPECT_EQ(loss.series[1].like, 0) << "in the colour of its evaluations";
  ASSERT_EQ(loss.series[1].at.size(), 100U) << "means of 8 of the 800 losses";
  EXPECT_DOUBLE_EQ(loss.series[1].at[0], 4.08);
  EXPECT_DOUBLE_EQ(loss.series[1].at[99], 12);
  EXPECT_NEAR(loss.series[1].values[99], 2.3 * std::exp(-1196.5 / 400), 1e-5);
  const Chart& times = chartCalled(table, "loss over time");
  EXPECT_EQ(times.series[0].at[4], 56.5);
  EXPECT_DOUBLE_EQ(times.series[1].at[0], 45.5 + 0.8);
  const Chart& rate = chartCalled(table, "learning rate over epochs");
  EXPECT_EQ(rate.series.at(0).at[0], 5);
  EXPECT_EQ(rate.series[0].values, (std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01}));
  EXPECT_EQ(table.charts.size(), 7U) << "nobody has an AUC";
}

TEST(TrainingCharts, BehindTheLastLossAreTheMeansOfParts) {
  std::vector<RunRecord> records{exampleTraining()};
  records[0].losses.resize(250);
  const auto table = trainingTables(ReportRuns(records)).at(0);
  EXPECT_EQ(table.rows[0].cells[6], fixed(2.3 * std::exp(-3), 4)) << "the mean of the last part";
  const ChartSeries& steps = chartCalled(table, "loss over epochs").series.at(1);
  ASSERT_EQ(steps.at.size(), 84U + 5) << "3 losses each, the part that they end in is left out";
  EXPECT_EQ(steps.at[83], 6.5);
  EXPECT_EQ(steps.at[84], 8);
  EXPECT_DOUBLE_EQ(steps.values[84], 2.3 * std::exp(-2));
}

TEST(TrainingCharts, SeveralTrainingsLieOverOneAnotherWithTheirNames) {
  const auto table = trainingTables(ReportRuns(two())).at(0);
  const Chart& loss = chartCalled(table, "loss over epochs");
  ASSERT_EQ(loss.series.size(), 4U);
  EXPECT_EQ(loss.series[1].name, "2: head=3xsigmoid replicas=1 epochs=20, validation");
  EXPECT_EQ(loss.series[3].name, "2: head=3xsigmoid replicas=1 epochs=20, training");
  EXPECT_EQ(loss.series[3].like, 1);
  const Chart &top5 = chartCalled(table, "top5 over time"), &auc = chartCalled(table, "auc over time");
  EXPECT_TRUE(top5.series.at(1).values.empty() && auc.series.at(0).values.empty()) << "one has flags, the other none";
  EXPECT_EQ(top5.series[0].values.size(), 12U);
  EXPECT_EQ(auc.series.at(1).values.size(), 12U) << "the series of its index, for its colour";
}

TEST(TrainingCharts, WithoutEvaluationsThereIsTheLossOfSteps) {
  std::vector<RunRecord> records{exampleTraining()};
  records[0].training->evaluations.clear();
  const auto table = trainingTables(ReportRuns(records)).at(0);
  ASSERT_EQ(table.charts.size(), 3U) << "loss twice, and the rate";
  EXPECT_TRUE(table.charts[0].series.at(0).values.empty());
  EXPECT_EQ(table.charts[0].series.at(1).values.size(), 100U);
  EXPECT_TRUE(evaluationTables(ReportRuns(records)).empty());
}

TEST(TrainingEnd, SaysWhatBecameOfItAndHowItGoesOn) {
  const RunRecord finished = exampleTraining();
  std::ostringstream text;
  const RendererEntry& format = find(renderers(), "table", "format");
  printTrainingEnd(finished, format, text, text);
  const auto at = [&](const std::string& part) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << '\n' << text.str();
    return text.str().find(part);
  };
  EXPECT_EQ(at("Trainings\n"), 0U);
  EXPECT_LT(at("Trainings\n"), at("\n\nEvaluations\n"));
  EXPECT_LT(at("\n\nEvaluations\n"), at("\n\nMost confused classes, validation\n"));
  EXPECT_LT(at("\n\nMost confused classes, test\n"), at("\n\nWhere a training's time goes\n"));
  EXPECT_LT(at("\n\nWhere a training's time goes\n"), at("\n\nall runs: "));
  at("input: waiting for batches takes 10.0 % of a step");
  EXPECT_EQ(text.str().find("go on with"), std::string::npos);
  RunRecord stopped = two()[1];
  stopped.notes = {"a note\nin two lines"};
  std::ostringstream out, people;
  printTrainingEnd(stopped, find(renderers(), "json", "format"), out, people);
  EXPECT_TRUE(out.str().starts_with("[")) << out.str();
  EXPECT_NE(people.str().find("\nnote: a note in two lines\n"), std::string::npos) << people.str();
  EXPECT_NE(people.str().find("\ngo on with: tandem train "), std::string::npos);
  EXPECT_NE(people.str().find(" --resume=auto"), std::string::npos) << people.str();
  EXPECT_NE(people.str().find("AUC by class\n"), std::string::npos) << people.str();
}

}  // namespace
}  // namespace tandem
