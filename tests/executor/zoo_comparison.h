#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/catalog.h"
#include "executor/model_subject.h"
#include "graph/operation.h"
#include "models/model.h"
#include "support/large_tensors.h"
#include "support/precisions.h"
#include "support/test_devices.h"

/// The planned executor beside ATen's autograd, both against autograd in fp64 on the CPU, on whole models and on the
/// CPU and a GPU where there is one: same weights, same images, dropout off (its masks are compared in
/// planned_executor_test.cpp). Images, batch and size are those of tests/golden, chosen so that every batch-norm has
/// several values per channel and no ReLU of the first step lies so near its kink that fp32 could fall on the other
/// side.
namespace tandem::zoo {

/// A way of the planned executor to run a network, and how many times as far from fp64 as ATen's autograd in the same
/// precision it may be.
struct Way {
  std::string name;
  ExecutorOptions options;
  double factor;
};

/// One per layout. All round as often as ATen, in another order, so their errors are of one size; those of one tensor
/// hang on few sums and vary by chance (measured: 1.5 times; 3.3 in bf16, where a value may fall on the other side of a
/// ReLU). A way that rounds more gets a row and a factor.
/// Winograd's transforms add values several times as large as what remains of them: a convolution's error is some ten
/// times the direct one (kernels/conv/convolution_test.cpp), and no more than that is allowed of the network's. In bf16
/// it computes in fp32 too, and the rounding of each result is all that counts: one way has all algorithms there. On a
/// GPU cuDNN may take it in fp32 for NCHW, and not for NHWC, in which ATen's autograd is compared.
inline std::vector<Way> plannedWays(const Precision& precision, const Graph& graph, at::Device device) {
  constexpr double winogradRoundings = 10;
  const bool isFp32 = precision.compute == at::kFloat;
  const double sameRoundings = isFp32 ? 3 : 4;
  std::vector<Way> ways;
  for (const LayoutEntry& layout : layouts()) {
    if (!serves(find(executors(), "planned", "executor"), layout, device)) continue;
    const bool mayTransform = device.is_cuda() && isFp32 && layout.format == at::MemoryFormat::Contiguous;
    ways.push_back({std::string(layout.name),
                    {.compute = precision.compute, .kernels = {.layout = layout}, .device = device},
                    mayTransform ? winogradRoundings : sameRoundings});
  }
  if (device.is_cuda() || convolutionLibrary().empty()) return ways;
  const auto* const winograd = &find(convolutionAlgorithms(), "winograd", "algorithm");
  const auto* const packed = &find(convolutionAlgorithms(), "packed", "algorithm");
  const auto* const pointwise = &find(convolutionAlgorithms(), "pointwise", "algorithm");
  const auto* const depthwise = &find(convolutionAlgorithms(), "depthwise", "algorithm");
  // With groups none of the others serves.
  const auto add = [&](const char* layout, const char* name, const PassAlgorithms& passes, double factor) {
    std::vector<PassAlgorithms> algorithms(graph.nodes().size(), passes);
    for (size_t i = 0; i < algorithms.size(); ++i) {
      if (graph.nodes()[i].attributes.groups > 1) algorithms[i].fill(depthwise);
    }
    ways.push_back({concat(layout, ' ', name, " and depthwise"),
                    {.compute = precision.compute,
                     .kernels = {.layout = find(layouts(), layout, "layout"), .algorithms = algorithms}},
                    factor});
  };
  if (isFp32) {
    add("blocked", "winograd", {winograd, winograd, winograd}, winogradRoundings);
    add("nhwc", "packed, pointwise", {pointwise, pointwise, packed}, sameRoundings);
  } else {
    add("nhwc", "winograd, packed", {winograd, winograd, packed}, sameRoundings);
  }
  return ways;
}

/// A model of the catalog with what it is run on.
class ZooModel {
 public:
  explicit ZooModel(const std::string& name)
      : golden_(goldenOf(name)),
        size_(golden_.at("imageSize")),
        classes_(golden_.at("classes")),
        graph_(buildModel(name, {.classes = classes_, .imageSize = size_, .dropout = 0})),
        weights_(formulaWeights(graph_)) {
    const std::string input = golden_.at("train").at("input");  // "input.N"
    firstInput_ = std::stoi(input.substr(input.find('.') + 1));
  }

  ModelSubject subject(const Precision& precision, std::string_view executor, const ExecutorOptions& options) const {
    return {graph_, precision, find(executors(), executor, "executor"), options, weights_};
  }

  const Graph& graph() const { return graph_; }

  /// Other images at every step.
  Batch batch(const ModelSubject& subject, int step) const {
    return subject.batch(concat("input.", firstInput_ + step), {golden_.at("batch"), 3, size_, size_}, classes_);
  }

  /// The gradient of a gate is a sum over all pixels whose terms cancel: in bf16 little but their roundings is left,
  /// which vary by chance (measured: by 2.3 times; in fp32, where ATen has one thread, by 1.2 times). With a max pool
  /// in every module some two values of a window are so near that rounding picks the other one within ten steps
  /// (measured: 1.5 times).
  double slack(const Precision& precision) const {
    const bool gated =
        std::ranges::any_of(graph_.nodes(), [](const Node& node) { return node.operation->name == "multiply"; });
    if (gated) return precision.compute == at::kFloat ? 1.5 : 4;
    const auto maxPools =
        std::ranges::count_if(graph_.nodes(), [](const Node& node) { return node.operation->name == "max_pool"; });
    return maxPools > 10 ? 2 : 1;
  }

  /// Nodes on the longest way from the images to the logits.
  int64_t depth() const {
    std::vector<int64_t> depths(graph_.nodes().size(), 0);
    for (size_t i = 0; i < depths.size(); ++i) {
      for (const NodeId input : graph_.nodes()[i].inputs) {
        depths[i] = std::max(depths[i], depths[static_cast<size_t>(input)] + 1);
      }
    }
    return depths.back();
  }

 private:
  nlohmann::json golden_;
  int64_t size_, classes_;
  Graph graph_;
  std::vector<at::Tensor> weights_;
  int firstInput_ = 0;
};

/// Tensors of one kind. `roundings`: how many values are rounded one after the other until they are there.
struct Group {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  int64_t roundings;
};
using Outcome = std::vector<Group>;

/// Valid until the subject's next step.
inline Outcome firstStep(const ZooModel& model, ModelSubject& subject) {
  const double loss = subject.pass(model.batch(subject, 0), [](auto) {});
  Group gradients{{}, 2 * model.depth()};
  for (int i = 0; i < subject.buffers().parameters(); ++i) {
    gradients.tensors.emplace_back(subject.buffers().spec(i).name, subject.gradient(i));
  }
  return {{{{"loss", at::scalar_tensor(loss, at::kDouble)}}, model.depth()},
          {{{"logits", subject.logits()}}, model.depth()},
          std::move(gradients)};
}

/// Running statistics after ten steps of gradient descent.
inline Outcome tenSteps(const ZooModel& model, ModelSubject& subject) {
  for (int step = 0; step < 10; ++step) {
    subject.pass(model.batch(subject, step), [](auto) {});
    subject.descend(1e-4);
  }
  return {{subject.executor().statistics(), model.depth()}};
}

/// The group in fp64, with the norm of each tensor.
struct Exact {
  Group group;
  std::vector<double> norms;

  explicit Exact(Group of) : group(std::move(of)) {
    for (const auto& [name, tensor] : group.tensors) norms.push_back(exactNorm(tensor));
  }
};

inline std::vector<double> distances(const Group& actual, const Group& exact) {
  std::vector<double> all;
  for (size_t i = 0; i < exact.tensors.size(); ++i) {
    all.push_back(exactDistance(actual.tensors.at(i).second, exact.tensors[i].second));
  }
  return all;
}

/// How far a tensor may be from fp64: `factor` times ATen's distance or what rounding explains, and `slack` times that.
struct Bound {
  at::ScalarType type;
  double factor, slack;
};

/// Each tensor at most `factor` times as far from fp64 as ATen's, but what rounding alone explains is always allowed.
///
/// fp32: 1e-5 of the tensor's norm, or `factor` times the part of it that ATen's lie off, as the root mean square over
/// all tensors: on some processors a single one of ATen's is near by chance. Of a tensor whose terms cancel only their
/// roundings are left, so no less than a thousandth of the norm of all tensors of its kind counts. bf16: a rounding
/// moves a value by up to 2^-9 of itself, n of them, one after the other and independent, by sqrt(n) * 2^-9. Besides,
/// single values fall on the other side of a ReLU, by chance here or there, and move a small tensor by percents: at
/// least the root mean square of the norms of all tensors of its kind counts. (Where very many fall, as in VGG, ATen's
/// own distance is the larger bound.) fp16: the bound of bf16, for what is too small for a half is lost in either;
/// where a tensor of ATen's is not finite, because values were too large, nothing is compared.
inline void expectAsNearAsAten(const Group& way, const std::vector<double>& aten, const Exact& exact,
                               const Bound& bound) {
  const auto& [tensors, roundings] = exact.group;
  const bool isFp32 = bound.type == at::kFloat;
  const double rounding = isFp32 ? 1e-5 : std::sqrt(static_cast<double>(roundings)) * 0x1p-9;
  double squares = 0;
  for (const double norm : exact.norms) squares += std::pow(norm, 2);
  const double least = std::sqrt(squares) * (isFp32 ? 1e-3 : 1 / std::sqrt(static_cast<double>(tensors.size())));
  ASSERT_EQ(way.tensors.size(), tensors.size());
  double parts = 0;
  std::vector<double> sizes;
  for (size_t i = 0; i < aten.size(); ++i) {
    sizes.push_back(std::max(exact.norms[i], least));
    parts += std::pow(aten[i] / sizes[i], 2) / static_cast<double>(aten.size());
  }
  const double usual = isFp32 ? std::max(rounding, bound.factor * std::sqrt(parts)) : rounding;
  for (size_t i = 0; i < aten.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (bound.type == at::kHalf && !std::isfinite(aten[i])) continue;
    const double allowed = usual * sizes[i];
    EXPECT_EQ(way.tensors[i].first, name);
    const double found = exactDistance(way.tensors[i].second, tensor);
    EXPECT_LE(found, bound.slack * std::max(allowed, bound.factor * aten[i])) << name;
  }
}

/// A model of the catalog, and where it runs.
struct Place {
  std::string model;
  at::Device device;

  std::string name() const { return concat(model, device.is_cuda() ? "_on_a_gpu" : ""); }
  friend std::ostream& operator<<(std::ostream& out, const Place& place) { return out << place.name(); }
};

inline std::vector<Place> everywhere(const std::vector<std::string>& models) {
  std::vector<Place> places;
  for (const at::Device device : testDevices()) {
    for (const std::string& model : models) places.push_back({model, device});
  }
  return places;
}

inline std::vector<Place> onTheCpu(const std::vector<std::string>& models) {
  std::vector<Place> places;
  for (const std::string& model : models) places.push_back({model, at::kCPU});
  return places;
}

/// Which of them run. The first layout's kernels and, in fp32, those of blocked activations are what networks are
/// trained with unless they are told otherwise.
enum class Ways { usual, all };

inline bool runs(const Way& way, Ways ways) {
  const bool isBlocked = way.name == "blocked" && way.options.compute == at::kFloat;
  return ways == Ways::all || isBlocked || way.name == layouts().front().name;
}

/// In ordinary tests each way runs networks of few parameters, which have the operations of most of the others, and the
/// usual ones run the rest.
inline Ways quickWays(const Place& place) {
  return place.device.is_cpu() && hasManyParameters(place.model) ? Ways::usual : Ways::all;
}

/// Ways of the planned executor, in every precision. `run` makes the tensors of one executor.
inline void expectWaysAsNearAsAten(const Place& place, Outcome (*run)(const ZooModel&, ModelSubject&), Ways ways) {
  const ZooModel model(place.model);
  ModelSubject reference = model.subject(doublePrecision, "autograd", {.compute = at::kDouble});
  std::vector<Exact> exact;
  for (Group& group : run(model, reference)) exact.emplace_back(std::move(group));
  for (const Precision& precision : precisionsOn(place.device)) {
    // Both executors' convolutions would be ATen's, and take minutes.
    if (place.device.is_cpu() && !convolutionsTake(precision.compute)) continue;
    std::vector<std::vector<double>> aten;
    {
      ModelSubject subject =
          model.subject(precision, "autograd", {.compute = precision.compute, .device = place.device});
      const Outcome outcome = run(model, subject);
      for (size_t i = 0; i < exact.size(); ++i) aten.push_back(distances(outcome[i], exact[i].group));
    }
    for (const Way& way : plannedWays(precision, model.graph(), place.device)) {
      if (!runs(way, ways)) continue;
      SCOPED_TRACE(concat(place.name(), ' ', precision.name, ' ', way.name));
      ModelSubject subject = model.subject(precision, "planned", way.options);
      const Outcome outcome = run(model, subject);
      for (size_t group = 0; group < exact.size(); ++group) {
        expectAsNearAsAten(outcome[group], aten[group], exact[group],
                           {precision.compute, way.factor, model.slack(precision)});
      }
    }
  }
}

constexpr double mostFlopsOfTenSteps = 0.2e9;

/// Models with batch-norm. Ten steps of most take so long that they stand among the long tests.
inline std::vector<std::string> modelsWithStatistics(bool quick) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : models()) {
    const bool isOfFewFlops = isTypical(entry) && entry.forwardFlops <= mostFlopsOfTenSteps;
    if (isOfFewFlops != quick || !classifies(entry)) continue;
    const Graph graph = buildModel(entry.name, {});
    const bool any =
        std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.operation->name == "batch_norm"; });
    if (any) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace tandem::zoo
