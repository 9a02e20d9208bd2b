#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "formats/onnx/onnx_model.h"
#include "models/onnx/axes.h"
#include "models/onnx/constant.h"
#include "models/onnx/imported_graph.h"

namespace tandem::onnx {

/// A tensor of the model that depends on the images: factor * x + offset, where x are elements of a node's value in the
/// order that `dims` says, channels from `firstChannel`.
struct View {
  int node = 0;
  Dims dims;
  int64_t firstChannel = 0;
  double factor = 1, offset = 0;

  bool operator==(const View&) const = default;
};

/// The product of queries and keys of attention, [..., L, L].
struct Scores {
  View query, key;
  double factor = 1;
  bool isSoftmax = false;
};

struct Sequence;
using Item = std::variant<std::monostate, View, Constant, Scores, Sequence>;

/// Tensors under one name, which an operator gives and others take one by one.
struct Sequence {
  std::vector<Item> parts;
};

/// What the handlers of operators share. Methods throw UsageError with the reason of a refusal.
class Importer {
 public:
  /// `imageSize` is height and width where the model leaves both free; 0: 224.
  Importer(const OnnxModel& model, ConstantMemory& memory, int64_t imageSize);

  /// Reads all nodes, and the rest of the file's graph.
  void run();

  ImportedGraph graph;
  ConstantMemory& memory;
  std::vector<std::string> notes;

  /// The output without what only shows probabilities. REQUIRES: run().
  int output();
  const ImageShape& shapeOf(const View& view) const { return graph.at(view.node).shape; }

  /// Gives the value `name` an item. Throws if it has one, and for more than FileTensor::maxRank dimensions.
  void define(const std::string& name, Item item);
  const Item& itemOf(const std::string& name) const;
  /// The name of the initializer whose values a constant shows, in another shape perhaps; else the constant's own.
  std::string sourceOf(const FileTensor& constant) const;
  /// How many nodes and outputs of the graph read the value, without nodes that read its shape alone.
  int64_t readersOf(const std::string& name) const;

  /// The same elements as a view of a whole node: parts of channels, shuffled channels and a factor become nodes.
  View whole(const View& view);
  /// The node of a view that is [N, C, H, W] and whole.
  int image(const View& view);

 private:
  void readInput();
  void readConstants();
  /// A node without weights; the one that is there if it has the same input and attributes.
  int once(std::string_view operation, int input, const Attributes& attributes);

  const OnnxModel& model_;
  const int64_t imageSize_;
  std::map<std::string, Item> items_;
  std::map<std::string, int64_t> readers_;
  std::map<std::tuple<std::string_view, int, int64_t, int64_t, int64_t, double>, int> made_;  // by once()
};

/// A node of the model while its handler runs.
class Call {
 public:
  Call(Importer& importer, const OnnxNode& node) : in(importer), node_(node) {}

  Importer& in;
  const OnnxNode& node() const { return node_; }

  size_t inputs() const { return node_.inputs.size(); }
  bool has(size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
  const std::string& inputName(size_t input) const { return node_.inputs.at(input); }
  const Item& item(size_t input) const;
  bool isView(size_t input) const { return has(input) && std::holds_alternative<View>(item(input)); }
  bool isConstant(size_t input) const { return has(input) && std::holds_alternative<Constant>(item(input)); }
  /// Throw if the input is something else.
  const View& view(size_t input) const;
  const Constant& constant(size_t input) const;
  /// The values of a constant input, or `otherwise` where the input is left away.
  std::vector<int64_t> wholesOr(size_t input, std::vector<int64_t> otherwise) const;

  int64_t whole(std::string_view attribute, int64_t otherwise) const;
  double number(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string otherwise) const;
  std::vector<int64_t> wholes(std::string_view attribute, std::vector<int64_t> otherwise) const;
  const OnnxAttribute* attribute(std::string_view name) const;

  void give(Item item, size_t output = 0);
  /// A node with the names that its place in the module and its weights suggest.
  int add(NewNode node, std::string_view weight = {}, std::string_view bias = {});
  /// A name for a parameter's module by the name of a constant that no other node reads: "conv1" of "conv1.weight".
  std::string moduleOf(std::string_view constant) const;
  /// The path of the module that the node belongs to, by the exporter's notes or the node's name.
  std::string modulePath(bool withFunction) const;

 private:
  const OnnxNode& node_;
};

/// The double whose shortest text is that of the float: 1e-5 for the float nearest to it.
double shortest(float value);

/// A vector of one value, for a weight that the model leaves out.
ImportedWeight standIn(ConstantMemory& memory, std::string suffix, int64_t count, double value);

/// The name of what a node computes: its operation, or a part of a pattern.
std::string_view operationOf(const Importer& in, int node);

/// Whether a view shows a node as it is: without factor and offset.
bool isPlain(const View& view);
/// Whether `made` is what the operation or part of a pattern with this name makes of `x`, pixel by pixel.
bool isMadeOf(const Importer& in, const View& made, std::string_view operation, const View& x);

/// Sizes of the dimensions. Throws UsageError for what has none.
std::vector<int64_t> shapeOfItem(const Item& item);

/// A row of the operators that are read.
struct Operator {
  std::string_view name;        ///< op_type
  void (*handle)(Call& call);   ///< for views; null: only constants are computed
  void (*fold)(Call& call);     ///< for constants alone; null: there must be a view
  std::string_view attributes;  ///< that it may have, separated by blanks
  bool readsShape = false;      ///< of its inputs the shapes alone
};

/// All rows. They are in several files, by what the operators do.
std::span<const Operator> layerOperators();
std::span<const Operator> elementOperators();
std::span<const Operator> shapeOperators();
std::span<const Operator> partOperators();
std::span<const Operator> arithmeticOperators();

/// Elements of a view by `factor` and `offset`, of a product or a sum with one number.
Item scaled(Item item, double factor, double offset);

}  // namespace tandem::onnx
