#include <gtest/gtest.h>

#include <sstream>

#include "config/command_line.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

/// Parses a command's words, as a shell would hand them over.
Sweep parse(const std::string& words) {
  std::istringstream in(words);
  const Texts arguments{std::istream_iterator<std::string>(in), {}};
  return parseArguments("bench", arguments, exampleCatalogs());
}
std::string refusal(const std::string& words) {
  return usageErrorOf([&] { parse(words); });
}

TEST(Alias, TfCnnBenchmarksCommandLine) {
  const Sweep sweep = parse(
      "--num_gpus=8 --batch_size=64 --model=resnet50 --variable_update=replicated/parameter_server "
      "--local_parameter_device=cpu");
  EXPECT_EQ(sweep.given, (Texts{"replicas", "batch", "model", "strategy", "parameter-device"}));
  EXPECT_EQ(sweep.base.placement.replicas, 8);
  EXPECT_EQ(sweep.base.step.batch, 64);
  EXPECT_EQ(sweep.base.exchange.parameterDevice, "cpu");
  ASSERT_EQ(sweep.axes.size(), 1u);
  EXPECT_EQ(sweep.axes[0].values, (Texts{"replicated", "parameter_server"}));
  for (const Config& point : expand(sweep, exampleCatalogs())) EXPECT_NO_THROW(checkCombination(point));
}

TEST(Alias, TensorpackCommandLine) {
  const Sweep sweep = parse("--fake-location gpu --variable-update=replicated/parameter_server");
  EXPECT_EQ(sweep.given, (Texts{"input", "strategy"}));
  EXPECT_EQ(sweep.base.input.source, "device");
  ASSERT_EQ(sweep.axes.size(), 1u);
  EXPECT_EQ(sweep.axes[0].values, (Texts{"replicated", "parameter_server"}));
}

TEST(Alias, NamesPassValuesThrough) {
  EXPECT_EQ(parse("--num-batches=50").base.measurement.steps, 50);
  EXPECT_EQ(parse("--num_warmup_batches 7").base.measurement.warmup, "7");
  EXPECT_EQ(parse("--data_dir=x/y").base.input.data, "x/y");
  EXPECT_EQ(parse("--learning-rate=0.5").base.step.learningRate, 0.5);
  EXPECT_EQ(parse("--all_reduce_spec=ring").base.exchange.allReduce, "ring");
  EXPECT_EQ(parse("--num_gpus=1-8*2").axes[0].values, (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(refusal("--num-gpus=0"), "--replicas=0: must be at least 1");
}

TEST(Alias, ValuesAreMapped) {
  EXPECT_EQ(parse("--fake-location=cpu").base.input.source, "host");
  EXPECT_EQ(parse("--local_parameter_device=gpu").base.exchange.parameterDevice, "device");
  EXPECT_EQ(parse("--local_parameter_device=cuda:1").base.exchange.parameterDevice, "cuda:1");
  EXPECT_EQ(parse("--data_format=NCHW").base.numerics.layout, "nchw");
  EXPECT_EQ(parse("--data-format=NHWC").base.numerics.layout, "nhwc");
  EXPECT_EQ(parse("--layout=NCHW,nhwc").axes[0].values, (Texts{"nchw", "nhwc"}));
  EXPECT_EQ(parse("--fake-location=gpu,cpu").axes[0].values, (Texts{"device", "host"}));
}

TEST(Alias, OptimizersOfTfCnnBenchmarks) {
  const Sweep sweep = parse("--optimizer=momentum --momentum=0.8");
  EXPECT_EQ(sweep.base.step.optimizer, "sgd");
  EXPECT_EQ(sweep.notes, Texts{"--optimizer: SGD with momentum is --optimizer=sgd with --momentum"});
  EXPECT_EQ(parse("--optimizer=adam --adam_beta1=0.5 --adam_beta2=0.6 --adam_epsilon=1").base.step.adamBeta2, 0.6);
  EXPECT_NE(refusal("--optimizer=rmsprop").find("not built yet"), std::string::npos);
}

TEST(Alias, SixteenBitsAreFp16AndSayWhatThatIs) {
  for (const char* words : {"--use-fp16", "--use_fp16=True", "--use-fp16=true,false"}) {
    const Sweep sweep = parse(words);
    EXPECT_EQ(sweep.base.numerics.precision, "fp16") << words;
    ASSERT_EQ(sweep.notes.size(), 1U) << words;
    EXPECT_NE(sweep.notes[0].find("loss scaling"), std::string::npos) << sweep.notes[0];
  }
  EXPECT_EQ(parse("--use_fp16=False").base.numerics.precision, "fp32");
  EXPECT_TRUE(parse("--use_fp16=False").notes.empty());
  EXPECT_EQ(refusal("--use-fp16=maybe"), "--use-fp16=maybe: must be true or false");
}

TEST(Alias, ACompiledGraphIsThePlannedExecutor) {
  for (const char* words : {"--use-xla-compile", "--use_xla_compile=True", "--xla-compile", "--xla"}) {
    const Sweep sweep = parse(words);
    EXPECT_EQ(sweep.base.numerics.executor, "planned") << words;
    ASSERT_EQ(sweep.notes.size(), 1U) << words;
    EXPECT_NE(sweep.notes[0].find("planned executor"), std::string::npos) << sweep.notes[0];
  }
  const Sweep sweep = parse("--use_xla_compile=false");
  EXPECT_EQ(sweep.base.numerics.executor, "autograd");
  EXPECT_EQ(sweep.notes.size(), 1U);
}

TEST(Alias, WhatIsNotBuiltIsRefusedAsSuch) {
  for (const char* words :
       {"--fake-location=python-queue", "--fake-location python-dataset", "--fake_location=zmq-consume",
        "--input=python-queue", "--variable-update=horovod", "--strategy=horovod", "--variable_update=byteps",
        "--variable_update=distributed_replicated", "--variable_update=collective_all_reduce",
        "--variable_update=replicated/horovod"}) {
    EXPECT_NE(refusal(words).find("not built yet"), std::string::npos) << words << ": " << refusal(words);
  }
  EXPECT_EQ(refusal("--fake-location=python-queue"),
            "--fake-location=python-queue is not built yet; for batches made by threads beside the step use "
            "--input=queue");
}

TEST(Alias, ARefusalEndsWhereTheCatalogHasTheValue) {
  EXPECT_EQ(parse("--all-reduce=nccl").base.exchange.allReduce, "nccl");
  CatalogNames withoutNccl = exampleCatalogs();
  for (auto& [choices, names] : withoutNccl.rows) std::erase(names, "nccl");
  const std::vector<std::string> typed{"--all-reduce=nccl"};
  const std::string text = usageErrorOf([&] { parseArguments("bench", typed, withoutNccl); });
  EXPECT_NE(text.find("--all-reduce=nccl needs GPUs and a build with CUDA"), std::string::npos) << text;
}

TEST(Alias, RowsLeadToOptionsAndValidValues) {
  for (const Alias& alias : aliases()) {
    const bool leadsSomewhere = !alias.option.empty();
    EXPECT_NE(leadsSomewhere, !alias.refusal.empty()) << alias.name << '=' << alias.value;
    if (!leadsSomewhere) continue;
    const Option* option = findOption(alias.option);
    ASSERT_NE(option, nullptr) << alias.name;
    Config config;
    if (!alias.optionValue.empty()) {
      EXPECT_NO_THROW(setValue(config, *option, alias.optionValue, exampleCatalogs())) << alias.name;
    }
  }
}

}  // namespace
}  // namespace tandem
