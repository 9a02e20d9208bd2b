#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/device_set.h"
#include "config/option.h"
#include "config/training_texts.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

struct Case {
  const char *option, *value, *rule;  ///< rule: part of the text
};

std::string refusal(const char* option, const char* value) {
  Config config;
  std::string text = usageErrorOf([&] { setValue(config, *findOption(option), value, exampleCatalogs()); });
  EXPECT_TRUE(text == "accepted" || config == Config()) << "a refused value must change nothing";
  return text;
}

class BadValue : public testing::TestWithParam<Case> {};

TEST_P(BadValue, IsRefusedWithNameValueAndRule) {
  const auto& [option, value, rule] = GetParam();
  const std::string text = refusal(option, value);
  EXPECT_TRUE(text.starts_with(concat("--", option, "=", value, ": "))) << text;
  EXPECT_NE(text.find(rule), std::string::npos) << text;
}

constexpr Case badNumbers[] = {
    {"replicas", "0", "at least 1"},
    {"replicas", "-2", "at least 1"},
    {"replicas", "99999", "at most"},
    {"replicas", "two", "whole number"},
    {"replicas", "2.5", "whole number"},
    {"replicas", "2x", "whole number"},
    {"replicas", " 2", "whole number"},
    {"replicas", "", "whole number"},
    {"replicas", "+2", "whole number"},
    {"replicas", "0x10", "whole number"},
    {"batch", "0", "at least 1"},
    {"split", "3:0", "numbers above 0"},
    {"split", "3:-1", "numbers above 0"},
    {"split", "3:nan", "numbers above 0"},
    {"split", "uneven", "numbers above 0"},
    {"split", "", "numbers above 0"},
    {"batch", "99999999999999999999", "beyond the range"},
    {"batch", "9223372036854775807", "at most"},
    {"classes", "-1", "at least 0"},
    {"classes", "1000001", "at most"},
    {"image-size", "7", "0 or at least 8"},
    {"image-size", "999999", "at most"},
    {"cores-per-replica", "-1", "at least 0"},
    {"bucket-mib", "0", "above 0"},
    {"bucket-mib", "-1", "above 0"},
    {"bucket-mib", "1e-9", "above 0"},
    {"bucket-mib", "1e30", "at most"},
    {"bucket-mib", "nan", "finite"},
    {"bucket-mib", "4MiB", "must be a number"},
    {"first-bucket-mib", "-1", "above 0"},
    {"first-bucket-mib", "1e-9", "above 0"},
    {"first-bucket-mib", "1e30", "at most"},
    {"producers", "0", "at least 1"},
    {"queue-depth", "1", "at least 2"},
    {"lr", "0", "above 0"},
    {"lr", "-0.1", "above 0"},
    {"lr", "inf", "finite"},
    {"lr", "nan", "finite"},
    {"lr", "1e999", "beyond the range"},
    {"lr", "0.1.2", "must be a number"},
    {"momentum", "1", "below 1"},
    {"momentum", "-0.1", "below 1"},
    {"weight-decay", "-1", "at least 0"},
    {"adam-beta1", "1", "below 1"},
    {"adam-beta2", "-0.1", "below 1"},
    {"adam-epsilon", "0", "above 0"},
    {"label-smoothing", "1", "below 1"},
    {"mixup", "-1", "at least 0"},
    {"bce-threshold", "-0.1", "at least 0"},
    {"bce-threshold", "1.1", "at most 1"},
    {"shuffle-buffer", "-1", "at least 0"},
    {"cutmix", "1001", "at most 1000"},
    {"cache", "-1", "at least 0"},
    {"seed", "-1", "at least 0"},
    {"steps", "-1", "at least 0"},
    {"budget", "0", "above 0"},
    {"point-deadline", "-1", "at least 0"},
    {"nesterov", "yes", "true or false"},
    {"dry-run", "1", "true or false"},
};

constexpr Case badTexts[] = {
    {"train-size", "160+", "must be sizes from 8 to 16384 pixels"},
    {"train-size", "7", "must be sizes from 8 to 16384 pixels"},
    {"train-size", "160+192", "each after the first with the epochs before it"},
    {"train-size", "160@2", "each after the first with the epochs before it"},
    {"train-size", "160+192@6+224@6", "which grow"},
    {"train-size", "160+192@-1", "which grow"},
    {"train-size", "160+192@x", "as 128+160@6+192@12"},
    {"train-size", "160+192@inf", "as 128+160@6+192@12"},
    {"head", "", "as sigmoid or 14xsigmoid"},
    {"head", "14", "as sigmoid or 14xsigmoid"},
    {"head", "14x", "as sigmoid or 14xsigmoid"},
    {"head", "0xsigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "-1xsigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "1.5xsigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "14xSigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "14x sigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "99999999999999999999xsigmoid", "as sigmoid or 14xsigmoid"},
    {"head", "1000001xsigmoid", "at most 1000000"},
    {"warmup", "soon", "auto or a number"},
    {"warmup", "-1", "auto or a number"},
    {"warmup", "1.5", "auto or a number"},
    {"warmup", "", "auto or a number"},
    {"out", "", "name a file"},
    {"devices", "gpu", "cuda:0+1"},
    {"devices", "", "cuda:0+1"},
    {"devices", "cuda0", "cuda:0+1"},
    {"devices", "cuda:", "cuda:0+1"},
    {"devices", "cuda:0+0", "different"},
    {"devices", "cuda:0+", "cuda:0+1"},
    {"devices", "cuda:-1", "cuda:0+1"},
    {"devices", "cuda:0+x", "cuda:0+1"},
    {"devices", "cpu:0+cuda:1", "cuda:0+1"},
    {"parameter-device", "gpu", "cpu:0"},
    {"parameter-device", "cpu:", "cpu:0"},
    {"parameter-device", "tpu:0", "cpu:0"},
    {"parameter-device", "cuda:x", "cpu:0"},
};

TEST(TrainSize, IsReadBySizeAndEpoch) {
  using Sizes = std::vector<SizeFrom>;
  EXPECT_EQ(parseTrainSize("160"), (Sizes{{0, 160}}));
  EXPECT_EQ(parseTrainSize("128@0+160@6+192@12.5"), (Sizes{{0, 128}, {6, 160}, {12.5, 192}}));
  Config::Training training;
  EXPECT_TRUE(trainSizesOf(training).empty());
  training.trainSize = "128+160@6";
  EXPECT_EQ(trainSizesOf(training), (Sizes{{0, 128}, {6, 160}}));
}

INSTANTIATE_TEST_SUITE_P(Numbers, BadValue, testing::ValuesIn(badNumbers));
INSTANTIATE_TEST_SUITE_P(Texts, BadValue, testing::ValuesIn(badTexts));

TEST(BadValue, TextIsTheOnePromised) { EXPECT_EQ(refusal("batch", "0"), "--batch=0: must be at least 1, or max"); }

TEST(BadValue, OfAModelNamesTheFileThatMayBeMeant) {
  const std::string path = testing::TempDir() + "tandem_option_net";
  EXPECT_EQ(refusal("model", path.c_str()).find("did you mean --model"), std::string::npos);
  std::ofstream(path + ".json") << "{}";
  EXPECT_NE(refusal("model", path.c_str()).find("did you mean --model=" + path + ".json?"), std::string::npos);
  std::filesystem::remove(path + ".json");
}

TEST(GoodValue, AModelMayBeAFile) {
  EXPECT_EQ(refusal("model", "./nets/own.json"), "accepted");
  EXPECT_NE(refusal("model", "own.jsn"), "accepted");
  EXPECT_NE(refusal("strategy", "own.json"), "accepted");
}

TEST(GoodValue, EdgesAreAccepted) {
  constexpr std::pair<const char*, const char*> edges[] = {{"replicas", "1"},
                                                           {"classes", "0"},
                                                           {"classes", "1"},
                                                           {"image-size", "8"},
                                                           {"queue-depth", "2"},
                                                           {"momentum", "0"},
                                                           {"adam-beta1", "0"},
                                                           {"weight-decay", "0"},
                                                           {"seed", "0"},
                                                           {"warmup", "0"},
                                                           {"warmup", "auto"},
                                                           {"label-smoothing", "0"},
                                                           {"bucket-mib", "0.00001"},
                                                           {"point-deadline", "0"},
                                                           {"lr", "1e-30"},
                                                           {"devices", "cuda:7"},
                                                           {"parameter-device", "cpu:3"},
                                                           {"parameter-device", "device"},
                                                           {"input", "auto"},
                                                           {"seed", "9223372036854775807"}};
  for (const auto& [option, value] : edges) EXPECT_EQ(refusal(option, value), "accepted") << option << "=" << value;
}

TEST(DeviceSet, IsParsed) {
  EXPECT_EQ(parseDeviceSet("cpu"), (DeviceSet{true, {}}));
  EXPECT_EQ(parseDeviceSet("cuda"), (DeviceSet{false, {}}));
  EXPECT_EQ(parseDeviceSet("cpu:1+3"), (DeviceSet{true, {1, 3}}));
  EXPECT_EQ(parseDeviceSet("cuda:4+0"), (DeviceSet{false, {4, 0}}));
  for (const char* text : {"cpu", "cuda", "cpu:1+3", "cuda:4+0"}) EXPECT_EQ(textOf(*parseDeviceSet(text)), text);
  EXPECT_FALSE(parseDeviceSet("auto"));
  EXPECT_EQ(parseDeviceName("cuda:3")->index, 3);
  EXPECT_FALSE(parseDeviceName("device"));
}

TEST(DeviceSet, DecidesTheReplicas) {
  Config config;
  config.placement.replicas = 3;
  EXPECT_EQ(replicaCount(config), 3);
  EXPECT_EQ(deviceIndices(config), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(devicesOfRank(config), 3);
  config.placement.replicas = Config::oneOnEachDevice;
  EXPECT_EQ(replicaCount(config), 1);
  config.placement.devices = "cpu:0+4";
  EXPECT_EQ(replicaCount(config), 2);
  EXPECT_EQ(deviceIndices(config), (std::vector<int>{0, 4}));
  EXPECT_EQ(devicesOfRank(config), 5);
}

TEST(CatalogNames, AMissingCatalogIsABug) {
  EXPECT_THROW(CatalogNames().of(*findOption("model")), InternalError);
  EXPECT_TRUE(CatalogNames().of(*findOption("batch")).empty());
}

}  // namespace
}  // namespace tandem
