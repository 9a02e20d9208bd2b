#pragma once

#include "measure/record/json_fields.h"
#include "measure/record/training_record.h"

namespace tandem {

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<WrongPrediction> wrong) {
  archive.field("index", wrong.index);
  archive.field("image", wrong.image);
  archive.measured("label", wrong.label, WrongPrediction::none);
  archive.measured("predicted", wrong.predicted, WrongPrediction::none);
  archive.field("score", wrong.score);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<EvaluationRecord> evaluation) {
  archive.field("split", evaluation.split);
  archive.field("epoch", evaluation.epoch);
  archive.field("step", evaluation.step);
  archive.field("at_ns", evaluation.at);
  archive.field("wall_ns", evaluation.wall);
  archive.field("averaged", evaluation.averaged);
  archive.field("images", evaluation.images);
  archive.field("loss", evaluation.loss);
  archive.measured("accuracy", evaluation.accuracy, EvaluationRecord::none);
  archive.measured("top5", evaluation.top5, EvaluationRecord::none);
  archive.measured("auc", evaluation.auc, EvaluationRecord::none);
  archive.field("class_auc", evaluation.classAuc);
  archive.field("confusion", evaluation.confusion);
  archive.addedObjects("wrong", evaluation.wrong);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<EpochRecord> epoch) {
  archive.field("epoch", epoch.epoch);
  archive.field("step", epoch.step);
  archive.field("loss", epoch.loss);
  archive.field("rate", epoch.rate);
  archive.field("training_ns", epoch.training);
  archive.field("evaluating_ns", epoch.evaluating);
  archive.field("saving_ns", epoch.saving);
  archive.field("idle_ns", epoch.idle);
  archive.added("image_size", epoch.imageSize);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<TrainingRecord> training) {
  archive.field("epochs", training.epochs);
  archive.field("steps", training.steps);
  archive.field("images", training.images);
  archive.field("classes", training.classes);
  archive.field("ended", training.ended);
  archive.field("interrupted", training.interrupted);
  archive.objects("course", training.course);
  archive.objects("evaluations", training.evaluations);
  archive.measured("resumed_at", training.resumedAt, int64_t{-1});
  archive.field("changed", training.changed);
  archive.measured("best_step", training.bestStep, int64_t{-1});
  archive.field("best_metric", training.bestMetric);
  archive.field("checkpoints", training.checkpoints);
  archive.measured("to_target_ns", training.toTarget);
  archive.field("went_back", training.wentBack);
}

}  // namespace tandem
