#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/record/record_json.h"
#include "measure/training_example.h"

namespace tandem {
namespace {

using nlohmann::json;

std::string failureOf(const json& stored) {
  try {
    recordFromJson(stored);
  } catch (const DataError& failure) {
    return failure.what();
  }
  return "";
}

TEST(TrainingJson, OnlyATrainingHasItsCourse) {
  EXPECT_FALSE(toJson(exampleRecord(2, "replicated", 10)).contains("training"));
  json stored = toJson(fullRecord());
  EXPECT_EQ(stored.at("training").at("course").at(1).at("training_ns"), 30'000'000);
  stored.erase("training");
  EXPECT_FALSE(recordFromJson(stored).training);
}

TEST(TrainingJson, OlderRecordsDoNotSayTheSizeOfImages) {
  json stored = toJson(fullRecord());
  for (json& part : stored.at("training").at("course")) part.erase("image_size");
  EXPECT_EQ(recordFromJson(stored).training->course.at(1).imageSize, 0);
}

TEST(TrainingJson, RoundTripKeepsEveryBit) {
  for (const RunRecord& record : {exampleTraining(), exampleFlagsTraining(), fullRecord()}) {
    const std::string text = toJson(record).dump();
    EXPECT_TRUE(recordFromJson(json::parse(text)) == record);
    EXPECT_EQ(toJson(recordFromJson(json::parse(text))).dump(), text);
  }
}

TEST(TrainingJson, TheFullTrainingLeavesNoMemberAtItsDefault) {
  RunRecord none;
  none.training.emplace().course.emplace_back();
  none.training->evaluations.emplace_back();
  const json standard = toJson(none).at("training").flatten(), full = toJson(fullRecord()).at("training").flatten();
  for (const auto& [name, value] : standard.items())
    EXPECT_TRUE(!full.contains(name) || full.at(name) != value) << name;
}

TEST(TrainingJson, WhatTheHeadDoesNotHaveIsNull) {
  const json stored = toJson(exampleTraining()).at("training");
  EXPECT_TRUE(stored.at("evaluations").at(0).at("auc").is_null());
  EXPECT_EQ(stored.at("evaluations").at(0).at("accuracy"), 0.5);
  EXPECT_TRUE(stored.at("to_target_ns").is_null());
  RunRecord fresh = exampleTraining();
  fresh.training->resumedAt = fresh.training->bestStep = -1;
  EXPECT_TRUE(toJson(fresh).at("training").at("resumed_at").is_null());
  EXPECT_TRUE(toJson(fresh).at("training").at("best_step").is_null());
  EXPECT_TRUE(recordFromJson(toJson(fresh)) == fresh);
}

TEST(TrainingJson, WrongPredictionsAreStoredWithoutTheirPictures) {
  RunRecord record = exampleWithWrongPredictions();
  WrongPrediction& first = record.training->evaluations[11].wrong[0];
  first.predicted = WrongPrediction::none;
  const json stored = toJson(record);
  const json expected{
      {"index", 7}, {"image", "shapes image 7"}, {"label", 3}, {"predicted", nullptr}, {"score", 0.9961}};
  EXPECT_EQ(stored.at("training").at("evaluations").at(11).at("wrong").at(0), expected);
  first.png = examplePng();
  EXPECT_EQ(toJson(record), stored);
  json older = toJson(exampleTraining());
  for (json& evaluation : older.at("training").at("evaluations")) evaluation.erase("wrong");
  EXPECT_TRUE(recordFromJson(older) == exampleTraining()) << "older records do not have them";
  json bothNull = stored;
  bothNull.at("/training/evaluations/11/wrong/0/label"_json_pointer) = nullptr;
  EXPECT_NE(failureOf(bothNull).find("one at most null"), std::string::npos);
}

TEST(TrainingJson, WhatTablesDivideByIsChecked) {
  struct Wrong {
    const char *path, *says;
    json value;
  };
  const Wrong wrongs[] = {
      {"/training/images", "training: images must be above 0", 0},
      {"/training/steps", "training: images must be above 0", -1},
      {"/training/resumed_at", "below resumed_at; they are 1600, 40 and 41", 41},
      {"/training/course/1/step", "training.course[1]: step must be from 0 to steps, 40", 41},
      {"/training/course/1/step", "training.course[1]: step must be from 0 to steps, 40", -1},
      {"/training/course/0/training_ns", "training.course[0]: ", -1},
      {"/training/course/0/evaluating_ns", "training.course[0]: ", -1},
      {"/training/course/0/saving_ns", "training.course[0]: ", -1},
      {"/training/course/0/idle_ns", "they are 30 and, the least, -1 ns", -1},
      {"/training/evaluations/1/images", "training.evaluations[1]: images must be above 0", 0},
      {"/training/evaluations/0/at_ns", "training.evaluations[0]: ", -1},
      {"/training/evaluations/0/wall_ns", "training.evaluations[0]: ", -1},
      {"/training/evaluations/0/confusion", "training.evaluations[0].confusion must be as many rows", {1, 2, 3}},
      {"/training/evaluations/0/confusion", "it has 4 entries, and one below 0", {1, 2, 3, -1}},
      {"/training/evaluations/0/class_auc/1", "'training.evaluations[0].class_auc[1]'", "high"},
      {"/training/evaluations/0/wrong/0/label", "training.evaluations[0].wrong[0]: label and predicted must", -2},
      {"/training/ended", "'training.ended'", 1},
  };
  for (const Wrong& wrong : wrongs) {
    json stored = toJson(fullRecord());
    stored.at(json::json_pointer(wrong.path)) = wrong.value;
    EXPECT_NE(failureOf(stored).find(wrong.says), std::string::npos) << wrong.path << ": " << failureOf(stored);
  }
}

}  // namespace
}  // namespace tandem
