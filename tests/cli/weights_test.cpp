#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"
#include "graph/state.h"
#include "models/model.h"
#include "run_tandem.h"
#include "support/contains.h"
#include "support/pickle_writer.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using namespace pickled;

std::string golden(const std::string& name) { return testsFolder() + "/golden/weights/" + name; }

std::string contentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string written(const std::string& name, const std::string& content) {
  std::string path = ownFolder() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

void expectRefused(const std::vector<std::string>& arguments, int code, const std::string& part) {
  std::vector<std::string> all{"weights"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const auto run = runForked(all);
  EXPECT_EQ(run.code, code) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_TRUE(contains(run.errors().front(), part)) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(Weights, InspectListsTensorsAndTotals) {
  const auto run = runForked({"weights", "inspect", golden("checkpoint.pth")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "conv.weight             F32   [2, 3, 3, 3]    216\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "bn.num_batches_tracked  I64   []                8\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "pth: 7 tensors, 65 values, 264 bytes (264 B)\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "not read: epoch, arch, best, sizes, seed, optimizer")) << run.out;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(contains(runForked({"weights", "inspect", golden("network.safetensors")}).out, "metadata format: pt"));
}

TEST(Weights, ConvertWritesSafetensors) {
  const std::string first = ownFolder() + "/a.safetensors", second = ownFolder() + "/b.safetensors";
  const auto run = runForked({"weights", "convert", golden("network.pth"), first});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "7 tensors")) << run.out;
  EXPECT_EQ(contentOf(first), contentOf(golden("network.safetensors")));
  EXPECT_EQ(runForked({"weights", "convert", first, second}).code, 0);
  EXPECT_EQ(contentOf(first), contentOf(second));
}

/// A file of a network's tensors, each of another value.
std::string weightsOf(const std::string& model, int64_t classes) {
  std::vector<std::vector<float>> values;
  std::vector<FileTensor> tensors;
  for (const StateTensor& own : stateTensors(buildModel(model, {.classes = classes}))) {
    FileTensor tensor{
        .name = own.name, .type = elementTypeNamed("F32"), .shape = own.shape, .strides = {}, .bytes = {}};
    auto& numbers = values.emplace_back(tensor.elements());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(values.size() + i) / 1024;
    tensor.bytes = {reinterpret_cast<const uint8_t*>(numbers.data()), tensor.byteCount()};
    tensors.push_back(std::move(tensor));
  }
  std::string path = concat(ownFolder(), '/', model, ".safetensors");
  writeSafetensors(path, tensors, {{"model", model}, {"names", "none"}});
  return path;
}

TEST(Weights, ConvertWritesNamesOfOtherProjects) {
  const std::string own = weightsOf("mobilenet_v2", 5), there = ownFolder() + "/timm.safetensors";
  const auto run = runForked({"weights", "convert", own, there, "--model=mobilenet_v2", "--classes", "5",
                              "--names=timm", "--reject-nonfinite"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, there + ": 262 tensors of mobilenet_v2, names of timm\n");
  const WeightsFile file = WeightsFile::open(there);
  EXPECT_EQ(file.tensors().front().name, "blocks.0.0.bn1.bias");
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"model", "mobilenet_v2"}, {"names", "timm"}}));
  const std::string back = ownFolder() + "/back.safetensors";
  const auto again =
      runForked({"weights", "convert", there, back, "--model=mobilenet_v2", "--classes=5", "--weights-map=timm"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(contentOf(back), contentOf(own));
}

TEST(Weights, NamesOfKerasCanBeInspected) {
  const std::string own = weightsOf("keras_inception_v3", 5), there = ownFolder() + "/keras.safetensors";
  const auto run =
      runForked({"weights", "convert", own, there, "--model=keras_inception_v3", "--classes=5", "--names=keras"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(runForked({"weights", "inspect", there}).out, "conv2d_10/kernel")) << run.out;
  expectRefused({"convert", there, ownFolder() + "/x.safetensors"}, checkpoint, "a slash");
}

TEST(Weights, RefusesNamesThatCannotBeWritten) {
  const std::string own = weightsOf("mobilenet_v2", 5), out = ownFolder() + "/out.safetensors";
  const auto refused = [&](std::vector<std::string> options, int code, const std::string& part) {
    std::vector<std::string> arguments{"convert", own, out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expectRefused(arguments, code, part);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused({"--names=timm"}, usage, "--names needs --model");
  refused({"--classes=5", "--names=timm"}, usage, "--classes needs --model");
  refused({"--model=mobilenet_v2", "--names=caffe"}, usage, "unknown --names 'caffe'; valid: none, torchvision, keras");
  refused({"--model=mobilenet_v2", "--weights-map=caffe"}, usage, "unknown weights-map 'caffe'");
  refused({"--model=mobilenet_v3"}, usage, "unknown model 'mobilenet_v3'; did you mean 'mobilenet_v2'?");
  refused({"--model=mobilenet_v2", "--classes=-1"}, usage, "--classes=-1");
  refused({"--model=mobilenet_v2", "--names=keras"}, usage,
          "the map keras does not know --model=mobilenet_v2; it knows");
  refused({"--model=resnet20", "--names=torchvision"}, usage, "the map torchvision does not know --model=resnet20");
  refused({"--model=mobilenet_v2", "--names=timm"}, checkpoint, "'classifier.1.weight' is [5, 1280] in the file");
  refused({"--model=resnet18", "--names=timm"}, checkpoint, "does not fit resnet18 by --weights-map=none");
  refused({"--model=mobilenet_v2", "--weights-map=timm"}, checkpoint, "'conv_stem.weight' [32, 3, 3, 3] is missing");
  const auto before = contentOf(own);
  expectRefused({"convert", own, own, "--model=mobilenet_v2", "--classes=5", "--names=timm"}, usage, "are one file");
  EXPECT_EQ(contentOf(own), before);
}

TEST(Weights, RefusesWrongArguments) {
  expectRefused({}, usage, "use 'tandem weights inspect FILE'");
  expectRefused({"show", "x"}, usage, "use 'tandem weights inspect FILE'");
  expectRefused({"inspect"}, usage, "inspect needs 1 file, 0 given");
  expectRefused({"convert", golden("network.pth")}, usage, "convert needs 2 files, 1 given");
  expectRefused({"inspect", "--fast", "x"}, usage,
                "unknown option of tandem weights inspect '--fast'; valid: --reject-nonfinite");
  expectRefused({"convert", golden("network.pth"), "x.pth"}, usage, "does not end in .safetensors");
  const std::string help = runForked({"weights", "--help"}).out;
  EXPECT_TRUE(contains(help, "tandem weights convert"));
  EXPECT_TRUE(contains(help, "  --names=timm            PyTorch image models")) << help;
}

TEST(Weights, NamesFilesThatCannotBeReadOrWritten) {
  expectRefused({"inspect", "/no/such/file.pth"}, data, "/no/such/file.pth");
  expectRefused({"inspect", "/"}, data, "a folder");
  expectRefused({"convert", golden("network.pth"), "/no/such/x.safetensors"}, tandem::storage,
                "/no/such/x.safetensors");
}

TEST(Weights, RefusesForeignFiles) {
  expectRefused({"inspect", golden("legacy.pth")}, checkpoint, "torch.save(torch.load('");
  expectRefused({"inspect", golden("module.pth")}, checkpoint, "torch.nn.modules.linear.Linear");
  expectRefused({"inspect", golden("torchscript.pt")}, checkpoint, "TorchScript");
  expectRefused({"inspect", written("x.pth", "hello, hello")}, checkpoint, "neither safetensors");
  expectRefused({"inspect", written("y.safetensors", std::string("\x02\0\0\0\0\0\0\0{}x", 11))}, checkpoint,
                "1 bytes follow the last tensor");
}

TEST(Weights, ExecutesNothing) {
  const std::string canary = ownFolder() + "/canary";
  for (const std::string module : {"posix", "os", "nt"}) {
    const std::string call = pickled::call(global(module, "system"), tuple({text("touch " + canary)}));
    const std::string path = written("canary.pth", archive(whole(dict({{"w", tensor()}, {"x", call}}))));
    expectRefused({"inspect", path}, checkpoint, module + ".system");
    expectRefused({"convert", path, ownFolder() + "/out.safetensors"}, checkpoint, module + ".system");
  }
  EXPECT_FALSE(std::filesystem::exists(canary));
  EXPECT_FALSE(std::filesystem::exists(ownFolder() + "/out.safetensors"));
}

TEST(Weights, WarnsOfValuesThatAreNotFinite) {
  std::string file = archive(whole(dict({{"w", tensor({.storage = pickled::storage({.key = "1"})})}})),
                             {{.name = "a/data/1", .data = std::string(20, '\0') + std::string("\0\0\xC0\x7F", 4)}});
  const std::string path = written("nan.pth", file);
  const auto run = runForked({"weights", "inspect", path});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "tensor 'w' has 1 of 6 values that are not finite")) << run.err;
  expectRefused({"inspect", path, "--reject-nonfinite"}, checkpoint, "refused by --reject-nonfinite");
  expectRefused({"convert", path, ownFolder() + "/o.safetensors", "--reject-nonfinite"}, checkpoint, "'w' has 1 of 6");
  EXPECT_FALSE(std::filesystem::exists(ownFolder() + "/o.safetensors"));
}

}  // namespace
}  // namespace tandem
