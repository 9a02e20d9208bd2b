#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tandem {

struct LossAndGradient {
  at::Tensor loss;      ///< [] fp32, the mean over the rows
  at::Tensor gradient;  ///< like the logits: d loss / d logits, for a mean over `divisor` rows
};

/// Softmax cross-entropy with label smoothing, computed in fp32 in one pass. The targets are (1 - s) one-hot + s / K.
/// logits [N, K] float or bfloat16, labels [N] int64 in [0, K). The loss is the sum over rows / N. The gradient is
/// (softmax - target) / divisor; `divisor` is N where replicas have equal batches. Labels may be shares of the classes
/// instead, [N, K] float, which take the place of one-hot; then it is a few ATen calls.
///
/// `classWeights` [K] float on that device: each class's term of the loss is multiplied by its weight, as in PyTorch's
/// CrossEntropyLoss. But the sum is divided by N, not by the sum of the labels' weights: so replicas and micro-batches
/// make the update of their joined batch. Undefined: all are 1. Then too it is a few ATen calls. Throws DataError for a
/// label out of range; on a GPU such a label makes the loss NaN.
LossAndGradient softmaxCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                    double divisor, const at::Tensor& classWeights = {});

/// The same in fp64 with ATen operations: the oracle.
LossAndGradient softmaxCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                             double divisor, const at::Tensor& classWeights = {});

/// Binary cross-entropy of sigmoid(logits), output by output, computed in fp32. Label smoothing makes the targets (1 -
/// s) label + s / 2. logits [N, K] float or bfloat16, labels [N, K] uint8 of 0 and 1. The loss is the mean over all N K
/// elements. The gradient is (sigmoid - target) / (divisor K); `divisor` is N where replicas have equal
/// batches. Labels may be shares instead, [N, K] float from 0 to 1. Throws DataError for any other label; on a GPU such
/// a label makes the loss NaN. A few ATen calls suffice: these tensors are far smaller than any activation.
/// `classWeights` [K] float on that device: the term of a positive label is multiplied by its output's weight, as by
/// pos_weight of PyTorch's BCEWithLogitsLoss. Undefined: all are 1.
LossAndGradient binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing, double divisor,
                                   const at::Tensor& classWeights = {});

/// The same in fp64 with libtorch's loss and autograd: the oracle.
LossAndGradient binaryCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                            double divisor, const at::Tensor& classWeights = {});

/// Binary cross-entropy of labels that are one class per image, as timm's BinaryCrossEntropy, computed in fp32: each
/// output is judged by itself, though an image has one class. Targets are (1 - s) one-hot + s / K. With a `threshold`
/// below 1 those above it become 1, and all others 0. logits and labels are those of softmaxCrossEntropy(): shares of
/// classes take the place of one-hot. Loss, gradient, `divisor` and `classWeights` are those of binaryCrossEntropy():
/// means over rows and classes. Throws DataError for a label out of range; on a GPU such a label makes the loss NaN.
LossAndGradient oneHotBinaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                         double divisor, double threshold, const at::Tensor& classWeights = {});

/// The same in fp64 with libtorch's loss and autograd: the oracle.
LossAndGradient oneHotBinaryCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                                  double divisor, double threshold,
                                                  const at::Tensor& classWeights = {});

/// A label of multiboxLoss() has 8 boxes of 5 numbers each: class (0: no further box), then left, top, right and bottom
/// as fractions of the image's size.
inline constexpr int64_t multiboxObjects = 8, multiboxNumbers = 5;

/// Default boxes of SSD-300 (Liu et al. 2015, arXiv:1512.02325), with MLPerf's scales for COCO. [8732, 4] fp32 on the
/// CPU: centre x and y, width and height, as fractions of the image's size. Order: level, kind of box, row, column.
at::Tensor ssdDefaultBoxes();

/// The loss of SSD, in fp32: the mean over the images of
///
///   (smooth L1 of the matched boxes' offsets + cross-entropy of the counted boxes' classes) / matched boxes
///
/// An image without boxes has loss 0. Counted are the matched boxes, and of the unmatched three times as many, those
/// with the largest loss. A default box is matched with the object that it overlaps most if their intersection over
/// union is at least 0.5. It is also matched with an object whose best box it is. Offsets: difference of centres / size
/// of the default box / 0.1, logarithm of the relative size / 0.2. Class 0 is the background. Label smoothing applies
/// to the cross-entropy.
///
/// output [N, (4 + K) * 8732] float or bfloat16: for each image [4 + K, 8732], offsets, then scores of K classes.
/// labels [N, 8, 5] float. `boxes`: ssdDefaultBoxes() on the output's device. The gradient is for a mean over `divisor`
/// images. Throws DataError for a label that is not a box. On a GPU labels are not checked: the function only enqueues
/// work there.
LossAndGradient multiboxLoss(const at::Tensor& output, const at::Tensor& labels, const at::Tensor& boxes,
                             double smoothing, double divisor);

/// The same in fp64 with libtorch's losses and autograd: the oracle of the tests.
LossAndGradient multiboxLossReference(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                      double divisor);

}  // namespace tandem
