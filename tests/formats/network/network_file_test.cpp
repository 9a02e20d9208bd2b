#include "formats/network/network_file.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

const std::string relu = R"({"name": "a", "op": "relu", "inputs": ["input"]})";

/// A file with these members besides format and version.
std::string fileOf(const std::string& members) {
  return R"({"format": "tandem-network", "version": 1, )" + members + "}";
}

std::string fileWith(const std::string& nodes, const std::string& more = "") {
  return fileOf(R"("name": "n", "input": [3, 8, 8], "classes": 10, "nodes": [)" + nodes + "]" + more);
}

Result<NetworkFile> parse(const std::string& text, const NetworkLimits& limits = {}) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  return parseNetwork(bytes, limits);
}

void expectRefused(const std::string& text, const std::string& part, const NetworkLimits& limits = {}) {
  const auto result = parse(text, limits);
  ASSERT_FALSE(result.ok()) << text.substr(0, 300);
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text << "\nlacks: " << part;
  EXPECT_LT(result.error().text.size(), 1000U);
}

TEST(NetworkFile, ReadsEveryMember) {
  const auto result = parse(fileOf(
      R"("name": "n", "input": [3, 8, 9], "classes": 10, "loss": "binary_cross_entropy", "batch": 7, "learning_rate": 0.5,
         "nodes": [{"name": "a", "op": "conv", "inputs": ["input", "b"], "outputs": "classes", "kernel": [3, 5],
                    "bias": false, "epsilon": 1.5, "padding": -1}],
         "auxiliaries": [{"value": "a", "loss_weight": 0.3}])"));
  ASSERT_TRUE(result.ok()) << result.error().text;
  const NetworkFile& file = result.value();
  EXPECT_EQ(file.name, "n");
  EXPECT_EQ(file.input, (std::array<int64_t, 3>{3, 8, 9}));
  EXPECT_EQ(file.classes, 10);
  EXPECT_EQ(file.loss, "binary_cross_entropy");
  EXPECT_EQ(file.batch, 7);
  EXPECT_EQ(file.learningRate, 0.5);
  ASSERT_EQ(file.nodes.size(), 1U);
  EXPECT_EQ(file.nodes[0].operation, "conv");
  EXPECT_EQ(file.nodes[0].inputs, (std::vector<std::string>{"input", "b"}));
  const std::vector<std::pair<std::string, NetworkValue>> expected{{"outputs", std::string("classes")},
                                                                   {"kernel", std::vector<double>{3, 5}},
                                                                   {"bias", false},
                                                                   {"epsilon", std::vector<double>{1.5}},
                                                                   {"padding", std::vector<double>{-1}}};
  EXPECT_EQ(file.nodes[0].attributes, expected);
  ASSERT_EQ(file.auxiliaries.size(), 1U);
  EXPECT_EQ(file.auxiliaries[0].value, "a");
  EXPECT_EQ(file.auxiliaries[0].lossWeight, 0.3);
  const std::string text = networkText(file);
  const auto again = parse(text);
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(networkText(again.value()), text);
  EXPECT_EQ(again.value().nodes[0].attributes, expected);
}

TEST(NetworkFile, FillsInWhatMayBeLeftAway) {
  const auto result = parse(fileWith(relu));
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result.value().loss, "softmax_cross_entropy");
  EXPECT_EQ(result.value().batch, 16);
  EXPECT_EQ(result.value().learningRate, 0.01);
  EXPECT_TRUE(result.value().auxiliaries.empty());
}

TEST(NetworkFile, RefusesWhatIsNoNetworkFile) {
  expectRefused("", "no JSON");
  expectRefused("{", "no JSON");
  expectRefused("PK\x03\x04", "no JSON");
  expectRefused("{\"a\": \"\xff\"}", "no JSON in UTF-8");
  expectRefused(std::string("{}\0", 3), "byte 0");
  expectRefused("[]", "the file is []; it must be an object");
  expectRefused("{}", "lacks the member 'format'");
  expectRefused(R"({"format": "onnx"})", "'onnx'");
  expectRefused(R"({"format": "tandem-network", "version": 2})", "version 2");
  expectRefused(fileWith(relu) + "x", "no JSON");
}

TEST(NetworkFile, RefusesMembersOfTheWrongKind) {
  expectRefused(fileWith(relu, R"(, "classses": 3)"), "unknown member 'classses'; there are");
  expectRefused(fileWith(relu, R"(, "classes": 11)"), "member 'classes' stands twice");
  expectRefused(fileWith(relu, R"(, "batch": 0)"), "'batch' is 0");
  expectRefused(fileWith(relu, R"(, "batch": 1.5)"), "whole number");
  expectRefused(fileWith(relu, R"(, "batch": 18446744073709551615)"), "whole number");
  expectRefused(fileWith(relu, R"(, "learning_rate": 0)"), "above 0");
  expectRefused(fileWith(relu, R"(, "learning_rate": 1e999)"), "beyond the range");
  expectRefused(fileWith(relu, R"(, "loss": 1)"), "must be a text");
  expectRefused(fileWith(relu, R"(, "auxiliaries": {})"), "must be a list");
  expectRefused(fileWith(relu, R"(, "auxiliaries": [{"value": "a"}])"), "lacks the member 'loss_weight'");
  expectRefused(fileWith(relu, R"(, "auxiliaries": [{"value": "a", "loss_weight": -1}])"), "above 0");
  expectRefused(fileWith(relu, R"(, "auxiliaries": [{"value": "a", "loss_weight": 1, "x": 1}])"), "unknown member 'x'");
  expectRefused(fileOf(R"("name": "n", "input": [3, 8], "classes": 10, "nodes": [])"), "has 2 items");
  expectRefused(fileOf(R"("name": "n", "input": [3, 8, 0], "classes": 10, "nodes": [])"), "from 1 to");
  expectRefused(fileOf(R"("name": "n", "input": [3, 8, 99999], "classes": 10, "nodes": [])"), "from 1 to");
  expectRefused(fileOf(R"("name": "n", "input": [3, 8, 8], "classes": 0, "nodes": [])"), "from 1 to");
  expectRefused(fileOf(R"("name": "", "input": [3, 8, 8], "classes": 9, "nodes": [])"), "the name of the network");
}

TEST(NetworkFile, RefusesNodesByName) {
  expectRefused(fileWith("7"), "node 1 is 7");
  expectRefused(fileWith(R"({"op": "relu", "inputs": []})"), "node 1 lacks the member 'name'");
  expectRefused(fileWith(R"({"name": "a b", "op": "relu", "inputs": []})"), "printable ASCII");
  expectRefused(fileWith(R"({"name": "a\nb", "op": "relu", "inputs": []})"), R"('a\x0ab')");
  expectRefused(fileWith(R"({"name": ")" + std::string(201, 'a') + R"(", "op": "relu", "inputs": []})"), "1 to 200");
  expectRefused(fileWith(R"({"name": "a", "inputs": []})"), "node 'a' lacks the member 'op'");
  expectRefused(fileWith(R"({"name": "a", "op": "relu"})"), "node 'a' lacks the member 'inputs'");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [0]})"), "an input of node 'a' is 0");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": null})"), "member 'x' of node 'a' is null");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": {}})"), "member 'x' of node 'a' is {}");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": ["1"]})"), "must hold numbers");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": 1e10})"), "numbers are at most");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": [1, 2, 3, 4, 5]})"), "there may be 4");
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": [[[1]]]})"), "nested deeper");
}

TEST(NetworkFile, StaysWithinItsLimits) {
  const NetworkLimits few{.bytes = 1000, .nodes = 2, .inputs = 2, .number = 10};
  EXPECT_TRUE(parse(fileWith(relu + "," + relu), few).ok());
  expectRefused(fileWith(relu + "," + relu + "," + relu), "has 3 items; there may be 2", few);
  expectRefused(fileWith(R"({"name": "a", "op": "add", "inputs": ["b", "b", "b"]})"), "has 3 items", few);
  expectRefused(fileWith(R"({"name": "a", "op": "relu", "inputs": [], "x": 11})"), "at most 10", few);
  expectRefused(std::string(1001, ' '), "1001 bytes", few);
  expectRefused(std::string(1 << 20, '['), "nested deeper");
  std::string members;
  for (int i = 0; i < 40; ++i) members += concat(R"(, "m)", i, R"(": 1)");
  expectRefused(fileWith(relu, members), "more than 32 members");
}

}  // namespace
}  // namespace tandem
