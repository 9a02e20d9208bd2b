#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option networkOptions[] = {
    // clang-format off
    often(onAll, {"model", trained, "", "NAME", "the network: a name, or the path of a file, NAME.json or NAME.onnx",
     onAll, field<&Network::model>, Values::namesOrFile, work, nullptr, {}, {}, FileUse::read}),
    {"classes", trained, "", "N", "classes of the network; 0 takes those of the data, or the model's own",
     onAll, field<&Network::classes>, Values::any, work, within<&Network::classes, 0, mostClasses>},
    {"head", trained, "", "[N]xKIND",
     "what the outputs mean and with it the loss: softmax (one class per image) or sigmoid (any of them, each by itself); "
     "14xsigmoid gives the classes too; auto is the model's own", onAll, field<&Network::head>, Values::any, work, head},
    {"image-size", trained, "pixels", "N", "height and width of an input image; 0 takes the model's own",
     onAll, field<&Network::imageSize>, Values::any, work, zeroOrWithin<&Network::imageSize, leastImageSize, mostImageSize>},
    often(onBench, {"precision", trained, "", "NAME", "type of activations and of the weights that kernels read",
     onAll, field<&Numerics::precision>, Values::names, rounding, nullptr}),
    {"layout", trained, "", "NAME",
     "memory order of activations; auto measures on a CPU whether nhwc or blocked is faster, and is nhwc elsewhere", onAll,
     field<&Numerics::layout>, Values::names, axis, nullptr},
    {"convolution", trained, "", "NAME",
     "algorithm of the planned executor's convolutions on a CPU; auto measures for each pass of each which is fastest, "
     "on a GPU among ATen's and cuDNN's engines; direct is ATen's there",
     onAll, field<&Numerics::convolution>, Values::names, axis, nullptr},
    {"kernel-replicas", trained, "", "N",
     "replicas that compute at once while kernels are measured on a CPU; 0 takes the most of the sweep with as many threads, "
     "so that its points run the same kernels", onBench, field<&Numerics::kernelReplicas>, Values::any, oneValue,
     within<&Numerics::kernelReplicas, 0, 4096>},
    {"accuracy", trained, "", "X",
     "what --convolution=auto may take on a CPU: algorithms with at most X times the rounding error of direct, measured "
     "for each pass of each convolution", onAll, field<&Numerics::accuracy>, Values::any, axis,
     atLeastOne<&Numerics::accuracy>},
    {"pad-images", trained, "", "NAME",
     "channels of zeros behind an image's own, up to a multiple, for the first convolution of the planned executor; auto "
     "measures on a GPU which is fastest, and is none on a CPU", onAll, field<&Numerics::padImages>,
     Values::names, axis, nullptr},
    {"executor", trained, "", "NAME", "what runs the network forward and backward", onAll, field<&Numerics::executor>,
     Values::names, axis, nullptr},
    {"recompute", trained, "", "NAME",
     "activations that backward recomputes instead of keeping them (checkpointing): less memory, more time, the same gradients", onSteps,
     field<&Numerics::recompute>, Values::names, axis, nullptr},
    keepingBits({"cuda-graph", trained, "", "NAME",
     "capture the step once and launch it as a CUDA graph, or as several with the exchange on the host between them; "
     "auto captures wherever it can", onSteps,
     field<&Numerics::cudaGraph>, Values::names, axis, nullptr}),
    keepingBits({"in-flight", trained, "steps", "N",
     "steps that the host may enqueue ahead of a GPU", onSteps, field<&Numerics::inFlight>,
     Values::any, axis, within<&Numerics::inFlight, 1, 1024>}),

    keepingBits(often(onImages | onEval, {"weights", from, "", "FILE", "trained weights to start from: safetensors, or a state dict of torch.save (.pth)",
     onAll, field<&Network::weights>, Values::any, axis, nullptr, {}, {}, FileUse::read})),
    keepingBits({"weights-map", from, "", "NAME", "whose names and memory orders the file of --weights has", onAll,
     field<&Network::weightsMap>, Values::names, axis, nullptr}),
    keepingBits({"reset-head", from, "", "", "keep the initial values of the classifier, whatever --weights says of it", onSteps,
     field<&Network::resetHead>, Values::any, axis, nullptr}),
    keepingBits({"reject-nonfinite", from, "", "", "refuse weights with values that are not finite, instead of a warning",
     onAll, field<&Network::rejectNonfinite>, Values::any, axis, nullptr}),
    {"save-weights", from, "", "FILE", "where the weights go after the last step, as safetensors", onSteps,
     field<&Output::saveWeights>, Values::any, oneValue, saveWeights, {}, {}, FileUse::replaced},
    // clang-format on
};

}  // namespace tandem::option_rows
