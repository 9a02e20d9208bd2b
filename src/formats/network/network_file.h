#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// The value of an attribute: a boolean, a text, or one or more numbers.
using NetworkValue = std::variant<bool, std::string, std::vector<double>>;

struct NetworkNode {
  std::string name, operation;
  std::vector<std::string> inputs;  ///< names of nodes
  std::vector<std::pair<std::string, NetworkValue>> attributes;
};

struct NetworkAuxiliary {
  std::string value;  ///< name of a node
  double lossWeight = 0;
};

/// A network file (docs/NETWORK_FILE.md). Only types, counts and ranges are checked here; graph/ knows the meaning of
/// names and attributes.
struct NetworkFile {
  std::string name;
  std::array<int64_t, 3> input{};  ///< channels, height, width
  int64_t classes = 0;
  std::string loss = "softmax_cross_entropy";
  int64_t batch = 16;  ///< default batch of `tandem bench`, like learningRate
  double learningRate = 0.01;
  std::vector<NetworkNode> nodes;  ///< without the input; each node follows its inputs
  std::vector<NetworkAuxiliary> auxiliaries;
};

struct NetworkLimits {
  uint64_t bytes = 4 << 20;
  size_t nodes = 10'000;
  size_t inputs = 1024;               ///< inputs of one node
  int64_t number = int64_t{1} << 24;  ///< magnitude of a whole number
};

/// Offsets of errors are 0 unless the bytes are not JSON: other errors name the node.
Result<NetworkFile> parseNetwork(std::span<const uint8_t> bytes, const NetworkLimits& limits = {});

/// The text of a file, one line per node. parseNetwork() of it gives `network` again.
std::string networkText(const NetworkFile& network);

}  // namespace tandem
