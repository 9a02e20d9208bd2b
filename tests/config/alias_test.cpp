#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "config/command_line.h"
#include "config/parsed_option.h"
#include "example_catalogs.h"
#include "support/tests_folder.h"

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

TEST(Alias, IndicesAreOneSetOfGpus) {
  for (const char* words : {"--gpu 0,1", "--gpu_indices=0,1"}) {
    const Sweep sweep = parse(words);
    EXPECT_EQ(sweep.base.placement.devices, "cuda:0+1") << words;
    EXPECT_TRUE(sweep.axes.empty()) << words;
  }
  EXPECT_EQ(parse("--gpu=3").base.placement.devices, "cuda:3");
  EXPECT_NE(refusal("--gpu=0,x").find("--devices=cuda:0+x: must be"), std::string::npos) << refusal("--gpu=0,x");
  EXPECT_EQ(parse("--device=GPU").base.placement.devices, "cuda");
  EXPECT_EQ(parse("--device=cpu").base.placement.devices, "cpu");
}

TEST(Alias, SyntheticAndRealImagesAreOneAxis) {
  EXPECT_EQ(parse("--data=synthetic,x/y").axes[0].values, (Texts{"synthetic", "x/y"}));
  EXPECT_EQ(parse("--data=x/y,none").axes[0].values, (Texts{"x/y", "synthetic"}));
  EXPECT_EQ(refusal("--data=none,synthetic"), "--data lists synthetic twice");
  EXPECT_EQ(parse("--data=none").base.input.data, "");
}

TEST(Alias, TheDataSetChoosesTheNetwork) {
  EXPECT_EQ(parse("--model alexnet --data_name cifar10").base.network.model, "alexnet_cifar");
  EXPECT_EQ(parse("--data_name=cifar10 --model=resnet56").base.network.model, "resnet56");
  EXPECT_EQ(parse("--model=alexnet --data_name=imagenet").base.network.model, "alexnet");
  EXPECT_EQ(parse("--model=alexnet").base.network.model, "alexnet");
  EXPECT_EQ(parse("--model=nasnet,nasnetlarge").axes[0].values, (Texts{"nasnet_mobile", "nasnet_large"}));
  EXPECT_NE(refusal("--model=nasnet --data-name=cifar10").find("use --model=densenet40_k12"), std::string::npos);
  EXPECT_NE(refusal("--data-name=coco").find("must be cifar10 or imagenet"), std::string::npos);
}

TEST(Alias, NcclOrCopies) {
  EXPECT_EQ(parse("--use_nccl").base.exchange.allReduce, "nccl");
  for (const char* words : {"--use_nccl False", "--use_nccl=false", "--nouse_nccl"}) {
    EXPECT_EQ(parse(words).base.exchange.allReduce, "copy") << words;
  }
  EXPECT_EQ(parse("--use-nccl=true,false").axes[0].values, (Texts{"nccl", "copy"}));
}

TEST(Alias, FlagsOfOtherProgramsAreKnown) {
  for (const char* program : {"tf_cnn_benchmarks", "tensorpack"}) {
    std::ifstream list(concat(testsFolder(), "/config/foreign/", program, ".txt"));
    size_t count = 0;
    for (std::string line; std::getline(list, line); ++count) {
      std::string name = line.substr(0, line.find(' '));
      std::ranges::replace(name, '_', '-');
      const auto names = typableNames(onBench);
      EXPECT_NE(std::ranges::find(names, name), names.end()) << program << ' ' << name;
      EXPECT_EQ(isFlag(name), line.ends_with(" bool")) << program << ' ' << name;
    }
    EXPECT_GT(count, 20U) << program;
  }
}

TEST(Alias, AFlagOfAnotherProgramIsRefusedWithWhatToUseOrPassedOver) {
  EXPECT_EQ(refusal("--trace_file=a.json"),
            "--trace-file=a.json is not built under this name: use --profile --trace=FILE.pftrace");
  EXPECT_EQ(refusal("--controller_host=a:1").find("--controller-host=a:1 is not built"), 0U);
  EXPECT_NE(refusal("--eval").find("'tandem eval --weights=FILE"), std::string::npos);
  for (const char* words : {"--eval=False", "--noeval", "--eval_interval_secs=0", "--allow_growth=false"}) {
    EXPECT_TRUE(parse(words).notes.empty()) << words;
    EXPECT_TRUE(parse(words).given.empty()) << words;
  }
  EXPECT_EQ(parse("--display_every 5").notes,
            Texts{"--display-every: the rate is that of all measured steps, and each is in the record"});
  EXPECT_EQ(parse("--allow_growth").notes, Texts{"--allow-growth: memory of a GPU is taken as it is needed"});
  EXPECT_TRUE(parse("--enable_optimizations").given.empty());
  EXPECT_EQ(parse("--enable_optimizations=False").base.numerics.executor, "autograd");
  EXPECT_EQ(refusal("--allow_growth=maybe"), "--allow-growth=maybe: must be true or false");
}

TEST(Alias, ServersAndWhatTheyWaitFor) {
  EXPECT_EQ(parse("--cross_replica_sync=false").base.exchange.serverMode, "async");
  EXPECT_EQ(parse("--cross_replica_sync").base.exchange.serverMode, "sync");
  EXPECT_EQ(parse("--staged_vars=True").base.exchange.serverMode, "staged");
  EXPECT_EQ(parse("--staged_vars").notes.front(), "--staged-vars: weights are pulled while the step before computes");
  EXPECT_TRUE(parse("--staged_vars=False").given.empty());
  EXPECT_NE(refusal("--staged_vars --cross_replica_sync=false").find("--server-mode is given twice"),
            std::string::npos);
  EXPECT_NE(refusal("--variable_consistency=relaxed").find("use --server-mode=async or staged"), std::string::npos);
}

TEST(Alias, TheRolesOfProcesses) {
  const Config::Exchange of =
      parse("--job_name=worker --task_index=1 --ps_hosts=a:1 --worker_hosts=b:2,c:3").base.exchange;
  EXPECT_EQ(of.job, "worker");
  EXPECT_EQ(of.taskIndex, 1);
  EXPECT_EQ(of.psHosts, "a:1");
  EXPECT_EQ(of.workerHosts, "b:2,c:3");
  const Config::Exchange tensorpack = parse("--job ps:0 --ps-hosts a:1,b:2 --worker-hosts c:3").base.exchange;
  EXPECT_EQ(tensorpack.job, "ps:0");
  EXPECT_EQ(tensorpack.taskIndex, -1);
  EXPECT_EQ(tensorpack.psHosts, "a:1,b:2");
}

TEST(Alias, EpochsAreRefusedWithWhatToUse) {
  const std::string rule =
      " is of 'tandem train', which has --epochs; bench has --steps, an epoch being the images of "
      "--data over those of a step";
  EXPECT_EQ(refusal("--num_epochs=3"), "--num-epochs=3" + rule);
  EXPECT_NE(refusal("--epochs=3").find("there is 'tandem train --epochs'"), std::string::npos) << refusal("--epochs=3");
}

TEST(Alias, NamesPassValuesThrough) {
  EXPECT_EQ(parse("--num-batches=50").base.measurement.steps, 50);
  EXPECT_EQ(parse("--num_warmup_batches 7").base.measurement.warmup, "7");
  EXPECT_EQ(parse("--data_dir=x/y").base.input.data, "x/y");
  EXPECT_EQ(parse("--learning-rate=0.5").base.step.learningRate, 0.5);
  EXPECT_EQ(parse("--all_reduce_spec=ring").base.exchange.allReduce, "ring");
  EXPECT_EQ(parse("--num_gpus=1-8*2").axes[0].values, (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(refusal("--num-gpus=0"), "--replicas=0: must be at least 1, or auto");
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
  const Sweep rmsprop = parse("--optimizer=rmsprop --rmsprop_decay=0.8 --rmsprop_momentum=0.7 --rmsprop_epsilon=1");
  EXPECT_EQ(rmsprop.base.step.optimizer, "rmsprop");
  EXPECT_EQ(rmsprop.base.step.rmspropDecay, 0.8);
  EXPECT_EQ(rmsprop.base.step.momentum, 0.7);
  EXPECT_EQ(rmsprop.base.step.adamEpsilon, 1);
  ASSERT_EQ(rmsprop.notes.size(), 1U);
  EXPECT_NE(rmsprop.notes[0].find("TensorFlow adds it below"), std::string::npos) << rmsprop.notes[0];
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

TEST(Alias, HierarchicalCopiesAreAnAllReduce) {
  EXPECT_EQ(parse("--hierarchical_copy --network_topology=dgx1").base.exchange.allReduce, "hierarchical");
  EXPECT_TRUE(parse("--hierarchical_copy=false").given.empty());
}

TEST(Alias, SmallerGradientsOfOtherProgramsAreFp16) {
  for (const char* words : {"--compact_gradient_transfer", "--compact-gradient-transfer=true", "--fp16-allreduce"}) {
    const Sweep sweep = parse(words);
    EXPECT_EQ(sweep.base.exchange.gradientPrecision, "fp16") << words;
    EXPECT_EQ(sweep.base.numerics.precision, "fp32") << words;
    ASSERT_EQ(sweep.notes.size(), 1U) << words;
    EXPECT_NE(sweep.notes[0].find("the loss is scaled"), std::string::npos) << sweep.notes[0];
  }
  EXPECT_TRUE(parse("--compact_gradient_transfer=False").given.empty());
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

TEST(Alias, TimmsWordsAreKnown) {
  EXPECT_EQ(parse("--opt=adam").base.step.optimizer, "adam");
  EXPECT_EQ(parse("--sched=constant").base.step.schedule, "constant");
  EXPECT_EQ(parse("--workers=2").base.input.producers, 2);
  for (const char* words : {"--amp", "--compile", "--pretrained"}) {
    EXPECT_NE(refusal(words).find("is not "), std::string::npos) << words << ": " << refusal(words);
    EXPECT_EQ(refusal(words).find("did you mean"), std::string::npos) << refusal(words);
  }
}

TEST(Alias, WhatIsNotBuiltIsRefusedAsSuch) {
  for (const char* words : {"--variable-update=distributed_replicated", "--strategy=byteps", "--variable_update=byteps",
                            "--variable_update=distributed_replicated", "--variable_update=replicated/byteps"}) {
    EXPECT_NE(refusal(words).find("not built"), std::string::npos) << words << ": " << refusal(words);
  }
}

TEST(Alias, TensorpacksInputsAreInputs) {
  for (const char* words : {"--fake-location=python-queue", "--fake_location=python-dataset", "--input=zmq-consume",
                            "--input=python-queue:dir/file.py:batches", "--input=zmq-consume:ipc:///tmp/pipe"}) {
    EXPECT_EQ(parse(words).base.input.source, std::string_view(words).substr(std::string_view(words).find('=') + 1));
  }
  EXPECT_EQ(parse("--fake-location=zmq-consume --prefetch=150").base.input.queueDepth, 150);
  EXPECT_NE(refusal("--fake-location=zmq-serve").find("tandem data serve"), std::string::npos);
}

TEST(Alias, WeightsToStartFromHaveOtherNames) {
  for (const char* words : {"--init=a.safetensors", "--initial-checkpoint=a.safetensors"}) {
    EXPECT_EQ(parse(words).base.network.weights, "a.safetensors") << words;
  }
  EXPECT_NE(refusal("--init=a.pth --weights=b.pth"), "accepted");
}

TEST(Alias, WaysWithManyProcessesAreReplicatedWithRanks) {
  for (const char* words :
       {"--strategy=horovod", "--variable_update=horovod", "--variable-update=collective_all_reduce"}) {
    const Sweep sweep = parse(words);
    EXPECT_EQ(sweep.base.exchange.strategy, "replicated") << words;
    ASSERT_EQ(sweep.notes.size(), 1U) << words;
    EXPECT_NE(sweep.notes[0].find("tandem launch"), std::string::npos) << sweep.notes[0];
  }
}

TEST(Alias, ARefusalEndsWhereTheCatalogHasTheValue) {
  EXPECT_NE(refusal("--strategy=byteps").find("is not built"), std::string::npos);
  CatalogNames later = exampleCatalogs();
  for (CatalogNames::Row& row : later.rows) {
    if (row.option == "strategy") row.names.emplace_back("byteps");
  }
  const std::vector<std::string> typed{"--strategy=byteps"};
  EXPECT_EQ(parseArguments("bench", typed, later).base.exchange.strategy, "byteps");
}

TEST(Alias, RowsLeadToOptionsAndValidValues) {
  for (const Alias& alias : aliases()) {
    EXPECT_TRUE(alias.option.empty() || alias.refusal.empty()) << alias.name << '=' << alias.value;
    if (alias.option.empty()) continue;
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
