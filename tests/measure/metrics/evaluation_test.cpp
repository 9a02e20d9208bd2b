#include "measure/metrics/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tandem {
namespace {

constexpr double none = EvaluationRecord::none;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Scored {
  std::vector<float> scores;
  std::vector<uint8_t> flags;
  double area = 0;
};

/// Areas by sklearn.metrics.roc_auc_score of scikit-learn 1.9.1.
const std::vector<Scored> byScikitLearn{
    {{0.5, 0.5, 0.5, 0.5}, {1, 0, 1, 0}, 0.5},
    {{1, 2, 2, 3}, {0, 0, 1, 1}, 0.875},
    {{3, 2, 2, 1}, {0, 0, 1, 1}, 0.125},
    {{1, 1, 2, 2, 3, 3}, {0, 1, 0, 1, 0, 1}, 0.5},
    {{-1, 0, 0, 0, 1}, {1, 0, 1, 0, 0}, 0.16666666666666669},
    {{0, 1, 1, 1, 1, 1, 2}, {0, 1, 0, 0, 1, 0, 1}, 0.75},
    {{0.5, 0, 0.25, 0.5, 0, 0.25, 0.5, -0.5, -0.75}, {0, 1, 0, 0, 1, 1, 1, 1, 1}, 0.1388888888888889},
    {{-0.5, -0.25, 0, 0, 0, 0, 0.75, 0.5, 0.5, 0.25, 0, -0.5},
     {1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1},
     0.085714285714285729},
    {{0.25, 0.25, -0.5, -0.5, -0.5, 0.25, 0, 0.25, -0.5, 0, -0.25, -0.25, -0.5, 0, 0.25},
     {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0},
     0.80555555555555558},
    {{0, -0.5, -0.75, -1, -0.5, 0.75, -0.25, -0.5, 0, 1, -0.5, 0, -0.25, 0.25, -0.25, 0.25, 0},
     {1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1},
     0.36428571428571432},
    {{0.25, 0, -0.5, 0.25, 0.5, -0.5, 0, -0.75, -0.5, -0.25, 0.5, 0.5, 0, 0, 0, -0.75, -0.25, 0.5, -0.25, -0.5},
     {1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     0.50980392156862742},
    {{-1,   0,   0.75, 0.75, 1,     1.25, -1.25, -0.5, 1.25, -0.75, -1.5, 0,
      0.75, 0.5, 0.75, 0.25, -1.25, 1,    -0.25, 1,    0.75, 1.25,  -1.5, 1},
     {0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0},
     0.375},
    {{0.25, -1,    -1,   -0.75, -0.25, -0.75, 0,    0, 0.75,  0.25, -0.5,  0.5,   0.5, 0.25,  0.25, -0.5,
      0.25, -0.75, 0.25, 0.75,  0.75,  -0.5,  -0.5, 0, -0.25, 0.25, -0.75, -0.75, -1,  -0.25, -0.75},
     {0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1},
     0.28532608695652173},
};

/// The definition: over all pairs of an image with the flag and one without.
double areaByPairs(const Scored& of) {
  double wins = 0, pairs = 0;
  for (size_t a = 0; a < of.scores.size(); ++a) {
    for (size_t b = 0; b < of.scores.size(); ++b) {
      if (of.flags[a] == 0 || of.flags[b] != 0) continue;
      pairs += 1;
      wins += of.scores[a] > of.scores[b] ? 1 : of.scores[a] == of.scores[b] ? 0.5 : 0;
    }
  }
  return wins / pairs;
}

/// Scores of `levels` values, those of flagged images a little higher; 0: of any value.
Scored randomScores(size_t count, int levels, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> level(-levels, levels);
  Scored made;
  for (size_t i = 0; i < count; ++i) {
    made.flags.push_back(random() % 4 == 0 ? 1 : 0);
    const float shift = made.flags.back() != 0 ? 0.5F : 0;
    made.scores.push_back(levels == 0 ? normal(random) + shift : static_cast<float>(level(random)) * 0.25F + shift);
  }
  return made;
}

TEST(AreaUnderCurve, TiesAreAsInScikitLearn) {
  for (const Scored& of : byScikitLearn) EXPECT_NEAR(areaUnderCurve(of.scores, of.flags), of.area, 1e-12);
}

TEST(AreaUnderCurve, IsTheShareOfPairsInOrder) {
  for (const size_t count : {7, 100, 1999, 2000, 4001}) {
    for (const int levels : {0, 1, 3, 1000}) {
      const Scored of = randomScores(count, levels, static_cast<unsigned>(count) + 17);
      EXPECT_NEAR(areaUnderCurve(of.scores, of.flags), areaByPairs(of), 1e-12) << count << ' ' << levels;
    }
  }
}

TEST(AreaUnderCurve, ZeroHasNoSignAndInfinityIsTheHighest) {
  EXPECT_EQ(areaUnderCurve(std::vector<float>{0.0F, -0.0F}, std::vector<uint8_t>{1, 0}), 0.5);
  EXPECT_EQ(areaUnderCurve(std::vector<float>{infinity, -infinity, 3e38F}, std::vector<uint8_t>{1, 0, 0}), 1);
  EXPECT_EQ(areaUnderCurve(std::vector<float>{-infinity, -3e38F, -1e-45F}, std::vector<uint8_t>{1, 0, 0}), 0);
}

TEST(AreaUnderCurve, NeedsImagesOfBothKindsAndNumbers) {
  EXPECT_EQ(areaUnderCurve({}, {}), none);
  EXPECT_EQ(areaUnderCurve(std::vector<float>{1, 2}, std::vector<uint8_t>{1, 1}), none);
  EXPECT_EQ(areaUnderCurve(std::vector<float>{1, 2}, std::vector<uint8_t>{0, 0}), none);
  EXPECT_TRUE(std::isnan(areaUnderCurve(std::vector<float>{1, static_cast<float>(nan)}, std::vector<uint8_t>{1, 0})));
}

TEST(Evaluated, ClassesHaveAccuracyTopFiveAndConfusion) {
  const EvaluatedImages images{.classes = 6,
                               .losses = {1, 2, 3, 6},
                               .labels = {0, 1, 1, 5},
                               .predicted = {0, 2, 1, 0},
                               .place = {0, 4, 0, 5},
                               .outputs = {},
                               .flags = {}};
  const EvaluationRecord record = evaluated(images, /*withConfusion=*/true);
  EXPECT_EQ(record.images, 4);
  EXPECT_EQ(record.loss, 3);
  EXPECT_EQ(record.accuracy, 0.5);
  EXPECT_EQ(record.top5, 0.75) << "the fifth place counts, the sixth does not";
  EXPECT_EQ(record.auc, none);
  EXPECT_TRUE(record.classAuc.empty());
  std::vector<int64_t> confusion(36);
  confusion[0] = confusion[1 * 6 + 2] = confusion[1 * 6 + 1] = confusion[5 * 6] = 1;
  EXPECT_EQ(record.confusion, confusion) << "a row per class, a column per class it was taken for";
  EXPECT_TRUE(evaluated(images, /*withConfusion=*/false).confusion.empty());
}

TEST(Evaluated, FewClassesHaveNoTopFiveAndManyNoConfusion) {
  EvaluatedImages images{
      .classes = 5, .losses = {1}, .labels = {4}, .predicted = {4}, .place = {0}, .outputs = {}, .flags = {}};
  EXPECT_EQ(evaluated(images, true).top5, none);
  EXPECT_EQ(evaluated(images, true).confusion.size(), 25U);
  images.classes = 1000;
  EXPECT_EQ(evaluated(images, true).top5, 1);
  EXPECT_EQ(evaluated(images, true).confusion.size(), 1'000'000U);
  images.classes = 1001;
  EXPECT_TRUE(evaluated(images, true).confusion.empty());
}

TEST(Evaluated, FlagsHaveAnAreaForEachClassThatHasBothKinds) {
  const EvaluatedImages images{.classes = 3,
                               .losses = {0.5, 1.5, 1},
                               .labels = {},
                               .predicted = {},
                               .place = {},
                               .outputs = {1, -1, 0, 2, -1, 0.5, -3, -2, 1},
                               .flags = {0, 1, 0, 1, 0, 0, 1, 0, 0}};
  const EvaluationRecord record = evaluated(images, /*withConfusion=*/true);
  EXPECT_EQ(record.loss, 1);
  EXPECT_EQ(record.classAuc, (std::vector<double>{0.5, 0.75, none})) << "no image has the last flag";
  EXPECT_EQ(record.auc, 0.625) << "over the two";
  EXPECT_DOUBLE_EQ(record.accuracy, 4.0 / 9) << "an output above 0 says that the image has the flag";
  EXPECT_EQ(record.top5, none);
  EXPECT_TRUE(record.confusion.empty());
}

TEST(Evaluated, ManyFlagsAreThoseOfEachClassAlone) {
  constexpr size_t count = 2100, classes = 19;
  std::vector<Scored> columns;
  EvaluatedImages images{.classes = classes, .losses = std::vector<double>(count, 1.0)};
  images.outputs.resize(count * classes), images.flags.resize(count * classes);
  for (size_t k = 0; k < classes; ++k) {
    columns.push_back(randomScores(count, static_cast<int>(k % 3), static_cast<unsigned>(k)));
    for (size_t i = 0; i < count; ++i) {
      images.outputs[i * classes + k] = columns[k].scores[i], images.flags[i * classes + k] = columns[k].flags[i];
    }
  }
  images.outputs[3 * classes + 17] = static_cast<float>(nan);
  const EvaluationRecord record = evaluated(images, /*withConfusion=*/false);
  ASSERT_EQ(record.classAuc.size(), classes);
  for (size_t k = 0; k < classes; ++k) {
    if (k == 17) continue;
    EXPECT_EQ(record.classAuc[k], areaUnderCurve(columns[k].scores, columns[k].flags)) << k;
  }
  EXPECT_TRUE(std::isnan(record.classAuc[17]) && std::isnan(record.auc)) << "an output was no number";
}

TEST(Evaluated, WithoutImagesNothingIsKnown) {
  const EvaluationRecord record = evaluated({.classes = 10}, /*withConfusion=*/true);
  EXPECT_EQ(record, EvaluationRecord());
  EXPECT_EQ(record.accuracy, none);
  const EvaluatedImages alike{.classes = 2, .losses = {1}, .outputs = {1, 1}, .flags = {1, 0}};
  EXPECT_EQ(evaluated(alike, true).auc, none) << "no class has images of both kinds";
  EXPECT_EQ(evaluated(alike, true).accuracy, 0.5);
}

TEST(SurestErrors, OfClassesHaveTheHighestScoresThenLossesThenTheFirstImages) {
  const EvaluatedImages images{.classes = 3,
                               .losses = {1, 2, 3, 3, 0.1, 5, 4, 1},
                               .labels = {0, 0, 0, 2, 1, 1, 1, 0},
                               .predicted = {1, 2, 2, 0, 1, 2, 0, 2},
                               .place = {},
                               .scores = {0.5, 0.75, 0.75, 0.75, 1, static_cast<float>(nan), 0.25, 0.875}};
  const auto numbersOf = [&](int64_t most) {
    std::vector<int64_t> numbers;
    for (const WrongPrediction& error : surestErrors(images, most)) numbers.push_back(error.index);
    return numbers;
  };
  EXPECT_EQ(numbersOf(10), (std::vector<int64_t>{7, 2, 3, 1, 0, 6, 5})) << "image 4 was told rightly";
  EXPECT_EQ(numbersOf(3), (std::vector<int64_t>{7, 2, 3}));
  EXPECT_TRUE(numbersOf(0).empty());
  const WrongPrediction expected{.index = 3, .label = 2, .predicted = 0, .score = 0.75};
  EXPECT_EQ(surestErrors(images, 3).back(), expected);
}

TEST(SurestErrors, OfFlagsTakeOfEachImageTheOneFurthestOff) {
  const EvaluatedImages images{.classes = 3,
                               .losses = {1, 1, 1, 1},
                               .outputs = {-2, 1, -3,  // missed 0, saw 1 that is not there
                                           4, -1, -1,  // all right
                                           -1, 3, 0,   // saw 1
                                           static_cast<float>(nan), -1, 1},
                               .flags = {1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1}};
  const auto errors = surestErrors(images, 5);
  const auto isError = [&](size_t place, int64_t index, int32_t label, int32_t predicted, double score) {
    EXPECT_EQ(errors[place].index, index);
    EXPECT_EQ(errors[place].label, label);
    EXPECT_EQ(errors[place].predicted, predicted);
    EXPECT_NEAR(errors[place].score, score, 1e-12);
  };
  ASSERT_EQ(errors.size(), 2U) << "an output that is not a number is no prediction";
  isError(0, 2, WrongPrediction::none, 1, 1 / (1 + std::exp(-3.0)));
  isError(1, 0, 0, WrongPrediction::none, 1 / (1 + std::exp(-2.0)));
}

TEST(EvaluationMetrics, EachReadsItsFieldAndKnowsWhatIsBetter) {
  const EvaluationRecord record{.loss = 4, .accuracy = 1, .top5 = 2, .auc = 3};
  double expected = 0;
  for (const EvaluationMetric& metric : evaluationMetrics()) {
    EXPECT_EQ(metric.of(record), ++expected) << metric.name;
    const bool falls = metric.name == "loss";
    EXPECT_EQ(isBetter(metric, 0.5, 0.25), !falls) << metric.name;
    EXPECT_EQ(isBetter(metric, 0.25, 0.5), falls) << metric.name;
    EXPECT_FALSE(isBetter(metric, 0.5, 0.5)) << metric.name;
    for (const double nothing : {none, nan, static_cast<double>(infinity)}) {
      EXPECT_TRUE(isBetter(metric, 0.5, nothing)) << metric.name << nothing;
      EXPECT_FALSE(isBetter(metric, nothing, 0.5)) << metric.name << nothing;
    }
    EXPECT_EQ(metric.ofFlags, metric.name == "auc");
  }
  EXPECT_EQ(expected, 4);
}

}  // namespace
}  // namespace tandem
