#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/io/result.h"
#include "formats/weights/file_tensor.h"

namespace tandem {

/// An attribute of a node. A node's operator says which member it reads.
struct OnnxAttribute {
  std::string name;
  std::optional<int64_t> whole;
  std::optional<float> number;
  std::optional<std::string> text;
  std::optional<FileTensor> tensor;
  std::vector<int64_t> wholes;
  std::vector<float> numbers;
  bool isOther = false;  ///< a graph, a type, a list of texts or tensors, a parameter of a function: not read
};

/// An input or output of the graph.
struct OnnxValueInfo {
  std::string name;
  const ElementType* type = nullptr;          ///< null: not given, or no type of tensors here
  std::optional<std::vector<int64_t>> shape;  ///< -1 for a size that is named or unknown
};

struct OnnxNode {
  std::string name, operation, domain;
  std::string scope;  ///< name_scopes of PyTorch's exporter: "['', 'layer1', 'layer1.0', 'relu']"; or empty
  std::vector<std::string> inputs, outputs;  ///< names of values; "" for one that is left away
  std::vector<OnnxAttribute> attributes;
  uint64_t offset = 0;  ///< in the file
};

/// A model of ONNX (github.com/onnx/onnx, onnx.proto), of which only what describes a network is read. Tensors refer to
/// the file's bytes or to `memory`.
struct OnnxModel {
  int64_t irVersion = 0;
  int64_t opset = 0;  ///< of the operators of ONNX itself
  std::string producer, graphName;
  std::vector<OnnxNode> nodes;
  std::vector<FileTensor> initializers;
  std::vector<OnnxValueInfo> inputs, outputs;
  std::deque<std::vector<uint8_t>> memory;  ///< of tensors that the file does not store as plain bytes
};

struct OnnxLimits {
  uint64_t bytes = (uint64_t{1} << 31) - 1;  ///< of a file; protobuf allows no more
  size_t nodes = 20'000;
  size_t tensors = 20'000;        ///< initializers
  size_t values = 1024;           ///< inputs or outputs of a node
  size_t attributes = 64;         ///< of a node
  size_t listed = 4096;           ///< numbers of an attribute
  size_t textBytes = 4096;        ///< of a name or a text
  uint64_t unpacked = 256 << 20;  ///< bytes of tensors that must be copied, all together
};

/// Reads a model. The messages are nested at most 7 deep, so the depth of recursion is bounded. Refuses:
/// - what is no protobuf, fields that onnx.proto of version 1.19 does not have, and models without a graph;
/// - operators of ONNX before version 13 or after version 21, and IR versions after 13;
/// - tensors in other files (external data), of other types than those of elementTypes(), or with other than as many
///   values as their shape says; sparse tensors; training graphs;
/// - names that are not UTF-8, and what exceeds `limits`.
///
/// Errors have the offset in the file. A result refers to `bytes`, which must outlive it. Does not throw for bad bytes.
Result<OnnxModel> parseOnnx(std::span<const uint8_t> bytes, const OnnxLimits& limits = {});

}  // namespace tandem
