#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option stepOptions[] = {
    // clang-format off
    often(onSteps | onEval, {"batch", step, "images", "N|max",
     "images per replica and step (strong scaling: of all); max finds the largest that fits into memory by trying, "
     "in bench", onAll, field<&Step::batch>, Values::any, axis, within<&Step::batch, 1, Config::largestBatch>,
     "the model's own", {"max", Config::mostThatFits}}),
    {"split", step, "", "equal|measured|X:X...",
     "shares of the replicas in the global batch: equal; measured, by each one's rate in some steps before the run; or "
     "numbers in this ratio, one a replica, as 3:1. All samples count alike in the gradient; images that cannot be shared "
     "out evenly go to the first replicas", onSteps, field<&Step::split>, Values::any, axis, split},
    {"accumulate", step, "parts", "N",
     "parts in which a replica's batch runs before the update: less memory; batch-norm sees one part at a time", onSteps,
     field<&Step::accumulate>, Values::any, axis, within<&Step::accumulate, 1, million>},
    {"lr", step, "", "X", "learning rate", onSteps, field<&Step::learningRate>, Values::any, axis,
     positive<&Step::learningRate>, "the model's own, or the optimizer's"},
    {"schedule", step, "", "NAME", "course of the learning rate over the measured steps", onSteps, field<&Step::schedule>,
     Values::names, axis, nullptr},
    {"optimizer", step, "", "NAME", "rule by which gradients change the weights", onSteps, field<&Step::optimizer>,
     Values::names, axis, nullptr},
    {"momentum", step, "", "X", "momentum of sgd, rmsprop and lars", onSteps, field<&Step::momentum>, Values::any, axis,
     fraction<&Step::momentum>},
    {"nesterov", step, "", "", "use Nesterov's form of momentum, with --optimizer=sgd", onSteps, field<&Step::nesterov>, Values::any, axis,
     nullptr},
    {"adam-beta1", step, "", "X", "decay rate of the first moment of adam, adamw and lamb", onSteps,
     field<&Step::adamBeta1>, Values::any, axis, fraction<&Step::adamBeta1>},
    {"adam-beta2", step, "", "X", "decay rate of the second moment of adam, adamw and lamb", onSteps,
     field<&Step::adamBeta2>, Values::any, axis, fraction<&Step::adamBeta2>},
    {"adam-epsilon", step, "", "X", "added to the denominator of adam, adamw, rmsprop and lamb", onSteps, field<&Step::adamEpsilon>,
     Values::any, axis, positive<&Step::adamEpsilon>},
    {"weight-decay", step, "", "X", "weight decay (L2, but with adamw apart from the gradient)", onSteps, field<&Step::weightDecay>, Values::any, axis,
     within<&Step::weightDecay, 0, million>},
    {"rmsprop-decay", step, "", "X", "decay rate of the second moment of rmsprop", onSteps, field<&Step::rmspropDecay>,
     Values::any, axis, fraction<&Step::rmspropDecay>},
    {"trust", step, "", "X", "length of an update of lars, as a share of the weights' length in each parameter", onSteps,
     field<&Step::trust>, Values::any, axis, positive<&Step::trust>},
    {"clip-norm", step, "", "X", "the most that the length of all gradients together may be, before the update; 0 does not clip",
     onSteps, field<&Step::clipNorm>, Values::any, results, within<&Step::clipNorm, 0, million>},
    {"ema", step, "", "X",
     "decay of an average over the weights and running statistics of all updates; a training evaluates and saves the "
     "average, and its checkpoints hold both; 0 keeps none", onSteps,
     field<&Step::ema>, Values::any, axis, fraction<&Step::ema>},
    {"lookahead", step, "updates", "N",
     "updates after which the weights go back to an average of them (Lookahead), which a training evaluates and saves; 0 does "
     "not", onSteps, field<&Step::lookahead>, Values::any, axis, within<&Step::lookahead, 0, million>},
    {"lookahead-decay", step, "", "X", "share that the average keeps each time, with --lookahead", onSteps,
     field<&Step::lookaheadDecay>, Values::any, axis, betweenZeroAndOne<&Step::lookaheadDecay>},
    {"lookahead-power", step, "", "X",
     "--lookahead-decay grows from 0 with this power of the part of the updates that are made; 0: it is the same in all",
     onSteps, field<&Step::lookaheadPower>, Values::any, axis, within<&Step::lookaheadPower, 0, million>},
    {"shift-rate", step, "", "X",
     "factor of the learning rate of the shifts of normalizations; an update decays them as much as without", onSteps,
     field<&Step::shiftRate>, Values::any, axis, positive<&Step::shiftRate>},
    {"decayed", step, "", "NAME", "parameters that --weight-decay is for", onSteps, field<&Step::decayed>, Values::names,
     results, nullptr},
    {"frozen", step, "", "NAME", "parameters that keep their values", onSteps, field<&Step::frozen>, Values::names, work, nullptr},
    {"class-weights", step, "", "balanced|FILE",
     "weights of the classes in the loss: balanced, by their numbers of training images, or a file with one number a line",
     onSteps, field<&Step::classWeights>, Values::any, results, nullptr},
    {"loss", step, "", "NAME",
     "training loss of one class per image: cross_entropy, or bce, binary cross-entropy of each output by itself; auto is "
     "the model's own; evaluations state cross-entropy", onSteps, field<&Step::loss>, Values::names, results, nullptr},
    {"bce-threshold", step, "", "X",
     "with --loss=bce, targets above it become 1 and all others 0, after label smoothing and mixing; 1 leaves them",
     onSteps, field<&Step::bceThreshold>, Values::any, results, upToOne<&Step::bceThreshold>},
    {"label-smoothing", step, "", "X", "share of a label's weight that is spread over all classes",
     onSteps, field<&Step::labelSmoothing>, Values::any, axis, fraction<&Step::labelSmoothing>},
    {"mixup", step, "", "X",
     "mix each two neighbouring images of a batch, and their labels, in parts drawn from the beta distribution (X, X); 0 "
     "does not", onSteps, field<&Step::mixup>, Values::any, results, within<&Step::mixup, 0, 1000>},
    {"cutmix", step, "", "X",
     "exchange a rectangle of each two neighbouring images of a batch, and as much of their labels; its area is drawn as "
     "--mixup's part; with both, each pair takes one of the two; 0 does not", onSteps, field<&Step::cutmix>, Values::any,
     results, within<&Step::cutmix, 0, 1000>},
    {"seed", step, "", "N", "seed of weights, images and augmentation", onAll, field<&Step::seed>, Values::any, axis,
     within<&Step::seed, 0, INT64_MAX>},
    {"forward-only", step, "", "", "run the network forward only: no gradients, no update", onBench,
     field<&Step::forwardOnly>, Values::any, work, nullptr},
    {"loader-only", step, "", "", "only make the batches and bring them to the devices: nothing is computed", onBench,
     field<&Step::loaderOnly>, Values::any, work, nullptr},
    {"deterministic", step, "", "", "same bits in every run, even where that is slower", onSteps,
     field<&Numerics::deterministic>, Values::any, axis, nullptr},
    // clang-format on
};

}  // namespace tandem::option_rows
