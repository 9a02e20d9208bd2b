#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// An image of which a network predicted what is wrong. Of an image with flags, the flag of which it was the surest.
struct WrongPrediction {
  static constexpr int32_t none = -1;

  int64_t index = 0;              ///< in its split
  std::string image = {};         ///< its file, or its number, as the data set calls it
  int32_t label = none;           ///< its class; of flags: the flag that it has and that was not predicted, or none
  int32_t predicted = none;       ///< the class that was predicted; of flags: the flag that it does not have, or none
  double score = 0;               ///< probability, by the network, of what it predicted; 0 to 1
  std::vector<uint8_t> png = {};  ///< its picture for who shows the run at its end; no file keeps it

  bool operator==(const WrongPrediction&) const = default;
};

/// What a network made of the images of a split at one time of its training.
struct EvaluationRecord {
  static constexpr double none = -1;  ///< of a metric that the head does not have

  std::string split = {};  ///< name of a row of dataSplits()
  double epoch = 0;        ///< passes over the training images until then
  int64_t step = 0;        ///< updates until then
  Nanos at{};              ///< since the training began, when the evaluation ended
  Nanos wall{};            ///< that it took
  bool averaged = false;   ///< whether the weights are the average of --ema
  int64_t images = 0;
  double loss = 0;         ///< mean over the images
  double accuracy = none;  ///< share of images whose class has the highest output; of flags: of flags told rightly
  double top5 = none;      ///< share of images whose class is among the five highest
  double auc = none;       ///< mean over the classes that have one
  std::vector<double> classAuc = {};  ///< of each class; `none` where all images have it, or none; empty without flags
  std::vector<int64_t> confusion = {};      ///< [class, predicted]; of the last evaluation of a split only, else empty
  std::vector<WrongPrediction> wrong = {};  ///< the surest first; of the last evaluation of a split only, else empty

  bool operator==(const EvaluationRecord&) const = default;
};

/// A part of a training between two evaluations, or its whole last part.
struct EpochRecord {
  double epoch = 0;    ///< passes over the training images at its end
  int64_t step = 0;    ///< updates at its end
  double loss = 0;     ///< mean over its steps
  double rate = 0;     ///< learning rate of its last step
  Nanos training{};    ///< of its steps
  Nanos evaluating{};  ///< behind them
  Nanos saving{};      ///< that training waited for checkpoints
  Nanos idle{};  ///< between its last step and the evaluation's first image, and back: neither trains nor evaluates
  int64_t imageSize = 0;  ///< height and width of its images, in pixels; 0: not known

  bool operator==(const EpochRecord&) const = default;
};

/// The course of a training (`tandem train`).
struct TrainingRecord {
  static constexpr int64_t mostLosses = 100'000;  ///< that RunRecord::losses holds of a training, its first

  double epochs = 0;                 ///< that it has made, with those before it was resumed
  int64_t steps = 0;                 ///< likewise updates
  int64_t images = 0;                ///< of an epoch
  std::vector<std::string> classes;  ///< their names; empty: the data set has none
  std::string ended;         ///< why it ended before --epochs: "stop-at", "max-time", "signal"; empty: it did not
  bool interrupted = false;  ///< whether its user did not want it to end here: it can go on, or was stopped by a signal
  std::vector<EpochRecord> course;            ///< from the start or the last resume on
  std::vector<EvaluationRecord> evaluations;  ///< those before a resume too
  int64_t resumedAt = -1;                     ///< updates of the checkpoint that it went on from; -1: it began anew
  std::string changed;                        ///< what --allow-changes let differ from the checkpoint; empty: nothing
  int64_t bestStep = -1;                      ///< updates of the best weights; -1: no evaluation
  std::string bestMetric;                     ///< by which they are the best
  int64_t checkpoints = 0;                    ///< that were written
  Nanos toTarget{};      ///< from the first step until --stop-at was reached; 0: it was not, or not asked for
  int64_t wentBack = 0;  ///< times that --on-nan=back went to the last checkpoint

  bool operator==(const TrainingRecord&) const = default;
};

}  // namespace tandem
