#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "models/onnx/onnx_network.h"
#include "support/onnx_writer.h"
#include "support/text_of_failure.h"

/// Models of ONNX for tests, and what is read of them.
namespace tandem::onnx_writer {

using Strings = std::vector<std::string>;
using Wholes = std::vector<int64_t>;

inline OnnxImport imported(const TestGraph& graph) {
  const std::string bytes = model(graph);
  return importOnnx({bytes.begin(), bytes.end()}, "net.onnx");
}

/// The nodes of a file: "conv: conv(input) outputs=4 kernel=3".
inline Strings nodesOf(const OnnxImport& made) {
  Strings lines;
  for (const NetworkNode& node : made.network.file.nodes) {
    std::string line = concat(node.name, ": ", node.operation, "(", join(node.inputs), ")");
    for (const auto& [name, value] : node.attributes) {
      line += concat(' ', name, '=');
      if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        Strings texts;
        for (const double number : *numbers) texts.push_back(concat(number));
        line += join(texts, ",");
      } else if (const auto* text = std::get_if<std::string>(&value)) {
        line += *text;
      } else {
        line += std::get<bool>(value) ? "true" : "false";
      }
    }
    lines.push_back(line);
  }
  return lines;
}

inline std::vector<float> valuesOf(const OnnxImport& made, const std::string& name) {
  for (const FileTensor& tensor : made.weights.tensors()) {
    if (tensor.name != name) continue;
    std::vector<uint8_t> scratch;
    const auto bytes = rowMajorBytes(tensor, scratch);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

inline std::string refusalOf(const TestGraph& graph) {
  return textOfFailure<DataError>([&] { imported(graph); });
}

/// A convolution of 4 channels, "c", in front of `middle`, which makes "r"; then the mean of each channel and a linear
/// layer.
inline TestGraph between(const Strings& middle, const Strings& tensors) {
  TestGraph graph{.nodes = {node("Conv", {"x", "conv.weight"}, "c", attribute("pads", Wholes{1, 1, 1, 1}))},
                  .tensors = {floats("conv.weight", {4, 3, 3, 3}), floats("fc.weight", {5, 4})}};
  graph.nodes.insert(graph.nodes.end(), middle.begin(), middle.end());
  graph.tensors.insert(graph.tensors.end(), tensors.begin(), tensors.end());
  for (const std::string& last : {node("GlobalAveragePool", {"r"}, "p"), node("Flatten", {"p"}, "f"),
                                  node("Gemm", {"f", "fc.weight"}, "y", attribute("transB", int64_t{1}))}) {
    graph.nodes.push_back(last);
  }
  return graph;
}

/// The lines that `middle` becomes.
inline Strings middleOf(const Strings& middle, const Strings& tensors = {}) {
  const Strings all = nodesOf(imported(between(middle, tensors)));
  EXPECT_EQ(all.front(), "conv: conv(input) outputs=4 kernel=3 padding=1 bias=false");
  EXPECT_TRUE(all.back().starts_with("fc: linear(")) << all.back();
  return {all.begin() + 1, all.end() - 2};
}

inline std::string whyNot(const Strings& middle, const Strings& tensors = {}) {
  return refusalOf(between(middle, tensors));
}

}  // namespace tandem::onnx_writer
