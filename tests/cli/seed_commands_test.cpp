#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "base/text.h"
#include "cli/run_tandem.h"

namespace tandem {
namespace {

/// The plans that a command makes on a machine with so many GPUs.
Finished planned(const std::string& command, int gpus) {
  std::istringstream in(command + " --dry-run");
  const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  return Tandem(words, {{"TANDEM_STAND_IN_GPUS", concat(gpus)}}, TANDEM_ON_STAND_IN_GPUS).wait();
}

/// The lines of a plan that begin with `name`.
std::vector<std::string> linesOf(const Finished& run, const std::string& name) {
  std::vector<std::string> found;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) found.push_back(line.substr(line.find_first_not_of(' ', name.size())));
  }
  return found;
}

std::string gpus(int count) {
  std::vector<std::string> labels;
  for (int i = 0; i < count; ++i) labels.push_back(concat("cuda:", i, " Stand-in"));
  return join(labels, "; ");
}

void expectPlans(const std::string& command, int here, const std::vector<std::string>& devices,
                 const std::vector<std::string>& exchanges) {
  const Finished run = planned(command, here);
  EXPECT_EQ(run.code, 0) << command << '\n' << run.err << run.out;
  EXPECT_EQ(linesOf(run, "devices "), devices) << command;
  const auto found = linesOf(run, "exchange ");
  ASSERT_EQ(found.size(), exchanges.size()) << command << '\n' << run.out;
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].find(exchanges[i]), 0U) << command << ": " << found[i];
}

TEST(SeedCommands, OfTensorpackAndTfCnnBenchmarksPlanTheGpus) {
  const std::vector<std::string> both{"replicated, all-reduce nccl", "parameter_server, parameters on cpu"};
  expectPlans(
      "--num_gpus=8 --batch_size=64 --model=resnet50 --variable_update=replicated/parameter_server "
      "--local_parameter_device=cpu",
      8, {gpus(8), gpus(8)}, both);
  expectPlans("--num_gpus=4 --variable_update=replicated", 8, {gpus(4)}, {both[0]});
  expectPlans("--fake-location gpu --variable-update=replicated/parameter_server", 8, {gpus(8), gpus(8)}, both);
  expectPlans("--fake-location=gpu --variable-update=replicated", 8, {gpus(8)}, {both[0]});
  expectPlans("--fake-location=gpu --variable-update=replicated --use-fp16 --batch 128 --use-xla-compile", 8, {gpus(8)},
              {both[0]});
  expectPlans("--gpu 0,1 --fake-location gpu --variable-update=replicated --prefetch 150", 8, {gpus(2)}, {both[0]});
  expectPlans("--fake-location=gpu --variable-update=horovod", 8, {gpus(8)}, {both[0]});
}

TEST(SeedCommands, OfKerasMultiGpuPlanTheGpus) {
  const std::string alexnet = "--model alexnet --num_gpus 2 ", nccl = "replicated, all-reduce nccl";
  expectPlans(alexnet + "--local_parameter_device cpu", 6, {gpus(2)}, {nccl});
  expectPlans(alexnet + "--variable_update parameter_server --local_parameter_device cpu", 6, {gpus(2)},
              {"parameter_server, parameters on cpu"});
  expectPlans(alexnet + "--variable_update parameter_server --local_parameter_device gpu", 6, {gpus(2)},
              {"parameter_server, parameters on device"});
  expectPlans(alexnet + "--variable_update replicated --use_nccl True", 6, {gpus(2)}, {nccl});
  expectPlans(alexnet + "--variable_update replicated --use_nccl False", 6, {gpus(2)}, {"replicated, all-reduce copy"});
  expectPlans(alexnet + "--variable_update independent", 6, {gpus(2)}, {"independent, nothing is exchanged"});
  expectPlans(alexnet + "--data_format NHWC", 6, {gpus(2)}, {nccl});
  const Finished cifar = planned("--model alexnet --data_name cifar10 --num_gpus 2 --variable_update independent", 2);
  EXPECT_EQ(linesOf(cifar, "devices "), std::vector<std::string>{gpus(2)}) << cifar.err;
  EXPECT_EQ(linesOf(cifar, "model ").at(0).find("alexnet_cifar, 10 classes"), 0U) << cifar.out;
}

TEST(SeedCommands, ASweepOverStrategiesPassesTheParameterDeviceOver) {
  const Finished run = planned(
      "--num_gpus 2 --variable_update=parameter_server,replicated,independent "
      "--local_parameter_device=cpu,gpu --use_nccl=true,false",
      2);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(linesOf(run, "devices ").size(), 5U) << "two places of the server, two all-reduces, one without either\n"
                                                 << run.out;
  EXPECT_NE(run.err.find("--parameter-device=device is passed over with --strategy=replicated"), std::string::npos)
      << run.err;
}

TEST(SeedCommands, PairsOfGpusArePoints) {
  expectPlans(
      "--model=alexnet --strategy=replicated --devices=cuda:0+1,cuda:4+5,cuda:0+5", 6,
      {"cuda:0 Stand-in; cuda:1 Stand-in", "cuda:4 Stand-in; cuda:5 Stand-in", "cuda:0 Stand-in; cuda:5 Stand-in"},
      {"replicated", "replicated", "replicated"});
}

TEST(SeedCommands, WithoutGpusTheyPlanTheCpu) {
  const Finished run = planned("--num_gpus=1 --variable_update=replicated --model=resnet20", 0);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(linesOf(run, "devices ").at(0).find("cpu:0"), 0U) << run.out;
  EXPECT_NE(run.err.find("measured on the CPU: "), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tandem
