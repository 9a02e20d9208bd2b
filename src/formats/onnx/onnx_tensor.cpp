#include "formats/onnx/onnx_tensor.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/utf8.h"

namespace tandem {
namespace {

struct TypeRow {
  uint64_t number;  ///< TensorProto.DataType
  std::string_view element;
};

constexpr TypeRow types[] = {{1, "F32"},  {2, "U8"},   {3, "I8"},   {4, "U16"},  {5, "I16"},  {6, "I32"},  {7, "I64"},
                             {9, "BOOL"}, {10, "F16"}, {11, "F64"}, {12, "U32"}, {13, "U64"}, {16, "BF16"}};

constexpr const char* message = "TensorProto";

/// A list of values that a tensor has beside raw_data.
struct TypedField {
  uint32_t number;
  const char* name;
  WireType item;  ///< of a value that stands alone; a packed list has type bytes
  std::string_view elements;
};

constexpr TypedField typedFields[] = {{4, "float_data", WireType::fixed32, "F32"},
                                      {5, "int32_data", WireType::varint, "U8 I8 U16 I16 I32 BOOL F16 BF16"},
                                      {7, "int64_data", WireType::varint, "I64"},
                                      {10, "double_data", WireType::fixed64, "F64"},
                                      {11, "uint64_data", WireType::varint, "U32 U64"}};

const TypedField* typedField(uint32_t number) {
  const auto* const row = std::ranges::find(typedFields, number, &TypedField::number);
  return row == std::end(typedFields) ? nullptr : row;
}

/// The parts of a TensorProto before they are joined.
struct Parts {
  FileTensor tensor;
  uint64_t offset = 0;
  std::optional<std::span<const uint8_t>> raw;
  std::vector<WireField> typed;  // fields of typedFields
  bool isExternal = false;
};

void addDimension(Parts& parts, uint64_t size, uint64_t offset) {
  if (parts.tensor.shape.size() == FileTensor::maxRank) {
    refuseWire(offset, "a tensor has more than ", FileTensor::maxRank, " dimensions");
  }
  if (size > INT64_MAX) refuseWire(offset, "a dimension of a tensor is negative");
  parts.tensor.shape.push_back(static_cast<int64_t>(size));
}

void takeDimensions(Parts& parts, const WireField& field) {
  if (field.type == WireType::varint) return addDimension(parts, field.value, field.offset);
  requireWireType(field, WireType::bytes, message);
  WireReader items(field);
  while (const auto size = items.nextVarint()) addDimension(parts, *size, field.offset);
}

void takeField(Parts& parts, const WireField& field, const OnnxLimits& limits) {
  constexpr uint32_t segment = 3, strings = 6, externalData = 13;
  switch (field.number) {
    case 1:
      return takeDimensions(parts, field);
    case 2:
      requireWireType(field, WireType::varint, message);
      parts.tensor.type = onnxElementType(field.value);
      if (parts.tensor.type == nullptr)
        refuseWire(field.offset, "a tensor has values of type ", field.value, " of ",
                   "TensorProto.DataType, which is not read");
      return;
    case 8:
      parts.tensor.name = onnxText(field, limits);
      return;
    case 9:
      requireWireType(field, WireType::bytes, message);
      parts.raw = field.bytes;
      return;
    case externalData:
      parts.isExternal = true;
      return;
    case 14:
      requireWireType(field, WireType::varint, message);
      parts.isExternal = parts.isExternal || field.value != 0;
      return;
    case 12:
    case 16:
      return;  // doc_string, metadata_props
    case segment:
    case strings:
      refuseWire(field.offset, "a tensor has ", field.number == segment ? "segments" : "texts", ", which are not read");
    default:
      if (typedField(field.number) == nullptr) refuseWire(field.offset, message, " has no field ", field.number);
      if (parts.typed.size() == limits.listed) {
        refuseWire(field.offset, "a tensor has more than ", limits.listed, " values that are not packed");
      }
      parts.typed.push_back(field);
  }
}

/// Calls `take` with each value of a typed field.
void forItems(const WireField& field, const TypedField& row, const std::function<void(uint64_t)>& take) {
  if (field.type == row.item) return take(field.value);
  requireWireType(field, WireType::bytes, message);
  if (row.item == WireType::varint) {
    WireReader items(field);
    while (const auto item = items.nextVarint()) take(*item);
    return;
  }
  const size_t width = row.item == WireType::fixed32 ? 4 : 8;
  if (field.bytes.size() % width != 0) refuseWire(field.offset, row.name, " has ", field.bytes.size(), " bytes");
  for (size_t at = 0; at < field.bytes.size(); at += width) {
    uint64_t item = 0;
    std::memcpy(&item, field.bytes.data() + at, width);
    take(item);
  }
}

void refuseCount(const Parts& parts, uint64_t given, uint64_t wanted) {
  refuseWire(parts.offset, "tensor '", escaped(parts.tensor.name), "' has ", given,
             " bytes of values; its shape asks for ", wanted);
}

/// Copies typed values to memory as the bytes that raw_data would have.
std::span<const uint8_t> unpacked(const Parts& parts, uint64_t wanted, OnnxMemory& memory) {
  const FileTensor& tensor = parts.tensor;
  const uint64_t width = tensor.type->bytes;
  if (wanted > memory.left) {
    refuseWire(parts.offset, "tensor '", escaped(tensor.name), "' has ", wanted, " bytes that are not raw_data; ",
               memory.left, " are left for such tensors");
  }
  memory.left -= wanted;
  std::vector<uint8_t> bytes;
  for (const WireField& field : parts.typed) {
    const TypedField& row = *typedField(field.number);
    if (row.elements.find(tensor.type->name) == row.elements.npos) {
      refuseWire(field.offset, "tensor '", escaped(tensor.name), "' of type ", tensor.type->name, " has ", row.name);
    }
    forItems(field, row, [&](uint64_t item) {
      if (bytes.size() + width > wanted) refuseCount(parts, bytes.size() + width, wanted);
      const auto* const begin = reinterpret_cast<const uint8_t*>(&item);  // the lower bytes are the narrower number
      bytes.insert(bytes.end(), begin, begin + width);
    });
  }
  if (bytes.size() != wanted) refuseCount(parts, bytes.size(), wanted);
  memory.tensors.push_back(std::move(bytes));
  return memory.tensors.back();
}

}  // namespace

const ElementType* onnxElementType(uint64_t number) {
  const auto* const row = std::ranges::find(types, number, &TypeRow::number);
  return row == std::end(types) ? nullptr : elementTypeNamed(row->element);
}

void requireWireType(const WireField& field, WireType type, const char* name) {
  if (field.type == type) return;
  refuseWire(field.offset, "field ", field.number, " of ", name, " has the wire type ", static_cast<int>(field.type),
             "; it must be ", static_cast<int>(type));
}

std::string onnxText(const WireField& field, const OnnxLimits& limits) {
  requireWireType(field, WireType::bytes, "a message");
  if (field.bytes.size() > limits.textBytes) {
    refuseWire(field.offset, "a text has ", field.bytes.size(), " bytes; the limit is ", limits.textBytes);
  }
  std::string text(field.bytes.begin(), field.bytes.end());
  if (!isUtf8(text)) refuseWire(field.offset, "the text '", escaped(text), "' is not UTF-8");
  return text;
}

FileTensor onnxTensor(const WireField& field, const OnnxLimits& limits, OnnxMemory& memory) {
  requireWireType(field, WireType::bytes, message);
  Parts parts;
  parts.offset = field.offset;
  for (WireReader reader(field); const auto part = reader.next();) takeField(parts, *part, limits);
  FileTensor& tensor = parts.tensor;
  if (parts.isExternal) {
    refuseWire(parts.offset, "the values of tensor '", escaped(tensor.name), "' are in another file, which is not ",
               "read; export with external_data=False, or join the files: python3 -c \"import onnx; ",
               "onnx.save(onnx.load('FILE'), 'ONE_FILE')\"");
  }
  if (tensor.type == nullptr) refuseWire(parts.offset, "tensor '", escaped(tensor.name), "' has no data_type");
  const auto wanted = byteCount(tensor.shape, tensor.type->bytes);
  if (!wanted) refuseWire(parts.offset, "the size of tensor '", escaped(tensor.name), "' exceeds 64 bits");
  if (parts.raw && parts.typed.empty()) {
    if (parts.raw->size() != *wanted) refuseCount(parts, parts.raw->size(), *wanted);
    tensor.bytes = *parts.raw;
  } else if (parts.raw) {
    refuseWire(parts.offset, "tensor '", escaped(tensor.name), "' has raw_data and other values");
  } else {
    tensor.bytes = unpacked(parts, *wanted, memory);
  }
  return std::move(tensor);
}

}  // namespace tandem
