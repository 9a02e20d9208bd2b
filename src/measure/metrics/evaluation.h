#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/training_record.h"

namespace tandem {

/// What a network computed of each image of a split, in the order of the data set. Which replica computed it does not
/// matter.
struct EvaluatedImages {
  int64_t classes = 0;
  std::vector<double> losses = {};  ///< of each image
  // Heads of one class per image:
  std::vector<int32_t> labels = {};     ///< empty: the head has flags
  std::vector<int32_t> predicted = {};  ///< the class with the highest output, of equal ones the first
  std::vector<int32_t> place = {};      ///< number of classes whose outputs are higher than that of the label
  std::vector<float> scores = {};       ///< softmax of the predicted class
  // Heads of flags, [images, classes]:
  std::vector<float> outputs = {};
  std::vector<uint8_t> flags = {};

  int64_t images() const { return static_cast<int64_t>(losses.size()); }
  bool hasFlags() const { return labels.empty() && !flags.empty(); }
};

/// Area under the receiver's operating characteristic: the probability that an image with the flag has a higher score
/// than one without it, where equal scores count half (Mann and Whitney). Exact. `EvaluationRecord::none` if all images
/// have the flag, or none. NaN if a score is NaN. REQUIRES: as many flags as scores.
double areaUnderCurve(std::span<const float> scores, std::span<const uint8_t> flags);

/// Loss, accuracy, top5 (of more than five classes), AUC. Without images the loss is 0 and the others are none. The
/// sums are made in the order of the images, so they are the same for any number of replicas. `withConfusion`: fills
/// the confusion matrix too, for heads of one class per image, of at most 1000 classes.
EvaluationRecord evaluated(const EvaluatedImages& images, bool withConfusion);

/// The wrong predictions that the network was the surest of, by their scores, at most `most`: the surest first, of
/// equal ones that with the higher loss, then the first image. Of flags each image counts with its surest wrong one, a
/// flag being predicted where its output is above 0. A score that is not a number comes last. Images have no names.
std::vector<WrongPrediction> surestErrors(const EvaluatedImages& images, int64_t most);

/// A row of the catalog of metrics by which a training is judged.
struct EvaluationMetric {
  std::string_view name, summary;
  double (*of)(const EvaluationRecord&);  ///< EvaluationRecord::none where the head does not have it
  bool higherIsBetter;
  bool ofFlags;  ///< the best for heads of flags
  /// Whether evaluations have it: of flags, or of one class of so many.
  bool (*isOf)(bool flags, int64_t classes);
};

/// accuracy, top5, auc, loss.
std::span<const EvaluationMetric> evaluationMetrics();

/// "accuracy 0.9123, loss 0.2811": the metrics that the evaluation has.
std::string figuresText(const EvaluationRecord& evaluation);

/// Whether `value` is better than `other` by the metric. Anything is better than none, or than what is not finite.
bool isBetter(const EvaluationMetric& metric, double value, double other);

}  // namespace tandem
