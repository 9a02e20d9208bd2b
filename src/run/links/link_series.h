#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// What is done over a link. A row of linkKinds().
struct LinkKind {
  std::string_view name;   ///< of the series that have it
  std::string_view title;  ///< of their table
  /// Bus bandwidth over algorithm bandwidth, for n parties. Source: the page doc/PERFORMANCE.md of NVIDIA/nccl-tests.
  double (*busFactor)(int parties);
  bool sumsGradients;  ///< an all-reduce, which is what a training step does with its gradients
  bool clockedSingly;  ///< each transfer has two readings of the clock of its own, which are part of its time
};

/// cores, replicas, ranks, rank-broadcast, host-gpu, gpu-gpu.
std::span<const LinkKind> linkKinds();

/// The row of this name. Throws InternalError: names come from this program.
const LinkKind& linkKind(std::string_view name);

/// The times of one transfer at one size.
struct LinkTimes {
  int64_t bytes = 0;                 ///< of one copy, or of each party's tensor
  int64_t calls = 1;                 ///< transfers in a row in one repetition
  std::vector<double> seconds = {};  ///< of one transfer, per repetition

  bool operator==(const LinkTimes&) const = default;
};

/// One way to use one link, over sizes.
struct LinkSeries {
  std::string kind;                   ///< a row of linkKinds()
  std::string link;                   ///< its ends: "cores 0 and 1", "4 replicas", "cuda:0 and cuda:1"
  std::string path;                   ///< what lies between them: "L3", "loopback", "PIX"; empty: not known
  std::string way;                    ///< "ring", "pinned, to the GPU"
  int parties = 2;                    ///< that take part in a transfer
  int copies = 1;                     ///< of `bytes` each that are under way at once
  double statedBytes = 0;             ///< per second, by the data sheet, for all copies together; 0: not known
  std::vector<LinkTimes> times = {};  ///< by rising size

  bool operator==(const LinkSeries&) const = default;
};

/// One line of JSON without its end, and back. seriesOf() throws InternalError if the text is none.
std::string textOf(const LinkSeries& series);
LinkSeries seriesOf(const std::string& text);

}  // namespace tandem
