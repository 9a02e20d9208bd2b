#include "config/option.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "config/command_line.h"
#include "config/config_json.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

void set(Config& config, const Option& option, const std::string& text) {
  setValue(config, option, text, exampleCatalogs());
}

TEST(OptionTable, NamesAreUniqueAndWritten) {
  std::set<std::string_view> names;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(option.name.find('_'), std::string::npos) << option.name;
    EXPECT_FALSE(option.help.empty() || option.group.empty()) << option.name;
    const bool isFlag = takes<bool>(option);
    EXPECT_EQ(option.placeholder.empty(), isFlag) << option.name;
  }
}

TEST(OptionTable, EveryRowHasItsOwnField) {
  for (const Option& option : options()) {
    Config changed;
    set(changed, option, otherValue(option));
    for (const Option& other : options()) {
      const bool same = valueText(changed, other) == valueText(Config(), other);
      EXPECT_EQ(same, &other != &option) << option.name << " and " << other.name;
    }
  }
}

TEST(OptionTable, DefaultsKeepTheirOwnRules) {
  for (const Option& option : options()) {
    if (!option.derived.empty()) continue;  // found later; what stands for it may not be typed
    Config config;
    EXPECT_NO_THROW(set(config, option, valueText(Config(), option))) << option.name;
    EXPECT_EQ(config, Config());
  }
  EXPECT_NO_THROW(checkCombination(Config()));
}

TEST(OptionTable, RoundTripsThroughText) {
  Config all;
  for (const Option& option : options()) set(all, option, otherValue(option));
  Config again;
  for (const Option& option : options()) set(again, option, valueText(all, option));
  EXPECT_EQ(again, all);
}

TEST(OptionTable, RealNumbersKeepEveryBit) {
  const Option& lr = *findOption("lr");
  for (const double value : {1.0 / 3, 0.1, 1e-300, 123456789.125, 5e-324}) {
    Config config;
    config.step.learningRate = value;
    Config again;
    set(again, lr, valueText(config, lr));
    EXPECT_EQ(again.step.learningRate, value);
  }
  EXPECT_EQ(valueText(Config(), *findOption("weight-decay")), "0.0001");
}

TEST(ConfigJson, RoundTripsEveryOption) {
  for (const Option& option : optionsOf(inRecords)) {
    Config config;
    set(config, option, otherValue(option));
    const nlohmann::json object = toJson(config);
    EXPECT_EQ(object.size(), optionsOf(inRecords).size());
    EXPECT_TRUE(object.contains(option.name)) << option.name;
    EXPECT_EQ(configFromJson(nlohmann::json::parse(object.dump())), config) << option.name;
  }
}

TEST(ConfigJson, MembersAreTyped) {
  Config config;
  config.placement.replicas = 2;
  const nlohmann::json object = toJson(config);
  EXPECT_TRUE(object["replicas"].is_number_integer());
  EXPECT_TRUE(object["lr"].is_number_float());
  EXPECT_TRUE(object["dry-run"].is_boolean());
  EXPECT_TRUE(object["model"].is_string());
}

TEST(ConfigJson, AbsentMembersKeepTheirDefault) {
  EXPECT_EQ(configFromJson(nlohmann::json::object()), Config());
  EXPECT_EQ(configFromJson(nlohmann::json{{"batch", 3}}).step.batch, 3);
  EXPECT_EQ(configFromJson(nlohmann::json{{"lr", 1}}).step.learningRate, 1);
  EXPECT_EQ(configFromJson(nlohmann::json{{"graph", "off"}}).numerics.cudaGraph, "off") << "the name of 0.1.0";
}

TEST(ConfigJson, ANamedValueIsItsName) {
  Config config;
  config.step.batch = Config::mostThatFits;
  EXPECT_EQ(toJson(config).at("batch"), "max");
  EXPECT_EQ(configFromJson(toJson(config)), config);
  EXPECT_THROW(configFromJson(nlohmann::json{{"replicas", "max"}}), DataError);
  EXPECT_EQ(toJson(config).at("data"), "synthetic");
  EXPECT_EQ(configFromJson(nlohmann::json{{"data", ""}}), Config()) << "as 0.1.0 wrote it";
}

TEST(OptionTable, NamedValuesCannotBeTypedAsNumbers) {
  for (const Option& option : options()) {
    if (option.named.name.empty() || !takes<int64_t>(option)) continue;
    Config config;
    set(config, option, std::string(option.named.name));
    EXPECT_EQ(std::get<FieldOf<int64_t>>(option.field).read(config), option.named.value) << option.name;
    EXPECT_EQ(valueText(config, option), option.named.name);
    const std::string number = std::to_string(option.named.value);
    EXPECT_NE(usageErrorOf([&] { set(config, option, number); }).find(concat(", or ", option.named.name)),
              std::string::npos);
    const bool isDefault = std::get<FieldOf<int64_t>>(option.field).read(Config()) == option.named.value;
    EXPECT_EQ(defaultText(option) == option.named.name, isDefault) << option.name;
  }
}

TEST(OptionTable, AnEmptyTextCanHaveAName) {
  const Option& data = *findOption("data");
  Config config;
  set(config, data, "some/folder");
  EXPECT_EQ(config.input.data, "some/folder");
  set(config, data, "synthetic");
  EXPECT_EQ(config.input.data, "");
  EXPECT_EQ(valueText(config, data), "synthetic");
}

TEST(OptionTable, WhatRecordsAloneHaveCannotBeTyped) {
  Config config;
  config.measurement.program = "PyTorch 2.11.0";
  EXPECT_EQ(toJson(config).at("program"), "PyTorch 2.11.0");
  EXPECT_EQ(configFromJson(toJson(config)), config);
  EXPECT_EQ(commandLine("bench", config), "tandem bench");
}

TEST(ConfigJson, RefusesWhatDoesNotFit) {
  const char* bad[] = {R"({"colour": 1})",
                       R"({"batch": "3"})",
                       R"({"batch": 3.5})",
                       R"({"batch": 1e30})",
                       R"({"batch": 9223372036854775808})",
                       R"({"batch": true})",
                       R"({"model": 3})",
                       R"({"lr": "1"})",
                       R"({"nesterov": 1})",
                       R"({"lr": null})",
                       R"([])",
                       R"(3)"};
  for (const char* text : bad) {
    EXPECT_THROW(configFromJson(nlohmann::json::parse(text)), DataError) << text;
  }
}

}  // namespace
}  // namespace tandem
