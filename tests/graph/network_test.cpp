#include "graph/network.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/attribute.h"
#include "graph/operation.h"

namespace tandem {
namespace {

NetworkFile small() {
  NetworkFile file;
  file.name = "small";
  file.input = {3, 8, 8};
  file.classes = 10;
  file.nodes = {{"conv", "conv", {"input"}, {{"outputs", std::vector<double>{4}}, {"kernel", std::vector<double>{3}}}},
                {"flatten", "flatten", {"conv"}, {}},
                {"fc", "linear", {"flatten"}, {{"outputs", std::string("classes")}}}};
  return file;
}

Network network(const NetworkFile& file) {
  const std::string text = networkText(file);
  return networkOf(std::vector<uint8_t>(text.begin(), text.end()), "net.json");
}

void expectRefused(const NetworkFile& file, const std::string& expected) {
  try {
    network(file);
    ADD_FAILURE() << "accepted; expected: " << expected;
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("net.json: ")) << text;
    EXPECT_NE(text.find(expected), std::string::npos) << text << "\nlacks: " << expected;
    EXPECT_LT(text.size(), 1000U);
  }
}

NetworkFile with(const NetworkNode& node, size_t at = 0) {
  NetworkFile file = small();
  file.nodes.at(at) = node;
  return file;
}

TEST(Network, BuildsTheGraph) {
  const Network read = network(small());
  EXPECT_EQ(read.sha256.size(), 64U);
  const Graph graph = buildNetwork(read.file, 10, 8);
  EXPECT_EQ(graph.node(1).attributes.kernelW, 3);
  EXPECT_EQ(graph.node(1).shape, (ImageShape{4, 6, 6}));
  EXPECT_EQ(graph.node(3).shape, (ImageShape{10, 1, 1}));
  EXPECT_EQ(buildNetwork(read.file, 7, 9).node(3).shape, (ImageShape{7, 1, 1}));
  EXPECT_EQ(buildNetwork(read.file, 7, 9).node(1).shape, (ImageShape{4, 7, 7}));
  EXPECT_THROW(buildNetwork(read.file, 7, 2), UsageError);
}

TEST(Network, ClassesAreFixedWhereNothingSaysThem) {
  NetworkFile file = small();
  file.nodes[2].attributes[0].second = std::vector<double>{10};
  EXPECT_NO_THROW(buildNetwork(file, 10, 8));
  EXPECT_THROW(buildNetwork(file, 11, 8), UsageError);
}

TEST(Network, RefusesNodesThatDoNotFitTogether) {
  expectRefused(with({"conv", "convv", {"input"}, {}}), "did you mean 'conv'");
  expectRefused(with({"conv", "co\nnv", {"input"}, {}}), R"('co\x0anv')");
  expectRefused(with({"conv", "conv", {"inptu"}, {}}), "node 'conv': input 'inptu' is no node of the file");
  expectRefused(with({"conv", "conv", {"fc"}, {}}), "node 'conv': input 'fc' does not stand before it");
  expectRefused(with({"conv", "conv", {"conv"}, {}}), "does not stand before it");
  expectRefused(with({"input", "conv", {"input"}, {{"outputs", std::vector<double>{4}}}}), "the name is taken");
  expectRefused(with({"conv", "conv", {"input", "input"}, {}}), "2 inputs given, it takes 1");
  expectRefused(with({"conv", "input", {"input"}, {}}), "a graph has one input");
  expectRefused(with({"fc", "linear", {"conv"}, {{"outputs", std::string("classes")}}}, 2), "must be flat");
  expectRefused(with({"fc", "linear", {"flatten"}, {{"outputs", std::vector<double>{9}}}}, 2),
                "node 'fc' of shape [9, 1, 1] is an output; with 10 classes it must be [10, 1, 1]");
  expectRefused(with({"flatten", "flatten", {"input"}, {}}, 1), "node 'conv' is read by no other");
}

TEST(Network, RefusesAttributesByNode) {
  const auto conv = [](const std::string& name, const NetworkValue& value) {
    return with({"conv", "conv", {"input"}, {{"outputs", std::vector<double>{4}}, {name, value}}});
  };
  expectRefused(conv("strides", 1.0 < 2),
                "node 'conv': there is no attribute 'strides' of conv; it has outputs, kernel");
  expectRefused(conv("heads", std::vector<double>{1}), "there is no attribute 'heads' of conv");
  expectRefused(conv("kernel", std::vector<double>{1.5}), "must be a whole number, or a list of 2");
  expectRefused(conv("kernel", std::vector<double>{1, 2, 3}), "must be a whole number, or a list of 2");
  expectRefused(conv("kernel", std::vector<double>{}), "must be a whole number");
  expectRefused(conv("kernel", true), "must be a whole number");
  expectRefused(conv("kernel", std::string("classes")), "must be a whole number");
  expectRefused(conv("outputs", std::string("clases")), "must be a whole number");
  expectRefused(conv("bias", std::vector<double>{1}), "must be true or false");
  expectRefused(conv("groups", std::vector<double>{2}), "groups 2 must divide");
  expectRefused(conv("stride", std::vector<double>{0}), "must be at least 1");
  expectRefused(conv("padding", std::vector<double>{-1}), "must not be negative");
  expectRefused(with({"conv", "batch_norm", {"input"}, {{"epsilon", std::string("x")}}}), "must be a number");
  expectRefused(with({"conv", "relu", {"input"}, {{"kernel", std::vector<double>{1}}}}), "of relu; it has none");
}

TEST(Network, RefusesSizesBeyondAnyMemory) {
  constexpr double most = 1 << 24;
  const auto list = [](std::initializer_list<double> numbers) { return NetworkValue(std::vector<double>(numbers)); };
  expectRefused(with({"conv", "conv", {"input"}, {{"outputs", list({most})}, {"padding", list({8000})}}}),
                "node 'conv', conv: the values up to here");
  expectRefused(with({"conv", "max_pool", {"input"}, {{"kernel", list({1})}, {"padding", list({most})}}}), "half");
  expectRefused(with({"conv", "conv", {"input"}, {{"outputs", list({1})}, {"padding", list({most})}}}), "the values");
  expectRefused(with({"conv", "adaptive_avg_pool", {"input"}, {{"output_size", list({most})}}}), "the values");
  const NetworkValue around = list({most / 2, most / 2 - 8, most / 2, most / 2 - 8});
  expectRefused(
      with({"conv", "conv", {"input"}, {{"outputs", list({1})}, {"kernel", list({most})}, {"padding", around}}}),
      "what one window reads");
  NetworkFile twice = with({"conv", "conv", {"input"}, {{"outputs", list({most})}, {"stride", list({8})}}});
  twice.nodes.insert(twice.nodes.begin() + 1, {"wide", "conv", {"conv"}, {{"outputs", list({most})}}});
  twice.nodes[2].inputs = {"wide"};
  expectRefused(twice, "node 'wide', conv: the parameters up to here");
}

TEST(Network, RefusesBadAuxiliariesLossAndInput) {
  const auto auxiliary = [](std::vector<NetworkAuxiliary> values) {
    NetworkFile file = small();
    file.auxiliaries = std::move(values);
    return file;
  };
  expectRefused(auxiliary({{"head", 1}}), "auxiliary value 'head' is no node");
  expectRefused(auxiliary({{"fc", 1}}), "auxiliary value 'fc' is the output");
  expectRefused(auxiliary({{"flatten", 1}, {"flatten", 1}}), "stands twice");
  expectRefused(auxiliary({{"flatten", 1}}), "node 'flatten' of shape [144, 1, 1] is an output");
  NetworkFile file = small();
  file.loss = "softmax";
  expectRefused(file, "unknown loss 'softmax'");
  file = small();
  file.input = {1, 8, 8};
  expectRefused(file, "three channels");
  file.input = {3, 8, 9};
  expectRefused(file, "square");
  file = small();
  file.nodes = {{"pool", "global_avg_pool", {"input"}, {}}};
  file.classes = 3;
  expectRefused(file, "no trained parameter");
}

TEST(Network, AMissingFileIsNamed) {
  try {
    openNetwork("/no/such/net.json");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/net.json"), std::string::npos);
  }
}

TEST(Attributes, EveryNameThatAnOperationReadsIsARow) {
  for (const Operation& operation : operations()) {
    const auto words = operation.reads.empty() ? std::vector<std::string>{} : split(operation.reads, " ");
    EXPECT_EQ(attributesOf(operation).size(), words.size()) << operation.name;
  }
}

}  // namespace
}  // namespace tandem
