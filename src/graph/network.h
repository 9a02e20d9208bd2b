#pragma once

#include <string>
#include <string_view>

#include "formats/network/network_file.h"
#include "graph/graph.h"

namespace tandem {

/// A network file (docs/NETWORK_FILE.md) whose graph was built.
struct Network {
  NetworkFile file;
  std::string sha256;  ///< SHA-256 of its bytes
};

/// Reads a network file. Throws DataError "PATH: ..." for a file that is missing or not a network file, and for a
/// network that cannot be built. The text names the node. A network cannot be built for one of these reasons:
/// - a name is taken or unknown, or an input does not precede its node (so there are no cycles);
/// - nobody reads a value, or shapes do not fit;
/// - an output is not [classes, 1, 1] although the loss needs that;
/// - images are not square or do not have three channels;
/// - a size exceeds the bounds of Graph::add().
Network openNetwork(const std::string& path);

/// Like openNetwork(), for the bytes of a file. `path` is used for errors only.
Network networkOf(std::span<const uint8_t> bytes, const std::string& path);

/// The graph for `classes` and square images of `imageSize` pixels. Throws UsageError if they do not fit.
Graph buildNetwork(const NetworkFile& file, int64_t classes, int64_t imageSize);

/// Writes the nodes, auxiliary values, loss and input of a graph as a network file. `wider` is the same network with
/// one class more. An attribute `outputs` that is one larger in `wider` becomes "classes". If another `outputs` grows
/// by more than one, the file has a fixed number of classes.
NetworkFile describeGraph(const Graph& graph, const Graph& wider);

}  // namespace tandem
