#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "kernels/loss/losses.h"

namespace tandem {
namespace {

constexpr double centreScale = 0.1, sizeScale = 0.2, leastOverlap = 0.5, imageSize = 300;
constexpr int64_t coordinates = 4, negativesPerPositive = 3;

struct Level {
  int size, step, scale, nextScale;  // in pixels, except `size`
  std::vector<double> aspects;
};

const std::vector<Level>& levels() {
  static const std::vector<Level> all{{38, 8, 21, 45, {2}},      {19, 16, 45, 99, {2, 3}}, {10, 32, 99, 153, {2, 3}},
                                      {5, 64, 153, 207, {2, 3}}, {3, 100, 207, 261, {2}},  {1, 300, 261, 315, {2}}};
  return all;
}

std::vector<std::array<double, 2>> sizesOf(const Level& level) {
  const double own = level.scale / imageSize, between = std::sqrt(own * level.nextScale / imageSize);
  std::vector<std::array<double, 2>> sizes{{own, own}, {between, between}};
  for (const double aspect : level.aspects) {
    const double longer = own * std::sqrt(aspect), shorter = own / std::sqrt(aspect);
    sizes.push_back({longer, shorter});
    sizes.push_back({shorter, longer});
  }
  return sizes;
}

/// [..., 4] of centre and size -> [..., 4] of left, top, right, bottom; centres() is the inverse.
at::Tensor corners(const at::Tensor& boxes) {
  const at::Tensor centre = boxes.narrow(-1, 0, 2), half = boxes.narrow(-1, 2, 2) / 2;
  return at::cat({centre - half, centre + half}, -1);
}
at::Tensor centres(const at::Tensor& boxes) {
  const at::Tensor begin = boxes.narrow(-1, 0, 2), end = boxes.narrow(-1, 2, 2);
  return at::cat({(begin + end) / 2, end - begin}, -1);
}

at::Tensor areas(const at::Tensor& boxes) {
  return (boxes.select(-1, 2) - boxes.select(-1, 0)) * (boxes.select(-1, 3) - boxes.select(-1, 1));
}

/// Intersection over union: objects [N, M, 4] and boxes [L, 4] as corners -> [N, M, L].
at::Tensor overlaps(const at::Tensor& objects, const at::Tensor& boxes) {
  const at::Tensor a = objects.unsqueeze(2), b = boxes.view({1, 1, -1, 4});
  const at::Tensor begin = at::maximum(a.narrow(-1, 0, 2), b.narrow(-1, 0, 2));
  const at::Tensor extent = (at::minimum(a.narrow(-1, 2, 2), b.narrow(-1, 2, 2)) - begin).clamp_min(0);
  const at::Tensor common = extent.prod(-1);
  return common / (areas(a) + areas(b) - common);
}

struct Targets {
  at::Tensor classes;  // [N, L] int64, 0: the box matches nothing
  at::Tensor offsets;  // [N, L, 4]
};

// Each box first takes the object that it overlaps most. Then each object claims its best box, so that no object stays
// unmatched; 2.0 is above any overlap. Later objects win a box that two claim.
Targets match(const at::Tensor& labels, const at::Tensor& defaults) {
  const at::Tensor objects = labels.narrow(2, 1, coordinates),
                   isObject = labels.select(2, 0).gt(0);  // [N, M, 4], [N, M]
  const at::Tensor overlap = overlaps(objects, corners(defaults)).masked_fill(~isObject.unsqueeze(2), -1);
  auto [best, object] = overlap.max(1);                    // [N, L]
  const at::Tensor bestBox = std::get<1>(overlap.max(2));  // [N, M]
  for (int64_t m = 0; m < labels.size(1); ++m) {
    const at::Tensor box = bestBox.narrow(1, m, 1), forced = isObject.narrow(1, m, 1);
    object.scatter_(1, box, object.gather(1, box).masked_fill(forced, m));
    best.scatter_(1, box, best.gather(1, box).masked_fill(forced, 2.0));
  }
  const at::Tensor classes = labels.select(2, 0).to(at::kLong).gather(1, object) * best.ge(leastOverlap);
  const at::Tensor matched = centres(objects).gather(1, object.unsqueeze(2).expand({-1, -1, coordinates}));
  const at::Tensor size = defaults.narrow(1, 2, 2);
  const at::Tensor centre = (matched.narrow(2, 0, 2) - defaults.narrow(1, 0, 2)) / size / centreScale;
  // An unmatched box may have an all-zero object, whose logarithm would be infinite.
  const at::Tensor stretch = (matched.narrow(2, 2, 2) / size).clamp_min(1e-6).log() / sizeScale;
  return {classes, at::cat({centre, stretch}, 2)};
}

/// The boxes that count in the classes' loss: the matched ones, and the unmatched ones with the largest loss.
at::Tensor countedBoxes(const at::Tensor& crossEntropy, const at::Tensor& isMatched, const at::Tensor& matched) {
  const at::Tensor others = crossEntropy.masked_fill(isMatched, 0);
  // The rank of each box by descending loss: the inverse permutation of the first argsort.
  const at::Tensor rank = others.argsort(/*stable=*/true, 1, /*descending=*/true).argsort(/*stable=*/true, 1);
  return isMatched.logical_or(rank.lt(negativesPerPositive * matched));
}

/// [N, 4 + K, L]
at::Tensor byBox(const at::Tensor& output) { return output.view({output.size(0), -1, ssdDefaultBoxes().size(0)}); }

void checkShapes(const at::Tensor& output, const at::Tensor& labels, const at::Tensor& defaults, double divisor) {
  const int64_t boxes = ssdDefaultBoxes().size(0);
  check(output.dim() == 2 && output.size(1) % boxes == 0 && output.size(1) / boxes > coordinates + 1,
        "multibox: output [N, (4 + K) * 8732]");
  check(labels.sizes() == at::IntArrayRef({output.size(0), multiboxObjects, multiboxNumbers}),
        "multibox: labels [N, 8, 5]");
  check(defaults.sizes() == ssdDefaultBoxes().sizes(), "multibox: boxes [8732, 4]");
  check(labels.device() == output.device() && defaults.device() == output.device() && divisor > 0,
        "multibox: one device, divisor above 0");
}

void checkLabels(const at::Tensor& labels, int64_t classes) {
  const at::Tensor kind = labels.select(2, 0), size = labels.narrow(2, 3, 2) - labels.narrow(2, 1, 2);
  const at::Tensor isClass = kind.ge(0).logical_and(kind.lt(classes)).logical_and(kind.eq(kind.floor()));
  const at::Tensor isBox = kind.eq(0).logical_or(size.gt(0).all(2).logical_and(labels.isfinite().all(2)));
  const at::Tensor bad = isClass.logical_and(isBox).logical_not().nonzero();
  if (bad.size(0) == 0) return;
  const auto row = bad[0][0].item<int64_t>(), object = bad[0][1].item<int64_t>();
  throw DataError(concat("box ", object, " of row ", row, " of the batch: its class, ", kind[row][object].item<float>(),
                         ", must be from 1 to ", classes - 1,
                         " and right and bottom above left and top; check the data"));
}

/// Target distribution over the classes, with smoothing: [N, K, L].
at::Tensor targetDistribution(const at::Tensor& classes, const at::Tensor& scores, double smoothing) {
  const at::Tensor oneHot = at::zeros_like(scores).scatter_(1, classes.unsqueeze(1), 1);
  return oneHot * (1 - smoothing) + smoothing / static_cast<double>(scores.size(1));
}

}  // namespace

at::Tensor ssdDefaultBoxes() {
  static const at::Tensor boxes = [] {
    std::vector<float> values;
    for (const Level& level : levels()) {
      for (const auto& [width, height] : sizesOf(level)) {
        for (int row = 0; row < level.size; ++row) {
          for (int column = 0; column < level.size; ++column) {
            for (const double v :
                 {(column + 0.5) * level.step / imageSize, (row + 0.5) * level.step / imageSize, width, height}) {
              values.push_back(static_cast<float>(std::min(v, 1.0)));
            }
          }
        }
      }
    }
    return at::tensor(values).view({-1, coordinates});
  }();
  return boxes;
}

LossAndGradient multiboxLoss(const at::Tensor& output, const at::Tensor& labels, const at::Tensor& boxes,
                             double smoothing, double divisor) {
  const at::NoGradGuard noGradients;
  checkShapes(output, labels, boxes, divisor);
  const at::Tensor values = byBox(output).to(at::kFloat);
  const int64_t images = values.size(0), classes = values.size(1) - coordinates;
  if (labels.is_cpu()) checkLabels(labels, classes);
  const Targets targets = match(labels, boxes);
  const at::Tensor isMatched = targets.classes.gt(0);                             // [N, L]
  const at::Tensor matched = isMatched.sum(1, /*keepdim=*/true);                  // [N, 1]
  const at::Tensor weight = matched.gt(0).to(at::kFloat) / matched.clamp_min(1);  // [N, 1], of each counted box

  const at::Tensor difference = values.narrow(1, 0, coordinates) - targets.offsets.transpose(1, 2);
  const at::Tensor size = difference.abs();
  const at::Tensor smoothL1 = at::where(size.lt(1), difference.square() / 2, size - 0.5).sum(1);  // [N, L]
  const at::Tensor logs = at::log_softmax(values.narrow(1, coordinates, classes), 1);
  const at::Tensor target = targetDistribution(targets.classes, logs, smoothing);
  const at::Tensor crossEntropy = -(target * logs).sum(1);  // [N, L]
  const at::Tensor counted = countedBoxes(crossEntropy, isMatched, matched);

  const at::Tensor perBox = smoothL1 * isMatched + crossEntropy * counted;
  const at::Tensor ofBoxes = difference.clamp(-1, 1) * (isMatched * weight).unsqueeze(1);
  const at::Tensor ofScores = (logs.exp() - target) * (counted * weight).unsqueeze(1);
  const at::Tensor gradient = at::cat({ofBoxes, ofScores}, 1) / divisor;
  return {(perBox * weight).sum() / images, gradient.flatten(1).to(output.scalar_type())};
}

LossAndGradient multiboxLossReference(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                      double divisor) {
  const at::AutoGradMode gradients(true);
  const at::Tensor leaf = output.detach().to(at::kDouble).requires_grad_();
  at::Tensor sum = at::zeros({}, at::kDouble);
  const Targets targets = match(labels, ssdDefaultBoxes().to(labels.device()));
  for (int64_t n = 0; n < output.size(0); ++n) {
    const at::Tensor kind = targets.classes[n], rows = byBox(leaf)[n].t();  // [L], [L, 4 + K]
    const at::Tensor chosen = kind.gt(0).nonzero().squeeze(1), rest = kind.eq(0).nonzero().squeeze(1);
    const int64_t count = chosen.size(0);
    if (count == 0) continue;
    const auto entropies = at::cross_entropy_loss(rows.narrow(1, coordinates, rows.size(1) - coordinates), kind, {},
                                                  at::Reduction::None, -100, smoothing);
    const auto [worst, index] = entropies.index({rest}).topk(std::min(negativesPerPositive * count, rest.size(0)));
    const at::Tensor offsets = targets.offsets[n].index({chosen}).to(at::kDouble);
    const at::Tensor l1 =
        at::smooth_l1_loss(rows.index({chosen}).narrow(1, 0, coordinates), offsets, at::Reduction::Sum);
    sum = sum + (l1 + entropies.index({chosen}).sum() + worst.sum()) / count;
  }
  const auto found = torch::autograd::grad({sum}, {leaf});
  return {(sum / output.size(0)).detach().to(at::kFloat), (found[0] / divisor).to(output.scalar_type())};
}

}  // namespace tandem
