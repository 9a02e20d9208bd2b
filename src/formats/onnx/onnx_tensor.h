#pragma once

#include <deque>

#include "formats/onnx/onnx_model.h"
#include "formats/onnx/wire_reader.h"

namespace tandem {

/// The type of an element by its number in TensorProto.DataType; null for those that are not read.
const ElementType* onnxElementType(uint64_t number);

/// Where unpacked tensors are kept, and how many bytes may still be.
struct OnnxMemory {
  std::deque<std::vector<uint8_t>>& tensors;
  uint64_t left;
};

/// Reads a TensorProto. Throws WireRefusal as parseOnnx() says.
FileTensor onnxTensor(const WireField& field, const OnnxLimits& limits, OnnxMemory& memory);

/// The text of a field. Throws WireRefusal unless it is UTF-8 of at most limits.textBytes bytes.
std::string onnxText(const WireField& field, const OnnxLimits& limits);

/// Throws WireRefusal unless the field has the type.
void requireWireType(const WireField& field, WireType type, const char* message);

}  // namespace tandem
