#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option trainingOptions[] = {
    // clang-format off
    often(onTrain, {"recipe", course, "", "NAME|FILE",
     "options of a training that is known to work, for all that are not typed; 'tandem list recipes' shows them", onTrain,
     field<&Training::recipe>, Values::any, oneValue, nullptr}),
    often(onTrain, {"epochs", course, "", "X", "passes over the training images; a part of one is possible, as 0.5", onTrain,
     field<&Training::epochs>, Values::any, results, positive<&Training::epochs>, "none: it must be given"}),
    {"train-size", course, "pixels", "N+N@X...",
     "height and width of training images where they are less than --image-size, which evaluations have; several with the "
     "epochs after which they follow, as 128+160@6+192@12", onTrain, field<&Training::trainSize>, Values::any, work, trainSize},
    withBits(Bits::byEvaluation, {"validate-on", course, "", "NAME",
     "images by which the training is judged while it goes on; auto takes the validation images, or the test images of a "
     "data set without", onTrain, field<&Training::validateOn>, Values::names, oneValue, nullptr}),
    withBits(Bits::byEvaluation, {"validate-every", course, "epochs", "X", "epochs between two evaluations; 0 evaluates at the end alone", onTrain,
     field<&Training::validateEvery>, Values::any, oneValue, within<&Training::validateEvery, 0, million>}),
    {"eval-batch", course, "images", "N", "images per replica in an evaluation; 0 takes --batch", onTrain,
     field<&Training::evalBatch>, Values::any, oneValue, within<&Training::evalBatch, 0, Config::largestBatch>},
    often(onTrain, {"stop-at", course, "", "METRIC:X", "end the training when an evaluation reaches this, as accuracy:0.935",
     onTrain, field<&Training::stopAt>, Values::any, oneValue, stopAt}),
    {"best", course, "", "NAME", "metric by which the best weights are chosen; auto is accuracy, with sigmoid auc", onTrain,
     field<&Training::best>, Values::names, oneValue, nullptr},
    {"save-scores", course, "", "FILE", "where the outputs and labels of the images of the last evaluation go, as safetensors",
     onTrain | onEval, field<&Training::saveScores>, Values::any, oneValue, saveScores, {}, {}, FileUse::replaced},
    {"wrong-images", course, "images", "N",
     "wrong predictions of the last evaluation that are listed, those of which the network was the surest; --page and "
     "--tensorboard show them", onTrain, field<&Training::wrongImages>, Values::any, oneValue,
     within<&Training::wrongImages, 0, Config::mostWrongImages>},
    often(onTrain, {"checkpoint", course, "", "FOLDER",
     "where checkpoints go, and the best weights; another training must not use the folder", onTrain, field<&Training::checkpoint>, Values::any,
     oneValue, nullptr, {}, {}, FileUse::filled}),
    withBits(Bits::byCheckpoint, {"save-every", course, "epochs", "X", "epochs between two checkpoints; 0 saves at the end alone", onTrain,
     field<&Training::saveEvery>, Values::any, oneValue, within<&Training::saveEvery, 0, million>}),
    {"keep", course, "", "N", "checkpoints that are kept, the newest; the best weights stay besides", onTrain, field<&Training::keep>,
     Values::any, oneValue, within<&Training::keep, 1, million>},
    often(onTrain, {"resume", course, "", "NAME", "whether the training goes on from the last checkpoint in --checkpoint", onTrain,
     field<&Training::resume>, Values::names, oneValue, nullptr}),
    {"allow-changes", course, "", "",
     "go on although the configuration, the data or the program is not that of the checkpoint; results say so", onTrain,
     field<&Training::allowChanges>, Values::any, oneValue, nullptr},
    often(onTrain, {"max-time", course, "s", "X", "time after which the training saves a checkpoint and ends with exit code 75; 0 has no limit",
     onTrain, field<&Training::maxTime>, Values::any, oneValue, within<&Training::maxTime, 0, billion>}),
    {"on-nan", course, "", "NAME", "what is done when a loss is not finite", onTrain, field<&Training::onNan>, Values::names,
     oneValue, nullptr},
    {"warmup-epochs", course, "epochs", "X", "epochs in which the learning rate grows in a line to that of --schedule", onTrain,
     field<&Training::warmupEpochs>, Values::any, results, within<&Training::warmupEpochs, 0, million>},
    {"warmup-from", course, "", "X", "share of the learning rate that --warmup-epochs begins with", onTrain,
     field<&Training::warmupFrom>, Values::any, results, fraction<&Training::warmupFrom>},
    {"lr-steps", course, "epochs", "X+X...", "epochs at which the rate falls by --lr-factor, as 30+60+80, with --schedule=piecewise",
     onTrain, field<&Training::lrSteps>, Values::any, results, lrSteps},
    {"lr-factor", course, "", "X", "factor by which the rate falls, with --schedule=piecewise and plateau", onTrain,
     field<&Training::lrFactor>, Values::any, results, share<&Training::lrFactor>},
    {"lr-power", course, "", "X", "power of --schedule=polynomial; 1 is a line", onTrain, field<&Training::lrPower>, Values::any,
     results, positive<&Training::lrPower>},
    {"lr-end", course, "", "X", "share of the rate at the end of --schedule=cosine, polynomial and one-cycle", onTrain,
     field<&Training::lrEnd>, Values::any, results, fraction<&Training::lrEnd>},
    {"patience", course, "", "N", "evaluations without a better loss before the rate falls, with --schedule=plateau", onTrain,
     field<&Training::patience>, Values::any, results, within<&Training::patience, 0, million>},
    {"lr-scaling", course, "", "NAME", "how the rate follows the global batch, which --lr is for --lr-batch of", onTrain,
     field<&Training::lrScaling>, Values::names, results, nullptr},
    {"lr-batch", course, "images", "N", "global batch that --lr is for, with --lr-scaling", onTrain, field<&Training::lrBatch>,
     Values::any, results, within<&Training::lrBatch, 1, Config::largestBatch>},
    {"whiten-epochs", course, "epochs", "X",
     "epochs in which the bias of a whitening convolution is trained, which airbench94 has; 0: in all", onTrain,
     field<&Training::whitenEpochs>, Values::any, results, within<&Training::whitenEpochs, 0, million>},
    // clang-format on
};

}  // namespace tandem::option_rows
