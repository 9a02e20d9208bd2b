#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option imageOptions[] = {
    // clang-format off
    {"resize", seen, "pixels", "N", "shorter side of an image before the centre crop; 0 takes 256/224 of --image-size",
     onImages | onEval | onTrain, field<&Inference::resize>, Values::any, oneValue, zeroOrWithin<&Inference::resize, 8, 16384>},
    {"interpolation", seen, "", "NAME", "how images are scaled for --resize; for training images see --augment", onImages | onEval | onTrain,
     field<&Inference::interpolation>, Values::names, oneValue, nullptr},
    withBits(Bits::changed, {"normalization", seen, "", "NAME",
     "mean and deviation by which pixels are normalised; auto is those of the training images, for image files those of "
     "ImageNet", onAll, field<&Inference::normalization>, Values::names, oneValue, nullptr}),
    withBits(Bits::byEvaluation, {"views", seen, "", "NAME",
     "views of an image whose outputs are averaged where a network is evaluated (test-time augmentation)",
     onImages | onEval | onTrain, field<&Inference::views>, Values::names, oneValue, nullptr}),
    withBits(Bits::changed, {"bad-image", seen, "", "NAME",
     "what becomes of an image that cannot be read: it ends the run, is left out (in training the next one takes its place), "
     "or is black", onAll, field<&Inference::badImage>, Values::names, oneValue, nullptr}),
    often(onPredict, {"top", seen, "classes", "N", "classes shown of each image, the best first; 0 shows all", onPredict, field<&Inference::top>,
     Values::any, oneValue, within<&Inference::top, 0, million>}),
    {"scores", seen, "", "NAME", "what outputs are shown as; auto is what the head says", onPredict, field<&Inference::scores>, Values::names, oneValue,
     nullptr},
    often(onPredict, {"class-names", seen, "", "FILE", "names of the classes, one a line", onPredict, field<&Inference::classNames>, Values::any,
     oneValue, nullptr, {}, {}, FileUse::read}),
    {"json", seen, "", "", "print JSON", onImages | onEval, field<&Inference::json>, Values::any, oneValue, nullptr},
    // clang-format on
};

}  // namespace tandem::option_rows
