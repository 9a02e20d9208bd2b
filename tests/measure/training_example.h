#pragma once

#include <cmath>

#include "measure/record_example.h"

namespace tandem {

/// Of 500 images of 10 classes: `wrong` of the 50 of a class, or one or two more, are taken for the next class, those
/// of class 3 for class 5.
inline std::vector<int64_t> exampleConfusion(int64_t wrong) {
  constexpr size_t classes = 10;
  std::vector<int64_t> matrix(classes * classes);
  for (size_t k = 0; k < classes; ++k) {
    const size_t taken = k == 3 ? 5 : (k + 1) % classes;
    const int64_t missed = wrong + static_cast<int64_t>(k % 3);
    matrix[k * classes + k] = 50 - missed;
    matrix[k * classes + taken] = missed;
  }
  return matrix;
}

/// The evaluation after epoch `epoch` of exampleTraining(): accuracy and loss get better until epoch 10.
inline EvaluationRecord exampleEvaluation(int epoch) {
  const double missed = 0.5 / epoch + (epoch > 10 ? 0.02 * (epoch - 10) : 0);
  return {.split = "validation",
          .epoch = static_cast<double>(epoch),
          .step = 100 * epoch,
          .at = millis(11'500.0 * epoch - (epoch > 4 ? 1000 : 500)),
          .wall = millis(1000),
          .averaged = false,
          .images = 500,
          .loss = 2 * missed,
          .accuracy = 1 - missed,
          .top5 = 1 - missed / 5,
          .classAuc = {},
          .confusion = {}};
}

/// A training of 12 epochs of 1600 images, 100 updates each, on one replica. It was interrupted after epoch 4 and went
/// on. An epoch takes 10 s, its evaluation 1 s, its checkpoint 0.4 s, and 0.1 s nothing is done. There are 12
/// evaluations of the validation images, the 10th the best, and one of the test images at the end.
inline RunRecord exampleTraining() {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.config.training.epochs = 12;
  record.config.training.checkpoint = "ck";
  record.config.training.resume = "auto";
  record.config.input.data = record.placement.data = "shapes";
  record.config.input.augment = record.placement.augment = "standard";
  record.placement.dataImages = 1600;
  record.warmup = {0, Nanos{}, true};
  record.losses.clear();
  for (int step = 401; step <= 1200; ++step) record.losses.push_back(2.3 * std::exp(-step / 400.0));
  TrainingRecord& training = record.training.emplace();
  training.epochs = 12, training.steps = 1200, training.images = 1600;
  for (int k = 0; k < 10; ++k) training.classes.push_back("shape " + std::to_string(k));
  training.resumedAt = 400;
  training.bestStep = 1000, training.bestMetric = "accuracy";
  training.checkpoints = 8;
  for (int epoch = 5; epoch <= 12; ++epoch) {
    training.course.push_back({.epoch = static_cast<double>(epoch),
                               .step = 100 * epoch,
                               .loss = 2.3 * std::exp(-epoch / 4.0),
                               .rate = epoch <= 8 ? 0.1 : 0.01,
                               .training = millis(10'000),
                               .evaluating = millis(1000),
                               .saving = millis(400),
                               .idle = millis(100)});
  }
  for (int epoch = 1; epoch <= 12; ++epoch) training.evaluations.push_back(exampleEvaluation(epoch));
  training.evaluations.back().confusion = exampleConfusion(4);
  training.evaluations.push_back(exampleEvaluation(12));
  EvaluationRecord& test = training.evaluations.back();
  test.split = "test", test.at += millis(1000), test.accuracy -= 0.01, test.confusion = exampleConfusion(5);
  training.course.back().evaluating += test.wall;
  record.startup = millis(500);
  record.wall = record.startup + 8 * millis(11'500) + test.wall + millis(200);
  return record;
}

/// A PNG of one grey pixel.
inline std::vector<uint8_t> examplePng() {
  return {0x89, 'P',  'N',  'G',  0x0D, 0x0A, 0x1A, 0x0A, 0,    0,    0,    0x0D, 'I',  'H',  'D',  'R',  0,
          0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,    0,    0x3A, 0x7E, 0x9B, 0x55, 0,
          0,    0,    0x0A, 'I',  'D',  'A',  'T',  0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
          0x77, 0xCD, 0x72, 0xB6, 0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xAE, 0x42, 0x60, 0x82};
}

/// exampleTraining() with two wrong predictions of the last validation and one of the test.
inline RunRecord exampleWithWrongPredictions() {
  RunRecord record = exampleTraining();
  auto& evaluations = record.training->evaluations;
  evaluations[11].wrong = {{.index = 7, .image = "shapes image 7", .label = 3, .predicted = 5, .score = 0.9961},
                           {.index = 2, .image = "shapes image 2", .label = 0, .predicted = 1, .score = 0.75}};
  evaluations[12].wrong = {{.index = 7, .image = "shapes image 7", .label = 4, .predicted = 5, .score = 0.5}};
  return record;
}

/// The same where each image has some of three flags; the last class is one that no image has.
inline RunRecord exampleFlagsTraining() {
  RunRecord record = exampleTraining();
  record.config.network.head = "3xsigmoid";
  TrainingRecord& training = *record.training;
  training.classes = {"round", "red", "rare"};
  training.bestMetric = "auc";
  for (EvaluationRecord& evaluation : training.evaluations) {
    evaluation.top5 = EvaluationRecord::none;
    evaluation.confusion.clear();
    evaluation.auc = evaluation.accuracy - 0.01;
    evaluation.classAuc = {evaluation.auc - 0.02, evaluation.auc + 0.02, EvaluationRecord::none};
  }
  return record;
}

}  // namespace tandem
