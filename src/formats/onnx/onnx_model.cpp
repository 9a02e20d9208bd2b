#include "formats/onnx/onnx_model.h"

#include <algorithm>
#include <bit>

#include "base/utf8.h"
#include "formats/io/little_endian.h"
#include "formats/onnx/onnx_tensor.h"

namespace tandem {
namespace {

constexpr int64_t oldestOpset = 13, newestOpset = 21, newestIr = 13;
constexpr std::string_view scopeKey = "pkg.torch.onnx.name_scopes";

/// Fields of a message of onnx.proto that are passed over: texts for people, hints for other programs.
using Ignored = std::initializer_list<uint32_t>;

/// Reads the messages of a model but for tensors. Throws WireRefusal.
class ModelReader {
 public:
  explicit ModelReader(const OnnxLimits& limits) : limits_(limits), memory_{model_.memory, limits.unpacked} {}

  OnnxModel read(std::span<const uint8_t> bytes) {
    const WireField whole{.type = WireType::bytes, .bytes = bytes};
    forFields(whole, "ModelProto", {3, 4, 5, 6, 14, 25, 26}, [this](const WireField& field) {
      switch (field.number) {
        case 1:
          return takeWhole(model_.irVersion, field, "ModelProto");
        case 2:
          return takeText(model_.producer, field);
        case 7:
          if (hasGraph_) refuseWire(field.offset, "the model has two graphs");
          hasGraph_ = true;
          return takeGraph(field), true;
        case 8:
          return takeOpset(field), true;
        case 20:
          refuseWire(field.offset, "the model has a training graph, which is not read; export the network alone");
        default:
          return false;
      }
    });
    checkModel();
    return std::move(model_);
  }

 private:
  /// Calls `take` for each field; it returns false for a field that it does not know.
  template <class Take>
  void forFields(const WireField& message, const char* name, Ignored ignored, const Take& take) {
    requireWireType(message, WireType::bytes, name);
    for (WireReader reader(message); const auto field = reader.next();) {
      if (std::ranges::find(ignored, field->number) != ignored.end()) continue;
      if (!take(*field)) refuseWire(field->offset, name, " has no field ", field->number);
    }
  }

  bool takeWhole(int64_t& value, const WireField& field, const char* message) {
    requireWireType(field, WireType::varint, message);
    value = static_cast<int64_t>(field.value);
    return true;
  }

  bool takeText(std::string& text, const WireField& field) {
    text = onnxText(field, limits_);
    return true;
  }

  template <class Item>
  void requireRoom(const std::vector<Item>& items, size_t limit, const WireField& field, const char* what) {
    if (items.size() >= limit) refuseWire(field.offset, "there are more than ", limit, " ", what);
  }

  void checkModel() const {
    if (!hasGraph_) refuseWire(0, "the file has no graph; it is no model of ONNX");
    if (model_.irVersion < 1 || model_.irVersion > newestIr) {
      refuseWire(0, "the IR version is ", model_.irVersion, "; it must be from 1 to ", newestIr);
    }
    if (model_.opset < oldestOpset || model_.opset > newestOpset) {
      refuseWire(0, "the operators are those of version ", model_.opset, "; versions ", oldestOpset, " to ",
                 newestOpset, " are read; export with opset_version=18");
    }
  }

  void takeOpset(const WireField& message) {
    std::string domain;
    int64_t version = 0;
    forFields(message, "OperatorSetIdProto", {}, [&](const WireField& field) {
      if (field.number == 1) return takeText(domain, field);
      return field.number == 2 && takeWhole(version, field, "OperatorSetIdProto");
    });
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  void takeGraph(const WireField& message) {
    forFields(message, "GraphProto", {10, 13, 14, 16}, [this](const WireField& field) {
      switch (field.number) {
        case 1:
          requireRoom(model_.nodes, limits_.nodes, field, "nodes");
          return model_.nodes.push_back(node(field)), true;
        case 2:
          return takeText(model_.graphName, field);
        case 5:
          requireRoom(model_.initializers, limits_.tensors, field, "initializers");
          return model_.initializers.push_back(onnxTensor(field, limits_, memory_)), true;
        case 11:
        case 12: {
          auto& values = field.number == 11 ? model_.inputs : model_.outputs;
          requireRoom(values, limits_.tensors, field, "inputs or outputs of the graph");
          return values.push_back(valueInfo(field)), true;
        }
        case 15:
          refuseWire(field.offset, "the graph has sparse initializers, which are not read");
        default:
          return false;
      }
    });
  }

  OnnxNode node(const WireField& message) {
    OnnxNode node;
    node.offset = message.offset;
    forFields(message, "NodeProto", {6, 10}, [&](const WireField& field) {
      switch (field.number) {
        case 1:
        case 2: {
          auto& names = field.number == 1 ? node.inputs : node.outputs;
          requireRoom(names, limits_.values, field, "inputs or outputs of a node");
          return names.push_back(onnxText(field, limits_)), true;
        }
        case 3:
          return takeText(node.name, field);
        case 4:
          return takeText(node.operation, field);
        case 5:
          requireRoom(node.attributes, limits_.attributes, field, "attributes of a node");
          return node.attributes.push_back(attribute(field)), true;
        case 7:
        case 8:
          return takeText(node.domain, field);
        case 9:
          return takeScope(node, field), true;
        default:
          return false;
      }
    });
    return node;
  }

  /// Of the entries of metadata_props, which may be long, one is kept.
  void takeScope(OnnxNode& node, const WireField& message) {
    std::span<const uint8_t> key, value;
    forFields(message, "StringStringEntryProto", {}, [&](const WireField& field) {
      (field.number == 1 ? key : value) = field.bytes;
      return field.number <= 2;
    });
    const std::string text(value.begin(), value.end());
    if (std::ranges::equal(key, scopeKey) && text.size() <= limits_.textBytes && isUtf8(text)) node.scope = text;
  }

  OnnxAttribute attribute(const WireField& message) {
    OnnxAttribute attribute;
    forFields(message, "AttributeProto", {13, 20}, [&](const WireField& field) {
      switch (field.number) {
        case 1:
          return takeText(attribute.name, field);
        case 2:
          requireWireType(field, WireType::fixed32, "AttributeProto");
          return attribute.number = numberOf(field.value), true;
        case 3:
          return takeWhole(attribute.whole.emplace(), field, "AttributeProto");
        case 4:
          return takeText(attribute.text.emplace(), field);
        case 5:
          return attribute.tensor = onnxTensor(field, limits_, memory_), true;
        case 7:
          return takeNumbers(attribute.numbers, field), true;
        case 8:
          return takeWholes(attribute.wholes, field), true;
        default:
          attribute.isOther = true;
          return field.number == 6 || (field.number >= 9 && field.number <= 15) ||
                 (field.number >= 21 && field.number <= 23);
      }
    });
    return attribute;
  }

  static float numberOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

  void takeNumbers(std::vector<float>& numbers, const WireField& field) {
    const auto add = [&](uint64_t bits) {
      requireRoom(numbers, limits_.listed, field, "numbers of an attribute");
      numbers.push_back(numberOf(bits));
    };
    if (field.type == WireType::fixed32) return add(field.value);
    requireWireType(field, WireType::bytes, "AttributeProto");
    if (field.bytes.size() % sizeof(float) != 0) refuseWire(field.offset, "floats have ", field.bytes.size(), " bytes");
    for (size_t at = 0; at < field.bytes.size(); at += sizeof(float)) add(littleEndian<uint32_t>(field.bytes, at));
  }

  void takeWholes(std::vector<int64_t>& wholes, const WireField& field) {
    const auto add = [&](uint64_t value) {
      requireRoom(wholes, limits_.listed, field, "numbers of an attribute");
      wholes.push_back(static_cast<int64_t>(value));
    };
    if (field.type == WireType::varint) return add(field.value);
    requireWireType(field, WireType::bytes, "AttributeProto");
    for (WireReader items(field); const auto item = items.nextVarint();) add(*item);
  }

  OnnxValueInfo valueInfo(const WireField& message) {
    OnnxValueInfo value;
    forFields(message, "ValueInfoProto", {3, 4}, [&](const WireField& field) {
      if (field.number == 1) return takeText(value.name, field);
      return field.number == 2 && (takeType(value, field), true);
    });
    return value;
  }

  void takeType(OnnxValueInfo& value, const WireField& message) {
    forFields(message, "TypeProto", {4, 5, 6, 8, 9},
              [&](const WireField& field) { return field.number == 1 && (takeTensorType(value, field), true); });
  }

  void takeTensorType(OnnxValueInfo& value, const WireField& message) {
    forFields(message, "TypeProto.Tensor", {}, [&](const WireField& field) {
      if (field.number == 1) {
        requireWireType(field, WireType::varint, "TypeProto.Tensor");
        return value.type = onnxElementType(field.value), true;
      }
      return field.number == 2 && (takeShape(value.shape.emplace(), field), true);
    });
  }

  void takeShape(std::vector<int64_t>& shape, const WireField& message) {
    forFields(message, "TensorShapeProto", {}, [&](const WireField& field) {
      if (field.number != 1) return false;
      requireRoom(shape, FileTensor::maxRank, field, "dimensions of a value");
      int64_t& size = shape.emplace_back(-1);
      forFields(field, "TensorShapeProto.Dimension", {2, 3}, [&](const WireField& part) {
        return part.number == 1 && takeWhole(size, part, "TensorShapeProto.Dimension");
      });
      return true;
    });
  }

  const OnnxLimits& limits_;
  OnnxModel model_;
  OnnxMemory memory_;
  bool hasGraph_ = false;
};

}  // namespace

Result<OnnxModel> parseOnnx(std::span<const uint8_t> bytes, const OnnxLimits& limits) {
  if (bytes.size() > limits.bytes) {
    return parseError(0, "the file has ", bytes.size(), " bytes; a model of ONNX has at most ", limits.bytes);
  }
  try {
    return ModelReader(limits).read(bytes);
  } catch (const WireRefusal& refusal) {
    return refusal.error;
  }
}

}  // namespace tandem
