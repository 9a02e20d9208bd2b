#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// A row of the operation catalog: the rules that need no tensor. The executor holds the matching call by name.
struct Operation {
  std::string_view name;
  std::string_view summary;
  int inputs;  ///< number of inputs, -1 for two or more

  /// Output shape for one image. Throws UsageError, which states values and rule, when the inputs do not fit. Null
  /// only for `input`.
  ImageShape (*shape)(const Attributes&, std::span<const ImageShape> inputs);

  /// Parameters without node and node name: `Parameter::name` is just "weight" or "bias". Null: none.
  std::vector<Parameter> (*parameters)(const Attributes&, std::span<const ImageShape> inputs);

  /// Counted FLOPs for one image (see forwardFlops). Null: none.
  double (*flops)(const Attributes&, std::span<const ImageShape> inputs, ImageShape output);
};

/// The catalog. Which attributes each row reads, and what it computes ([C, H, W] is one image):
///
/// | operation         | attributes                         | output
/// | input             | none                               | the images; node 0 of every graph
/// | conv              | outputs, kernelH/W, strideH/W,     | cross-correlation over the zero-padded input; weight
/// |                   | padding, groups, bias              | [outputs, C / groups, kernelH, kernelW], bias [outputs]
/// | linear            | outputs, bias                      | W x + b; the input must be flat, [C, 1, 1]
/// | batch_norm        | epsilon, momentum                  | per channel scale * (x - mean) / sqrt(var + epsilon) + shift.
/// |                   |                                    | Training: the batch's mean and biased variance; running =
/// |                   |                                    | (1 - momentum) * running + momentum * batch, with the
/// |                   |                                    | unbiased variance. Evaluation: the running statistics
/// | relu              | none                               | max(x, 0)
/// | add               | none                               | sum of two or more inputs of one shape
/// | max_pool          | kernelH/W, strideH/W, padding      | maximum of each window; padding never wins. Padding is
/// |                   | (symmetric), ceilMode              | at most half the kernel. With ceilMode the last window may
/// |                   |                                    | reach over the edge but starts inside the input or padding
/// | avg_pool          | as max_pool                        | mean of each window; padding counts as zeros
/// | adaptive_avg_pool | poolH, poolW                       | [C, poolH, poolW]: output row i is the mean of the rows
/// |                   |                                    | floor(i H / poolH) up to ceil((i + 1) H / poolH)
/// | global_avg_pool   | none                               | [C, 1, 1]: mean of each channel
/// | subsample         | strideH, strideW                   | every stride-th pixel from 0 (a 1x1 average pool)
/// | pad_channels      | outputs                            | zero channels: (outputs - C) / 2 in front, the rest behind
/// | flatten           | none                               | [C * H * W, 1, 1] in the order C, H, W in every layout
/// | dropout           | probability, in [0, 1)             | training: each element is 0 with this probability, else
/// |                   |                                    | x / (1 - probability). Evaluation: x
std::span<const Operation> operations();

}  // namespace tandem
