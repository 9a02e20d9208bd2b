#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run_tandem.h"
#include "support/idx_images.h"

namespace tandem {
namespace {

struct Refusal {
  std::vector<std::string> arguments;
  int code;
  std::string says;  ///< part of the one line

  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    for (const auto& argument : refusal.arguments) out << argument << ' ';
    return out;
  }
};

class BadInput : public testing::TestWithParam<Refusal> {};

TEST_P(BadInput, IsOneLineWithTheRightExitCode) {
  auto arguments = GetParam().arguments;
  const auto run = runForked(arguments);
  EXPECT_EQ(run.code, GetParam().code) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.errors().front().find(GetParam().says), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

std::vector<std::string> tiny(std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench",     "--repeats=1", "--model=trivial", "--image-size=32",
                                     "--steps=2", "--warmup=1",  "--replicas=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, BadInput,
    testing::Values(
        Refusal{{"bnech"}, usage, "did you mean 'bench'"}, Refusal{{"train"}, usage, "needs --epochs=X"},
        Refusal{{"eval"}, usage, "needs trained weights: --weights=FILE"},
        Refusal{{"bench", "--modle=resnet50"}, usage, "--model"},
        Refusal{{"bench", "--model=resnet51"}, usage, "did you mean 'resnet50'"},
        Refusal{{"bench", "--strategy=replicate"}, usage, "did you mean 'replicated'"},
        Refusal{{"bench", "--batch=0"}, usage, "--batch"}, Refusal{{"bench", "--batch=many"}, usage, "--batch"},
        Refusal{{"bench", "--batch=-3"}, usage, "--batch"}, Refusal{{"bench", "--lr=nan"}, usage, "--lr"},
        Refusal{{"bench", "--replicas=4-1*0"}, usage, "--replicas"},
        Refusal{{"bench", "--batch=8-1"}, usage, "a range must not end below its start"},
        Refusal{{"bench", "--batch=1-9223372036854775807*2"}, usage, "typed was --batch=1-9223372036854775807*2"},
        Refusal{{"bench", "--model=foo/bar"},
                usage,
                "or the path of a file, which ends in .json or .onnx; typed was --model=foo/bar"},
        Refusal{{"bench", "--budget=1e308"}, usage, "at most 1000000000"},
        Refusal{{"bench", "resnet50"}, usage, "resnet50"}, Refusal{{"list", "modells"}, usage, "did you mean 'models'"},
        Refusal{{"docs", "x"}, usage, "x"}, Refusal{{"--version", "--jsno"}, usage, "--jsno"},
        Refusal{{"worker"}, usage, "tandem bench"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, BadInput,
    testing::Values(Refusal{tiny({"--all-reduce=nccl"}), usage, "nccl"},
                    Refusal{{"bench", "--model=trivial", "--replicas=4000"}, usage, "--oversubscribe"},
                    Refusal{tiny({"--strategy=parameter_server", "--parameter-device=cpu:7"}), usage, "cpu:7"},
                    Refusal{{"bench", "--replicas=1", "--batch=100000"}, usage, "needs about"},
                    Refusal{{"bench", "--devices=cuda:4095", "--all-reduce=copy"}, usage, "cuda:4095"},
                    Refusal{tiny({"--strategy=byteps"}), usage, "is not built: use"},
                    Refusal{tiny({"--trace=run.pftrace"}), usage, "needs --profile"},
                    Refusal{tiny({"--profile", "--trace=run.json"}), usage, "must end in .pftrace"},
                    Refusal{tiny({"--profile", "--trace=run.pftrace", "--lr=0.1,0.2"}), usage, "2 points"},
                    Refusal{tiny({"--input=queue:text"}), usage, "takes nothing behind a colon"},
                    Refusal{tiny({"--input=queue", "--zmq-connect"}), usage, "--zmq-connect does nothing"},
                    Refusal{tiny({"--input=python-queue", "--batch=max"}), usage, "says how large a batch is"},
                    Refusal{tiny({"--data-split=test"}), usage, "--data-split=test needs --data"},
                    Refusal{tiny({"--data-split=val"}), usage, "valid: auto, training, validation, test"},
                    Refusal{{"predict", "--data-split=both"}, usage, "unknown"},
                    Refusal{{"bench", "--model=trivial", "--image-size=32", "--scaling=strong", "--batch=1",
                             "--replicas=2", "--oversubscribe"},
                            usage,
                            "each needs an image"}));

INSTANTIATE_TEST_SUITE_P(Files, BadInput,
                         testing::Values(Refusal{tiny({"--data=no-such-folder"}), data, "no-such-folder"},
                                         Refusal{tiny({"--out=/no/such/folder/x.jsonl"}), storage, "/no/such/folder"},
                                         Refusal{tiny({"--out=/proc/version"}), storage, "/proc/version"},
                                         Refusal{tiny({"--out=/"}), storage, "results file"}));

TEST(BadVariable, VectorsThatAreNoneAreOneLine) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"bench"}, {"plan", "show"}}) {
    auto arguments = command;
    arguments.emplace_back("--model=trivial");
    const auto run = runTandem(arguments, {{"TANDEM_VECTORS", "avx3"}});
    EXPECT_EQ(run.code, usage) << run.err;
    ASSERT_EQ(run.errors().size(), 1U) << run.err;
    EXPECT_NE(run.errors().front().find("unknown TANDEM_VECTORS 'avx3'"), std::string::npos) << run.err;
  }
}

std::filesystem::path dataFolder() {
  std::filesystem::path folder = std::filesystem::path(ownFolder()) / "data";
  std::filesystem::create_directories(folder);
  return folder;
}

/// A CIFAR-10 folder of two images, the second with the label `label`.
std::string cifar10(int label) {
  const auto folder = dataFolder();
  std::ofstream batch(folder / "data_batch_1.bin", std::ios::binary);
  for (const int each : {3, label}) {
    batch.put(static_cast<char>(each));
    for (int i = 0; i < 3072; ++i) batch.put(static_cast<char>(i % 251));
  }
  return folder.string();
}

TEST(BadData, TruncatedFileIsNamed) {
  const auto run = runTandem(tiny({"--data=" + writeIdxImages(dataFolder(), 4, /*missing=*/100)}));
  EXPECT_EQ(run.code, data) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.errors().front().find("train-images-idx3-ubyte"), std::string::npos) << run.err;
}

TEST(BadData, LabelOutOfRangeIsNamed) {
  const auto run = runTandem(tiny({"--data=" + cifar10(10)}));
  EXPECT_EQ(run.code, data) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.errors().front().find("label 10"), std::string::npos) << run.err;
}

TEST(BadOutput, FullDiskKeepsTheTable) {
  const auto run = runTandem(tiny({"--out=/dev/full", "--batch=4", "--allow-interference"}));
  EXPECT_EQ(run.code, storage) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.out.find("repeat with: tandem bench"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace tandem
