#include <gtest/gtest.h>

#include "config/command_line.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

Sweep parse(const Texts& arguments) { return parseArguments("bench", arguments, exampleCatalogs()); }
std::string refusal(const Texts& arguments) {
  return usageErrorOf([&] { parse(arguments); });
}

/// The values that one typed option stands for: those of its axis, or the one in the base.
Texts valuesOf(const std::string& argument, const std::string& option) {
  const Sweep sweep = parse({argument});
  if (!sweep.axes.empty()) return sweep.axes.front().values;
  return {valueText(sweep.base, *findOption(option))};
}

TEST(Parse, NothingTypedIsTheDefault) {
  const Sweep sweep = parse({});
  EXPECT_EQ(sweep.base, Config());
  EXPECT_TRUE(sweep.axes.empty());
  EXPECT_TRUE(sweep.given.empty());
}

TEST(Parse, BothFormsOfAValue) {
  EXPECT_EQ(parse({"--batch=32"}).base.step.batch, 32);
  EXPECT_EQ(parse({"--batch", "32"}).base.step.batch, 32);
  EXPECT_EQ(parse({"--batch", "32", "--model", "vgg16"}).base.network.model, "vgg16");
}

TEST(Parse, HyphensAndUnderscoresAreEqualInNamesOnly) {
  EXPECT_EQ(parse({"--queue_depth=9"}).base.input.queueDepth, 9);
  EXPECT_EQ(parse({"--label-smoothing=0.1", "--weight_decay=0"}).base.step.labelSmoothing, 0.1);
  EXPECT_EQ(parse({"--strategy=parameter_server"}).base.exchange.strategy, "parameter_server");
  EXPECT_EQ(parse({"--data=my_folder=1"}).base.input.data, "my_folder=1");
}

TEST(Parse, Flags) {
  EXPECT_TRUE(parse({"--nesterov"}).base.step.nesterov);
  EXPECT_TRUE(parse({"--nesterov", "--batch=4"}).base.step.nesterov);
  EXPECT_TRUE(parse({"--nesterov=True"}).base.step.nesterov);
  EXPECT_FALSE(parse({"--nesterov=false"}).base.step.nesterov);
  EXPECT_EQ(valuesOf("--nesterov=true,false", "nesterov"), (Texts{"true", "false"}));
}

TEST(Parse, EveryOptionOfTheTableIsAccepted) {
  for (const Option& option : optionsOf(onBench)) {
    const Sweep sweep = parse({concat("--", option.name, "=", otherValue(option))});
    EXPECT_EQ(valueText(sweep.base, option), otherValue(option)) << option.name;
    EXPECT_EQ(sweep.given, Texts{std::string(option.name)});
  }
}

TEST(Parse, FilesAreOperandsOfCommandsThatTakeThem) {
  const auto predict = [](const Texts& arguments) { return parseArguments("predict", arguments, exampleCatalogs()); };
  const Sweep sweep = predict({"a.jpg", "--top=3", "b.png", "--weights", "w.pth", "c"});
  EXPECT_EQ(sweep.operands, (Texts{"a.jpg", "b.png", "c"}));
  EXPECT_EQ(sweep.base.network.weights, "w.pth");
  EXPECT_NE(usageErrorOf([&] { predict({"a.jpg", "--topp=3"}); }).find("did you mean '--top'?"), std::string::npos);
  EXPECT_NE(usageErrorOf([&] { predict({"--lr=3"}); }).find("unknown option '--lr'"), std::string::npos);
  EXPECT_NE(usageErrorOf([] { parse({"--top=3"}); }).find("unknown option '--top'"), std::string::npos);
}

TEST(Parse, Lists) {
  EXPECT_EQ(valuesOf("--replicas=1,2,4", "replicas"), (Texts{"1", "2", "4"}));
  EXPECT_EQ(valuesOf("--strategy=replicated/parameter_server", "strategy"), (Texts{"replicated", "parameter_server"}));
  EXPECT_EQ(valuesOf("--lr=0.10,1e-2", "lr"), (Texts{"0.1", "0.01"}));
  EXPECT_EQ(valuesOf("--devices=cuda:0+1,cuda:4+5", "devices"), (Texts{"cuda:0+1", "cuda:4+5"}));
  EXPECT_EQ(valuesOf("--data=a/b,c/d", "data"), (Texts{"a/b", "c/d"}));
  EXPECT_EQ(parse({"--replicas=2"}).axes.size(), 0u);
}

TEST(Parse, MaxIsOneBatchAmongOthers) {
  EXPECT_EQ(parse({"--batch=max"}).base.step.batch, Config::mostThatFits);
  EXPECT_EQ(parse({"--batch-size=max"}).base.step.batch, Config::mostThatFits);
  EXPECT_EQ(valuesOf("--batch=32,max,64-128*2", "batch"), (Texts{"32", "max", "64", "128"}));
  const Sweep sweep = parse({"--batch=32,max", "--replicas=1,2"});
  const auto points = expand(sweep, exampleCatalogs());
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[2].step.batch, Config::mostThatFits);
  EXPECT_EQ(commandLine("bench", points[3]), "tandem bench --replicas=2 --batch=max");
  EXPECT_NE(refusal({"--batch=Max"}).find("--batch=Max: must be a whole number, or max"), std::string::npos);
  EXPECT_NE(refusal({"--batch=max,max"}).find("lists max twice"), std::string::npos);
  EXPECT_NE(refusal({"--replicas=max"}).find("must be a whole number, or auto"), std::string::npos);
}

TEST(Parse, Ranges) {
  EXPECT_EQ(valuesOf("--replicas=1-8*2", "replicas"), (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(valuesOf("--replicas=1-9*2", "replicas"), (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(valuesOf("--batch=8-24+8", "batch"), (Texts{"8", "16", "24"}));
  EXPECT_EQ(valuesOf("--batch=1,8-24+8", "batch"), (Texts{"1", "8", "16", "24"}));
  EXPECT_EQ(valuesOf("--replicas=3-3+1", "replicas"), (Texts{"3"}));
  EXPECT_EQ(valuesOf("--seed=9223372036854775806-9223372036854775807+1", "seed"),
            (Texts{"9223372036854775806", "9223372036854775807"}));
  EXPECT_EQ(valuesOf("--momentum=0-0.3+0.1", "momentum"), (Texts{"0", "0.1", "0.2", "0.3"}));
}

TEST(Parse, AnExponentIsNoRange) {
  EXPECT_EQ(valuesOf("--weight-decay=1e-4", "weight-decay"), Texts{"0.0001"});
  EXPECT_EQ(valuesOf("--lr=1e-4-1e-1*10", "lr"), (Texts{"0.0001", "0.001", "0.01", "0.1"}));
  EXPECT_EQ(valuesOf("--lr=1-2e+0+1", "lr"), (Texts{"1", "2"}));
}

TEST(Parse, BadLists) {
  EXPECT_NE(refusal({"--batch=1,,2"}).find("needs a value"), std::string::npos);
  EXPECT_NE(refusal({"--batch=1,"}).find("needs a value"), std::string::npos);
  EXPECT_EQ(refusal({"--batch=1-8"}), "--batch=1-8: a range needs a factor or a step, as 1-8*2 or 1-8+1");
  EXPECT_NE(refusal({"--batch=8-1*2"}).find("end below its start"), std::string::npos);
  EXPECT_NE(refusal({"--batch=1-8*1"}).find("must grow"), std::string::npos);
  EXPECT_NE(refusal({"--seed=0-8*2"}).find("must grow"), std::string::npos);
  EXPECT_NE(refusal({"--seed=1-8+0"}).find("must grow"), std::string::npos);
  EXPECT_NE(refusal({"--seed=1-5000+1"}).find("at most 1000"), std::string::npos);
  EXPECT_EQ(refusal({"--batch=1-8*2x"}), "--batch=1-8*2x: must be a whole number, or max");
  EXPECT_EQ(refusal({"--lr=0.1,1e-1"}), "--lr lists 0.1 twice");
  EXPECT_EQ(refusal({"--batch=4,0"}), "--batch=0: must be at least 1, or max");
}

TEST(Parse, OptionsOfTheWholeRunTakeOneValue) {
  for (const Option& option : optionsOf(onBench)) {
    if (option.isAxis() || option.holdsCommas) continue;
    const std::string value = otherValue(option) + "," + valueText(Config(), option);
    EXPECT_NE(refusal({concat("--", option.name, "=", value)}).find("takes one value, not a list"), std::string::npos);
  }
}

TEST(Parse, UnknownOptionSuggestsTheNearest) {
  EXPECT_EQ(refusal({"--stratgy=replicated"}),
            "unknown option '--stratgy'; did you mean '--strategy'? see 'tandem bench --help'");
  EXPECT_EQ(refusal({"--stratgy", "replicated"}), refusal({"--stratgy=replicated"}));
  EXPECT_EQ(refusal({"--num-gpu=2"}),
            "unknown option '--num-gpu'; did you mean '--num-gpus'? see 'tandem bench --help'");
  EXPECT_EQ(refusal({"--eval-batch-siz=4"}), "unknown option '--eval-batch-siz'; see 'tandem bench --help'")
      << "a name that is refused helps nobody";
  EXPECT_EQ(refusal({"--telepathy"}), "unknown option '--telepathy'; see 'tandem bench --help'");
  EXPECT_EQ(refusal({"-b", "4"}), "unknown option '-b'; see 'tandem bench --help'");
  EXPECT_EQ(refusal({"resnet50"}),
            "unexpected argument 'resnet50'; options are written --name=value; see 'tandem bench --help'");
}

TEST(Parse, AnOptionOfAnotherCommandNamesThatCommand) {
  const auto predicted = [](const Texts& arguments) {
    return usageErrorOf([&] { parseArguments("predict", arguments, exampleCatalogs()); });
  };
  EXPECT_EQ(
      predicted({"--out=x", "a.png"}),
      "unknown option '--out'; there is 'tandem bench --out' and 'tandem train --out' and 'tandem features --out'; "
      "see 'tandem predict --help'");
  EXPECT_EQ(predicted({"--eval-batch-size=4"}),
            "unknown option '--eval-batch-size'; did you mean '--batch-size'? see 'tandem predict --help'")
      << "bench has it only to refuse it";
  EXPECT_EQ(predicted({"--lr", "3"}),
            "unknown option '--lr'; there is 'tandem bench --lr' and 'tandem train --lr'; see 'tandem predict --help'");
  EXPECT_EQ(refusal({"--class_names=a.txt"}),
            "unknown option '--class-names'; there is 'tandem predict --class-names'; see 'tandem bench --help'");
}

TEST(Parse, UnknownValueListsTheValid) {
  EXPECT_EQ(
      refusal({"--model=resnet5"}),
      "unknown model 'resnet5'; did you mean 'resnet50'? valid: the names of 'tandem list models', or the path of a "
      "file, which ends in .json or .onnx");
  EXPECT_EQ(refusal({"--input=disk"}),
            "unknown input 'disk'; valid: auto, device, host, queue, python-queue, python-dataset, zmq-consume");
}

TEST(Parse, MissingValues) {
  EXPECT_NE(refusal({"--batch"}).find("--batch needs a value"), std::string::npos);
  EXPECT_EQ(refusal({"--data=", "--batch=4"}), "--data= needs a value");
  EXPECT_EQ(refusal({"--data", ""}), "--data needs a value");
  EXPECT_EQ(refusal({"--data", "--batch=4"}), "--data needs a value");
}

TEST(Parse, GivenTwice) {
  EXPECT_EQ(refusal({"--batch=4", "--batch=8"}), "--batch is given twice");
  EXPECT_EQ(refusal({"--nesterov", "--nesterov"}), "--nesterov is given twice");
  EXPECT_EQ(refusal({"--replicas=1", "--num_gpus=8"}), "--replicas is given twice (the second time as --num-gpus)");
}

TEST(Parse, BracketsAreText) { EXPECT_EQ(parse({"--data=[a]"}).base.input.data, "[a]"); }

TEST(Parse, NegativeNumbersAreValues) { EXPECT_EQ(refusal({"--lr", "-1"}), "--lr=-1: must be above 0"); }

}  // namespace
}  // namespace tandem
