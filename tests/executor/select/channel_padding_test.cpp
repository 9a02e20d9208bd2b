#include "executor/select/channel_padding.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/catalog.h"
#include "base/text.h"
#include "executor/executor.h"
#include "executor/model_subject.h"
#include "executor/odd_net.h"
#include "executor/select/changed_measurements.h"
#include "support/precisions.h"
#include "support/relative_error.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

const ImagePaddingEntry& padding(std::string_view name) { return find(imagePaddings(), name, "padding"); }

/// Two convolutions read the images, one of them with unequal padding and a bias.
Graph twoStems() {
  Graph net({3, 12, 12});
  const NodeId first = net.add("conv", "conv1", {net.input()}, conv(16, 3, 2, {0, 1, 0, 1}, true));
  const NodeId second = net.add("conv", "conv2", {net.input()}, conv(16, 1, 2, {}, false));
  NodeId x = net.add("relu", "relu1", {net.add("batch_norm", "bn1", {net.add("add", "add", {first, second})})});
  x = net.add("relu", "relu2",
              {net.add("batch_norm", "bn2", {net.add("conv", "conv3", {x}, conv(16, 3, 1, Padding::all(1), false))})});
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = 7});
  return net;
}

Graph reading(const char* operation, Attributes attributes) {
  Graph net({3, 8, 8});
  net.add("conv", "conv", {net.add(operation, "first", {net.input()}, attributes)}, {.outputs = 4});
  return net;
}

TEST(ImagePadding, FillsUpToAMultiple) {
  const Graph three({3, 8, 8}), four = [] {
    Graph net({4, 8, 8});
    net.add("conv", "conv", {net.input()}, {.outputs = 4});
    return net;
  }();
  EXPECT_EQ(zeroChannels(three, padding("none")), 0) << "which needs no convolution";
  EXPECT_EQ(zeroChannels(twoStems(), padding("4")), 1);
  EXPECT_EQ(zeroChannels(twoStems(), padding("8")), 5);
  EXPECT_EQ(zeroChannels(four, padding("4")), 0);
  EXPECT_EQ(zeroChannels(four, padding("8")), 4);
}

TEST(ImagePadding, OnlyConvolutionsWithoutGroupsCanReadThem) {
  EXPECT_TRUE(canPadImages(twoStems()));
  EXPECT_FALSE(canPadImages(Graph({3, 8, 8})));
  EXPECT_FALSE(canPadImages(reading("batch_norm", {})));
  EXPECT_FALSE(canPadImages(reading("conv", {.outputs = 6, .groups = 3})));
  Graph alsoFlat = twoStems();
  alsoFlat.add("flatten", "images", {alsoFlat.input()});
  EXPECT_FALSE(canPadImages(alsoFlat));
  EXPECT_ANY_THROW(zeroChannels(alsoFlat, padding("4")));
}

TEST(ImagePadding, OnlyTheCallsThatReadImagesKnowOfIt) {
  const Graph net = twoStems();
  for (const PlannedNode& call : withPaddedImages(fuse(net, at::kCPU), net, 5)) {
    const std::string& name = net.node(call.node).name;
    EXPECT_EQ(call.zeroChannels, name == "conv1" || name == "conv2" ? 5 : 0) << name;
  }
}

struct Trained {
  at::Tensor output;
  std::vector<at::Tensor> gradients;  // by parameter
};

/// The last of three steps, between which the weights change; the images too.
Trained run(const Graph& graph, std::string_view executor, const Precision& precision, const ExecutorOptions& options,
            bool training) {
  ModelSubject subject(graph, precision, find(executors(), executor, "executor"), options);
  subject.executor().setTraining(training);
  Trained trained;
  for (int step = 0; step < 3; ++step) {
    Batch batch = subject.batch(concat("input.", step), {8, 3, 12, 12}, 7);
    batch.images = at::constant_pad_nd(batch.images, {0, 0, 0, 0, 0, options.kernels.zeroChannels}, 0)
                       .contiguous(options.kernels.layout.format);
    subject.pass(batch, [](auto) {});
    trained.output = subject.logits().clone();
    trained.gradients.clear();
    for (int i = 0; i < subject.buffers().parameters(); ++i) trained.gradients.push_back(subject.gradient(i).clone());
    subject.descend(1e-2);
  }
  return trained;
}

at::Tensor joined(const Trained& trained) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& gradient : trained.gradients) all.push_back(gradient.flatten().to(at::kDouble));
  return at::cat(all);
}

/// As far from fp64 as without padding, or as autograd in the same precision: the bounds of planned_executor_test.cpp.
void expectAsNear(const at::Tensor& padded, const at::Tensor& autograd, const at::Tensor& exact, at::ScalarType type) {
  const bool isFp32 = type == at::kFloat;
  const double always = isFp32 ? 1e-5 : 2 * unitOf(type), byChance = isFp32 ? 2 : 4;
  EXPECT_LE(relativeError(padded, exact), std::max(always, byChance * relativeError(autograd, exact)));
}

/// By every way of recomputation, beside autograd without padding there and in fp64 on the CPU. `like`: device, type
/// and layout.
void expectTrainsAsAutograd(const Graph& net, const Precision& precision, const ExecutorOptions& like, bool training) {
  ExecutorOptions options{
      .compute = like.compute, .kernels = {.layout = {"", "", like.kernels.layout.format}}, .device = like.device};
  const Trained autograd = run(net, "autograd", precision, options, training);
  options.compute = at::kDouble, options.device = at::kCPU;
  const Trained exact = run(net, "autograd", doublePrecision, options, training);
  options = like;
  for (const char* name : {"4", "8"}) {
    for (const RecomputeEntry& recompute : recomputes()) {
      SCOPED_TRACE(concat(like.device.str(), ' ', precision.name, ' ', like.kernels.layout.name, ' ', name, ' ',
                          recompute.name, ' ', training));
      options.kernels.zeroChannels = zeroChannels(net, padding(name)), options.recompute = recompute;
      const Trained padded = run(net, "planned", precision, options, training);
      expectAsNear(padded.output, autograd.output, exact.output, precision.compute);
      expectAsNear(joined(padded), joined(autograd), joined(exact), precision.compute);
    }
  }
}

TEST(ImagePadding, TrainsAsAutogradDoesWithout) {
  const Graph net = twoStems();
  for (const at::Device device : testDevices()) {
    for (const Precision& precision : precisionsOn(device)) {
      for (const LayoutEntry& layout : layouts()) {
        if (!serves(find(executors(), "planned", "executor"), layout, device, precision.compute)) continue;
        const ExecutorOptions options{.compute = precision.compute, .kernels = {.layout = layout}, .device = device};
        for (const bool training : {true, false}) expectTrainsAsAutograd(net, precision, options, training);
      }
    }
  }
}

TEST(ImagePadding, TheParameterKeepsItsChannels) {
  const Graph net = twoStems();
  const Precision& fp32 = precisions().front();
  const ModelSubject subject(net, fp32, find(executors(), "planned", "executor"),
                             ExecutorOptions{.kernels = {.zeroChannels = 5}});
  const int weight = subject.buffers().indexOf("conv1.weight");
  EXPECT_EQ(subject.buffers().spec(weight).shape, (std::vector<int64_t>{16, 3, 3, 3}));
}

TEST(ImagePadding, ImagesOfOtherChannelsAreRefused) {
  const Graph net = twoStems();
  ModelSubject subject(net, precisions().front(), find(executors(), "planned", "executor"),
                       ExecutorOptions{.kernels = {.zeroChannels = 5}});
  const Batch bare = subject.batch("input.0", {8, 3, 12, 12}, 7);
  EXPECT_ANY_THROW(subject.executor().forward(bare));
}

class PaddingChoiceTest : public testing::Test {
 protected:
  PaddingChoiceTest() : file_(std::filesystem::temp_directory_path() / concat("tandem-padding-", getpid())) {
    trial_.precision = &precisions().front();
    trial_.images = 2;
    trial_.device = at::kCPU;
    trial_.machine = "this one";
    trial_.secondsOf = [](const std::function<void()>& call) {
      call();
      return 1.0;
    };
  }
  ~PaddingChoiceTest() override { std::filesystem::remove(file_); }

  /// The choice when the measurements of each convolution came out so (kernel 3 is conv1, kernel 1 conv2).
  PaddingChoice choiceIf(const std::map<std::string, std::string>& secondsByKernel) {
    const Graph net = twoStems();
    TimingCache fresh(file_);
    fastestImagePadding(net, trial_, fresh);
    changeMeasurements(file_, [&](const std::string& line) -> std::string {
      for (const auto& [kernel, seconds] : secondsByKernel) {
        if (line.find(concat("kernel ", kernel)) != std::string::npos) return seconds;
      }
      return "";
    });
    TimingCache cache(file_);
    return fastestImagePadding(net, trial_, cache);
  }

  PaddingTrial trial_;
  std::filesystem::path file_;
};

TEST_F(PaddingChoiceTest, EachMachineAndPrecisionIsMeasuredOnce) {
  TimingCache cache{{}};
  const Graph net = twoStems();
  EXPECT_FALSE(fastestImagePadding(net, trial_, cache).fromCache);
  EXPECT_TRUE(fastestImagePadding(net, trial_, cache).fromCache);
  PaddingTrial other = trial_;
  other.machine = "another one";
  EXPECT_FALSE(fastestImagePadding(net, other, cache).fromCache);
  other.machine = trial_.machine, other.precision = &find(precisions(), "bf16", "precision");
  EXPECT_FALSE(fastestImagePadding(net, other, cache).fromCache);
  other.precision = trial_.precision, other.layout = find(layouts(), "nchw", "layout");
  EXPECT_FALSE(fastestImagePadding(net, other, cache).fromCache);
}

/// Counts calls of some of ATen's operations on this thread while it lives.
class CountedOperations {
 public:
  explicit CountedOperations(std::set<std::string> names) {
    asked() = std::move(names);
    found() = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
          found() += static_cast<int>(asked().count(function.name()));
          return nullptr;
        }));
  }
  ~CountedOperations() { at::removeCallback(handle_); }
  CountedOperations(const CountedOperations&) = delete;
  CountedOperations& operator=(const CountedOperations&) = delete;

  static int& found() {
    static int number = 0;
    return number;
  }

 private:
  static std::set<std::string>& asked() {
    static std::set<std::string> names;
    return names;
  }
  at::CallbackHandle handle_;
};

// A step hands over what a convolution wrote, and its gradient, as they are.
TEST_F(PaddingChoiceTest, ATrialCopiesNeitherOutputNorGradient) {
  int timed = 0;
  trial_.secondsOf = [&timed](const std::function<void()>& call) {
    call();  // the gradient is made
    const CountedOperations copies({"aten::flatten", "aten::contiguous"});
    call();
    EXPECT_EQ(copies.found(), 0);
    ++timed;
    return 1.0;
  };
  TimingCache cache{{}};
  fastestImagePadding(twoStems(), trial_, cache);
  EXPECT_GT(timed, 0);
}

TEST_F(PaddingChoiceTest, EachWidthRunsByEnginesOfItsOwn) {
  TimingCache cache{{}};
  const Graph net = twoStems();
  fastestImagePadding(net, trial_, cache);
  std::vector<std::pair<int64_t, int64_t>> asked;  // kernel, channels of zeros
  trial_.engines = [&](const Graph& stem, int64_t images, int64_t zeros) {
    EXPECT_EQ(images, trial_.images);
    asked.emplace_back(stem.node(stem.output()).attributes.kernelH, zeros);
    return std::vector<PassPlans>();
  };
  EXPECT_FALSE(fastestImagePadding(net, trial_, cache).fromCache) << "times of ATen say nothing of engines";
  EXPECT_EQ(asked, (std::vector<std::pair<int64_t, int64_t>>{{3, 0}, {3, 1}, {3, 5}, {1, 0}, {1, 1}, {1, 5}}));
}

TEST_F(PaddingChoiceTest, TheSumOverAllReadersMustFallByMoreThanThreePercent) {
  struct Row {
    const char *first, *second, *padding;
    double gain;
  };
  for (const Row& row : {Row{"1 0.5 0.6", "1 0.5 0.6", "4", 2}, Row{"1 1 0.5", "1 1 0.5", "8", 2},
                         Row{"1 0.98 0.99", "1 0.98 0.99", "none", 1}, Row{"1 0.5 0.5", "1 1.6 1.6", "none", 1},
                         Row{"1 0.5 0.9", "1 1.1 0.3", "8", 2 / 1.2}}) {
    const PaddingChoice choice = choiceIf({{"3x3", row.first}, {"1x1", row.second}});
    EXPECT_TRUE(choice.fromCache);
    EXPECT_EQ(choice.padding->name, row.padding) << row.first;
    EXPECT_DOUBLE_EQ(choice.gain, row.gain) << row.first;
  }
}

TEST_F(PaddingChoiceTest, WhereNothingCanBePaddedNothingIsMeasured) {
  TimingCache cache(file_);
  const PaddingChoice choice = fastestImagePadding(reading("batch_norm", {}), trial_, cache);
  EXPECT_EQ(choice.padding->name, "none");
  EXPECT_TRUE(choice.fromCache);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

}  // namespace
}  // namespace tandem
