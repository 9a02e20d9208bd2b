#pragma once

#include "kernels/loss/loss_and_gradient.h"

namespace tandem {

/// Boxes of a label of multiboxLoss(), and the numbers of each: class (0: there is no further box), left, top, right
/// and bottom, as fractions of the image's size.
inline constexpr int64_t multiboxObjects = 8, multiboxNumbers = 5;

/// Default boxes of SSD-300 (Liu et al. 2015, arXiv:1512.02325, with MLPerf's scales for COCO): centre x and y, width
/// and height as fractions of the image's size, [8732, 4] fp32 on the CPU. Order: level, kind of box, row, column.
at::Tensor ssdDefaultBoxes();

/// The loss of SSD: mean over the images of (smooth L1 of the offsets of matched default boxes, plus cross-entropy of
/// their classes and of three times as many unmatched ones, those with the largest) / matched boxes; 0 for an image
/// without boxes. A default box is matched with the object that it overlaps most, if their intersection over union is
/// at least 0.5, and with the object whose best it is. Offsets: centre relative to the default box's size / 0.1,
/// logarithm of the relative size / 0.2. Class 0 is the background; label smoothing is that of the cross-entropy.
///
/// output [N, (4 + K) * 8732] float or bfloat16, [4 + K, 8732] of each image: offsets, then scores of K classes; labels
/// [N, 8, 5] float; boxes those of ssdDefaultBoxes(), where the output is. Computed in fp32. The gradient is that of
/// the mean over `divisor` images. Throws DataError for a label that is no box; on a GPU labels are not checked: there
/// it only enqueues, without a copy from the host.
LossAndGradient multiboxLoss(const at::Tensor& output, const at::Tensor& labels, const at::Tensor& boxes,
                             double smoothing, int64_t divisor);

/// The same in fp64 by libtorch's losses and autograd: the oracle of the tests.
LossAndGradient multiboxLossReference(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                      int64_t divisor);

}  // namespace tandem
