#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/example_records.h"

/// Models of ONNX as protobuf, by the numbers of fields in onnx.proto.
namespace tandem::onnx_writer {

using records::field;
using records::varint;

inline std::string number(uint64_t field, uint64_t value) { return varint(field * 8) + varint(value); }

inline std::string dimensions(const std::vector<int64_t>& shape, uint64_t field) {
  std::string bytes;
  for (const int64_t size : shape) bytes += number(field, static_cast<uint64_t>(size));
  return bytes;
}

inline std::string rawOf(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A TensorProto with the fields `values`.
inline std::string tensor(const std::string& name, const std::vector<int64_t>& shape, uint64_t type,
                          const std::string& values) {
  return dimensions(shape, 1) + number(2, type) + values + field(8, name);
}

/// fp32 in raw_data: counted up in steps of 1/8 from `first`.
inline std::string floats(const std::string& name, const std::vector<int64_t>& shape, float first = 0) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i) / 8);
  return tensor(name, shape, 1, field(9, rawOf(values)));
}

/// int64 in int64_data. A shape is given for a scalar.
inline std::string wholes(const std::string& name, const std::vector<int64_t>& values) {
  std::string packed;
  for (const int64_t value : values) packed += varint(static_cast<uint64_t>(value));
  return tensor(name, {static_cast<int64_t>(values.size())}, 7, field(7, packed));
}

inline std::string scalar(const std::string& name, int64_t value) {
  return tensor(name, {}, 7, field(7, varint(static_cast<uint64_t>(value))));
}

inline std::string real(const std::string& name, float value) { return tensor(name, {}, 1, field(9, rawOf({value}))); }

/// Attributes of a node.
inline std::string attribute(const std::string& name, int64_t value) {
  return field(5, field(1, name) + number(3, static_cast<uint64_t>(value)) + number(20, 2));
}
inline std::string attribute(const std::string& name, const std::vector<int64_t>& values) {
  return field(5, field(1, name) + dimensions(values, 8) + number(20, 7));
}
inline std::string attribute(const std::string& name, float value) {
  return field(5, field(1, name) + varint(2 * 8 + 5) + rawOf({value}) + number(20, 1));
}
inline std::string attribute(const std::string& name, const std::string& text) {
  return field(5, field(1, name) + field(4, text) + number(20, 3));
}

/// A NodeProto called as its output. `more`: attributes.
inline std::string node(const std::string& operation, const std::vector<std::string>& inputs, const std::string& output,
                        const std::string& more = "") {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  return bytes + field(2, output) + field(3, output) + field(4, operation) + more;
}

/// A ValueInfoProto of fp32; a size of 0 is named.
inline std::string value(const std::string& name, const std::vector<int64_t>& shape) {
  std::string sizes;
  for (const int64_t size : shape) {
    sizes += field(1, size == 0 ? field(2, "n") : number(1, static_cast<uint64_t>(size)));
  }
  return field(1, name) + field(2, field(1, number(1, 1) + field(2, sizes)));
}

struct TestGraph {
  std::vector<std::string> nodes, tensors;
  std::vector<int64_t> input{1, 3, 8, 8};
  std::string output = "y";
  std::vector<std::string> moreOutputs{};
};

/// A ModelProto whose input is "x".
inline std::string model(const TestGraph& graph, uint64_t opset = 18) {
  std::string bytes;
  for (const std::string& node : graph.nodes) bytes += field(1, node);
  bytes += field(2, "main_graph");
  for (const std::string& tensor : graph.tensors) bytes += field(5, tensor);
  bytes += field(11, value("x", graph.input)) + field(12, value(graph.output, {}));
  for (const std::string& output : graph.moreOutputs) bytes += field(12, value(output, {}));
  return number(1, 8) + field(2, "test") + field(8, field(1, "") + number(2, opset)) + field(7, bytes);
}

}  // namespace tandem::onnx_writer
