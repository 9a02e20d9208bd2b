#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/weights/file_tensor.h"
#include "graph/graph.h"

namespace tandem::onnx {

/// A value of a tensor that a node learns. `suffix` is behind the node's name, as ".weight"; empty: the node's own
/// name.
struct ImportedWeight {
  std::string suffix;
  FileTensor tensor;       ///< in the shape of stateTensors()
  bool isStandIn = false;  ///< a value without effect, as the model has none yet
};

struct ImportedNode {
  const Operation* operation = nullptr;  ///< null: a part of a pattern, which must not be left at the end
  std::string part;                      ///< what it is, if operation is null
  std::vector<int> inputs;               ///< indexes of earlier nodes
  Attributes attributes;
  ImageShape shape;
  std::vector<std::string> names;  ///< that it may have, best first
  std::vector<ImportedWeight> weights;
  std::string origin;     ///< "node 'conv1' (Conv)", for errors
  bool isShared = false;  ///< several nodes or outputs of the model read one of its values
};

/// What is handed over for a new node.
struct NewNode {
  std::string_view operation;
  std::vector<int> inputs;
  Attributes attributes = {};
  std::vector<std::string> names = {};
  std::vector<ImportedWeight> weights = {};
};

/// The nodes that a model of ONNX becomes, before they are named. Node 0 is the input.
class ImportedGraph {
 public:
  explicit ImportedGraph(const ImageShape& input);

  /// Appends a node and returns its index. Throws UsageError if the shapes of its inputs do not fit the operation, and
  /// for more than 40,000 nodes.
  int add(NewNode node);
  /// Appends a part of a pattern, whose output has the shape of its input. Throws for more than 40,000 nodes.
  int addPart(std::string_view part, int input);

  const ImportedNode& at(int index) const { return nodes_.at(static_cast<size_t>(index)); }
  ImportedNode& at(int index) { return nodes_.at(static_cast<size_t>(index)); }
  /// Of the node that is read now; see ImportedNode::origin.
  void setOrigin(std::string origin) { origin_ = std::move(origin); }

  /// The node that makes the classes of `output`: a convolution or a linear layer without one behind it.
  /// Throws UsageError if there is none.
  int classifierOf(int output) const;

  struct Finished {
    Graph graph;
    std::vector<std::pair<std::string, FileTensor>> weights;  ///< by name of stateTensors()
  };

  /// The nodes that `output` needs, in order, as a graph whose classifier has `more` outputs more. Throws UsageError
  /// for a part of a pattern that is left, and for more nodes than a network file may have.
  Finished finish(int output, int64_t more) const;

 private:
  int append(ImportedNode node);

  std::deque<ImportedNode> nodes_;  // not a vector: nodes are referred to while others are added
  std::string origin_;
};

}  // namespace tandem::onnx
