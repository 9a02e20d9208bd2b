#include "executor/select/channel_padding.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <memory>

#include "autotune/interleaved_timing.h"
#include "base/error.h"
#include "base/text.h"
#include "device/rng.h"
#include "executor/executor.h"
#include "executor/planned_executor.h"
#include "executor/select/conv_timing.h"
#include "graph/operation.h"
#include "kernels/tensor/normalize.h"

namespace tandem {
namespace {

constexpr int64_t mostImages = 64;  // enough to keep a device busy

constexpr std::array<ImagePaddingEntry, 3> rows{{
    {"none", "images as they are, of three channels", 1},
    {"4", "zeros up to four channels", 4},
    {"8", "zeros up to eight channels", 8},
}};

std::vector<const Node*> readersOfImages(const Graph& graph) {
  std::vector<const Node*> readers;
  for (const Node& node : graph.nodes()) {
    if (std::ranges::find(node.inputs, graph.input()) != node.inputs.end()) readers.push_back(&node);
  }
  return readers;
}

ExecutorOptions optionsFor(const Graph& stem, const PaddingTrial& trial, int64_t images, int64_t zeros) {
  KernelSelection kernels{.layout = trial.layout, .zeroChannels = zeros};
  if (trial.engines) kernels.engines = trial.engines(stem, images, zeros);
  // In a network the convolution's output, and the gradient of it, stay in the layout.
  return {
      .compute = trial.precision->compute, .kernels = std::move(kernels), .device = trial.device, .flatOutputs = false};
}

/// Training steps of one convolution that reads the images.
class StemTrial {
 public:
  /// `trial` outlives it.
  StemTrial(const Graph& stem, const PaddingTrial& trial, int64_t images, const ExecutorOptions& options)
      : trial_(trial),
        stem_(stem),
        buffers_(parameterSpecs(stem, options), *trial.precision, options.device, options.kernels.layout.format),
        executor_(makePlannedExecutor(options)),
        generator_(newGenerator(options.device, 1)) {
    const ImageShape image = stem.node(stem.input()).shape;
    const auto there = at::TensorOptions().device(options.device);
    bytes_ = at::empty({images, image.height, image.width, image.channels}, there.dtype(at::kByte));
    bytes_.random_(0, 256, generator_);
    batch_.images = at::empty({images, image.channels + options.kernels.zeroChannels, image.height, image.width},
                              there.dtype(options.compute), options.kernels.layout.format);
    executor_->bind(stem_, buffers_);
  }

  double seconds() {
    return trial_.secondsOf([this] { step(); });
  }

 private:
  void step() {
    normalize(bytes_, {}, batch_.images);
    const at::Tensor output = executor_->forward(batch_).front();
    if (!gradient_.defined()) gradient_ = at::empty_like(output).normal_(0, 1, generator_);
    executor_->backward({&gradient_, 1}, [](auto) {});
  }

  const PaddingTrial& trial_;
  Graph stem_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
  at::Generator generator_;  // its own, so that a measurement draws no numbers of a run
  at::Tensor bytes_, gradient_;
  Batch batch_;
};

/// Least seconds of a step for each row of the catalog, and their largest spread; the rows are timed in turns.
Timing measured(const Graph& stem, const PaddingTrial& trial, int64_t images) {
  std::vector<Candidate> ways;
  for (const ImagePaddingEntry& row : rows) {
    const ExecutorOptions options = optionsFor(stem, trial, images, zeroChannels(stem, row));
    const auto steps = std::make_shared<StemTrial>(stem, trial, images, options);
    steps->seconds();  // libraries choose their kernels in the first ones
    ways.push_back({.sample = [steps] { return std::vector{steps->seconds()}; }});
  }
  timeInterleaved(ways, {});
  Timing least;
  for (const Candidate& way : ways) {
    least.numbers.push_back(way.least().front());
    least.spread = std::max(least.spread, way.spread());
  }
  return least;
}

/// Older keys began with "image padding": their times have copies that no step makes.
std::string keyOf(const Graph& stem, const PaddingTrial& trial, int64_t images) {
  const Node& convolution = stem.node(stem.output());
  const TrialLayer layer{.node = static_cast<size_t>(stem.output()),
                         .attributes = convolution.attributes,
                         .input = stem.node(stem.input()).shape,
                         .output = convolution.shape,
                         .wantsInputGradient = false,
                         .normalised = false};
  return concat("padding of images | ", trial.machine, " | ", images, " x ", layer.text(), ' ', trial.precision->name,
                " | ", trial.layout.name, trial.engines ? " | engines" : "");
}

}  // namespace

std::span<const ImagePaddingEntry> imagePaddings() { return rows; }

bool canPadImages(const Graph& graph) {
  const auto readers = readersOfImages(graph);
  return !readers.empty() && std::ranges::all_of(readers, [](const Node* node) {
    return node->operation->traits.convolution && node->attributes.groups == 1;
  });
}

int64_t zeroChannels(const Graph& graph, const ImagePaddingEntry& padding) {
  const int64_t beyond = graph.node(graph.input()).shape.channels % padding.multiple;
  const int64_t zeros = beyond == 0 ? 0 : padding.multiple - beyond;
  check(zeros == 0 || canPadImages(graph), "padding of images that something else than a convolution reads");
  return zeros;
}

std::vector<PlannedNode> withPaddedImages(std::vector<PlannedNode> plan, const Graph& graph, int64_t zeros) {
  check(zeros == 0 || canPadImages(graph), "padding of images that something else than a convolution reads");
  for (PlannedNode& call : plan) {
    if (call.inputs.front() == graph.input()) call.zeroChannels = zeros;
  }
  return plan;
}

PaddingChoice fastestImagePadding(const Graph& graph, const PaddingTrial& trial, TimingCache& cache) {
  PaddingChoice choice{&rows.front()};
  if (!canPadImages(graph)) return choice;
  const int64_t images = std::min(trial.images, mostImages);
  std::vector<double> sums(rows.size(), 0.0);
  MeasuringTime time(trial.measuring);
  for (const Node* reader : readersOfImages(graph)) {
    Graph stem(graph.node(graph.input()).shape);
    stem.add("conv", reader->name, {stem.input()}, reader->attributes);
    const std::string key = keyOf(stem, trial, images);
    const MeasuringJob job{{key}, rows.size(), [&] { return std::vector{measured(stem, trial, images)}; }};
    const Measured all = measureJobs({&job, 1}, time, cache, [](const Timings&) { return StepSeconds(); });
    if (!all.fromCache()) choice.fromCache = false;
    if (all.postponed > 0) continue;
    for (size_t i = 0; i < rows.size(); ++i) sums[i] += all.timings.at(key).numbers[i];
  }
  size_t fastest = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (minSpeedup * sums[i] < sums[fastest]) fastest = i;
  }
  choice.padding = &rows[fastest];
  if (fastest > 0) choice.gain = sums.front() / sums[fastest];
  return choice;
}

}  // namespace tandem
