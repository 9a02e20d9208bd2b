#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "comm/group.h"
#include "device/flat_buffers.h"

namespace tandem {

struct CompressionEntry;

/// How gradients are compressed.
struct CompressionOptions {
  const CompressionEntry* method = nullptr;  ///< null: the catalog's first
  double ratio = 0.01;                       ///< share of a parameter's values that is sent, above 0, at most 1
  int64_t rank = 4;                          ///< of the two factors that stand for a matrix, at least 1
  int64_t start = 0;                         ///< the first step that compresses; those before exchange whole gradients
};

/// A parameter as a matrix in the flat memory of its bucket: a row for each output of a weight; one row of a vector.
struct GradientMatrix {
  int parameter = 0;
  int64_t begin = 0;  ///< its first element in the bucket
  int64_t rows = 1, columns = 1;
  bool isVector = false;
  int64_t block = 1;  ///< rows that lie side by side in memory (ParameterSpec::block); else 1

  int64_t count() const { return rows * columns; }
  /// [rows / block, block, columns], a view of the bucket's flat memory.
  at::Tensor in(const at::Tensor& bucket) const;
  /// [count], likewise, in the order of memory.
  at::Tensor flatIn(const at::Tensor& bucket) const { return bucket.narrow(0, begin, count()); }
};

/// The parameters of a bucket, in the order of memory.
std::vector<GradientMatrix> matricesOf(const FlatBuffers& buffers, Slice bucket);

/// What a compressor is made for.
struct CompressorPlace {
  std::vector<GradientMatrix> matrices;  ///< of its bucket
  int64_t count = 0;                     ///< elements of the bucket
  int64_t replicas = 1, replica = 0;     ///< how many exchange, and which part of a gather is this one's
  c10::Device device;
  CompressionOptions options;
};

/// Compresses one bucket of one replica, step after step. `values` [count] fp32 are what the replica has to tell: its
/// gradient and what earlier messages have left out. Messages are exchanged in rounds, in place. For one thread.
///
/// Every replica decodes the same bits to the same bits. A value that is not finite on any replica leaves one that is
/// not finite in the sum.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Writes this replica's message of `round`, from 0. REQUIRES: the rounds before are exchanged.
  virtual void encode(int round, const at::Tensor& values) = 0;
  /// [n], to be exchanged by the row's collective: the same tensor in every step.
  const at::Tensor& message(int round) const { return messages_.at(static_cast<size_t>(round)); }
  /// Writes into `sum` [count] fp32 what all replicas' messages say together, and takes from `values` what this
  /// replica has told. REQUIRES: the last round is exchanged.
  virtual void decode(at::Tensor values, at::Tensor sum) = 0;
  /// Keeps what the step has changed for the next one. `skipped` [1] fp32: not 0 if the step updates nothing, and then
  /// nothing is kept. Undefined: it counts.
  virtual void endStep(const at::Tensor& /*skipped*/) {}

 protected:
  std::vector<at::Tensor> messages_;
};

/// `kept` becomes `next`, unless the step is skipped; `next` is scratch then. Both have one size.
void keepUnless(const at::Tensor& skipped, at::Tensor& kept, at::Tensor& next);

/// A row of the catalog of compressions.
struct CompressionEntry {
  std::string_view name, summary;
  Collective exchange;  ///< by which messages travel
  int rounds;
  bool usesRatio, usesRank;
  std::unique_ptr<Compressor> (*make)(CompressorPlace);
};

/// powersgd, onebit, topk.
std::span<const CompressionEntry> compressions();

/// The row of `options`.
const CompressionEntry& methodOf(const CompressionOptions& options);

/// The functions in the rows.
std::unique_ptr<Compressor> makePowerSgd(CompressorPlace place);
std::unique_ptr<Compressor> makeOneBit(CompressorPlace place);
std::unique_ptr<Compressor> makeTopK(CompressorPlace place);

/// [columns, rank] fp32 on the CPU: the factor of a parameter with which PowerSGD starts, normally distributed, and the
/// same in all processes.
at::Tensor firstFactor(int parameter, int64_t columns, int64_t rank);

/// How many of `count` values top-k sends: the share, rounded, and one at least.
int64_t keptValues(int64_t count, double ratio);

}  // namespace tandem
