#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

/// Kinds of work of a replica's thread in a step. Spans nest, such as an update in the middle of backward, or a sum
/// within a wait.
enum class SpanKind : uint8_t {
  step,
  input,         ///< wait for the batch
  hostToDevice,  ///< copies of the batch to a GPU
  forward,
  loss,
  backward,
  launch,    ///< launch of a captured step; the host's calls within it are nested
  exchange,  ///< hand-over of gradients, sums, fetching of weights
  update,
  wait  ///< wait for other replicas; work done meanwhile is nested
};

/// "step", "input", "host to device", ...
std::string_view nameOf(SpanKind kind);

}  // namespace tandem
