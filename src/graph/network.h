#pragma once

#include <string>
#include <string_view>

#include "formats/network/network_file.h"
#include "graph/graph.h"

namespace tandem {

/// A network file (docs/NETWORK_FILE.md) whose graph could be built.
struct Network {
  NetworkFile file;
  std::string sha256;  ///< of its bytes
};

/// Reads a network file. Throws DataError "PATH: ..." that names the node for a file that is missing or no network
/// file, and for a network that cannot be: names that are taken or unknown, inputs that do not stand before the node
/// (which rules out cycles), values that nobody reads, shapes that do not fit, outputs that are not [classes, 1, 1]
/// where the loss needs that, images that are not square or not of three channels, sizes beyond the bounds of
/// Graph::add().
Network openNetwork(const std::string& path);

/// The file's text and what it means: as openNetwork(), `path` is for errors only.
Network networkOf(std::span<const uint8_t> bytes, const std::string& path);

/// The graph for `classes` and square images of `imageSize` pixels. Throws UsageError where they do not fit.
Graph buildNetwork(const NetworkFile& file, int64_t classes, int64_t imageSize);

/// The nodes, the auxiliary values, the loss and the input of a graph as a file says them. An attribute `outputs` that
/// another graph of one class more, `wider`, has one larger is said to be "classes", unless `wider` has others larger
/// by more: such a file fixes its classes.
NetworkFile describeGraph(const Graph& graph, const Graph& wider);

}  // namespace tandem
