#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/norm/backend.h"

namespace tandem {
namespace {

constexpr int64_t wideEnough = 64;  // the least columns of a row that make a good vector loop
constexpr int64_t chunksWanted = 64, chunkElements = 1 << 18, chunkRowsAtMost = 4096;
constexpr int64_t grainElements = 1 << 15;

const NormKernels& kernels() { return isaKernels<NormKernels>(); }

/// x as blocks of rows. Plain x is one block, with a row of all channels per pixel, or a block for each image. In
/// blocked x (kernels/conv/nchwc.h) each channel block of each image is one. Short rows are joined, so a channel may
/// own several columns.
struct Matrix {
  int64_t channels, width;  // all channels; channels of a row
  int64_t groups, blocks;   // block k holds the channels of group k % groups
  int64_t rows, columns;    // of one block

  Matrix(const at::Tensor& x, int64_t channelCount, bool imagesApart = false)
      : channels(channelCount),
        width(x.size(1)),
        groups(channels / width),
        blocks(groups == 1 && !imagesApart ? 1 : x.size(0)),
        rows(x.numel() / (blocks * width)),
        columns(width) {
    while (columns < wideEnough && rows % 2 == 0) {
      rows /= 2;
      columns *= 2;
    }
  }

  /// Per-channel `values` [C] repeated for each column of the channel, group after group; also those of many images,
  /// [N * C].
  at::Tensor widened(const at::Tensor& values) const {
    if (columns == width) return values;
    const int64_t rowsOfValues = values.numel() / width;
    const at::Tensor repeated = values.view({rowsOfValues, 1, width}).expand({rowsOfValues, columns / width, width});
    return repeated.reshape({rowsOfValues * columns}).contiguous();  // reshape() may give a view of one value
  }
  int64_t groupOf(int64_t block) const { return block % groups; }
  int64_t valuesPerChannel() const { return blocks / groups * rows * (columns / width); }
};

/// The rows cut into chunks, each within one block. Chunks do not depend on the number of threads, so that sums do not.
struct Chunks {
  const Matrix& matrix;
  int64_t rows, perBlock, count;

  explicit Chunks(const Matrix& m)
      : matrix(m),
        rows(std::clamp<int64_t>(m.blocks * m.rows / chunksWanted, 8,
                                 std::clamp<int64_t>(chunkElements / m.columns, 8, chunkRowsAtMost))),
        perBlock((m.rows + rows - 1) / rows),
        count(m.blocks * perBlock) {}

  int64_t blockOf(int64_t chunk) const { return chunk / perBlock; }
  int64_t rowsOf(int64_t chunk) const { return std::min(rows, matrix.rows - chunk % perBlock * rows); }

  /// Calls body(chunk, block, first row, end of rows) for all chunks, on the available threads.
  template <class Body>
  void overAll(const Body& body) const {
    const int64_t grain = std::max<int64_t>(1, grainElements / (std::min(rows, matrix.rows) * matrix.columns));
    at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t block = blockOf(chunk), first = block * matrix.rows + chunk % perBlock * rows;
        body(chunk, block, first, first + rowsOf(chunk));
      }
    });
  }
};

/// Two fp32 numbers per column and chunk. Each sums the rows of one chunk only, so it stays accurate; chunks are then
/// joined in fp64.
class Partials {
 public:
  explicit Partials(const Chunks& chunks)
      : chunks_(chunks), values_(at::empty({2, chunks.count, chunks.matrix.columns}, at::kFloat)) {}

  /// Calls body(block, first row, end of rows, first numbers, second numbers) per chunk; it writes one number per
  /// column.
  template <class Body>
  void fill(const Body& body) {
    auto* const values = values_.data_ptr<float>();
    const int64_t columns = chunks_.matrix.columns;
    chunks_.overAll([&](int64_t chunk, int64_t block, int64_t first, int64_t last) {
      body(block, first, last, values + chunk * columns, values + (chunks_.count + chunk) * columns);
    });
  }

  /// Calls body(channel, first number, second number, rows) over all chunks and columns.
  template <class Body>
  void overAll(const Body& body) const {
    const Matrix& m = chunks_.matrix;
    const auto* const values = values_.const_data_ptr<float>();
    for (int64_t chunk = 0; chunk < chunks_.count; ++chunk) {
      const auto rows = static_cast<double>(chunks_.rowsOf(chunk));
      const int64_t channel = m.groupOf(chunks_.blockOf(chunk)) * m.width;
      const float *const first = values + chunk * m.columns, *const second = first + chunks_.count * m.columns;
      for (int64_t stretch = 0; stretch < m.columns; stretch += m.width) {
        for (int64_t c = 0; c < m.width; ++c) body(channel + c, first[stretch + c], second[stretch + c], rows);
      }
    }
  }

 private:
  const Chunks& chunks_;
  at::Tensor values_;
};

at::Tensor zerosFor(const Matrix& matrix) { return at::zeros({matrix.channels}, at::kDouble); }

// Joins the chunks' sums of squares about their own means into one about the common mean.
ChannelMoments momentsOf(const at::Tensor& x, const Matrix& matrix) {
  const Chunks chunks(matrix);
  Partials partials(chunks);
  const NormStatisticsArguments arguments{x.const_data_ptr(), elementOf(x, "normAct"), matrix.columns};
  partials.fill([&](int64_t, int64_t first, int64_t last, float* mean, float* squares) {
    kernels().statistics(arguments, first, last, mean, squares);
  });
  const double count = static_cast<double>(matrix.valuesPerChannel());
  ChannelMoments moments{zerosFor(matrix), zerosFor(matrix)};
  auto* const mean = moments.mean.data_ptr<double>();
  auto* const variance = moments.variance.data_ptr<double>();
  partials.overAll([=](int64_t c, double own, double, double rows) { mean[c] += own * (rows / count); });
  partials.overAll([=](int64_t c, double own, double deviations, double rows) {
    const double distance = own - mean[c];
    variance[c] += (deviations + rows * distance * distance) / count;
  });
  return moments;
}

struct Sums {
  at::Tensor gradient, product;  // [C] fp64: sums of the masked gradient g, and of g * (x - mean)
};

Sums sumsOf(const NormActGradientArguments& arguments, const Matrix& matrix) {
  const Chunks chunks(matrix);
  Partials partials(chunks);
  partials.fill([&](int64_t block, int64_t first, int64_t last, float* sum, float* product) {
    kernels().sums(arguments.ofBlock(block, matrix.groupOf(block)), first, last, sum, product);
  });
  Sums sums{zerosFor(matrix), zerosFor(matrix)};
  auto* const gradient = sums.gradient.data_ptr<double>();
  auto* const product = sums.product.data_ptr<double>();
  partials.overAll([=](int64_t c, double ofGradient, double ofProduct, double) {
    gradient[c] += ofGradient;
    product[c] += ofProduct;
  });
  return sums;
}

void keepFactors(NormActSaved& saved) {
  saved.factor = saved.parameters.scale * saved.inverseDeviation;
  saved.offset = saved.parameters.shift - saved.mean * saved.factor;
}

/// `own`: of this replica. `count`: its values per channel.
void keepBatch(const ChannelMoments& own, int64_t count, const NormActOptions& options, NormActSaved& saved) {
  const JoinedMoments batch = joined(own, static_cast<double>(count), options.exchange);
  updateRunning(saved.parameters, batch, options.momentum);
  saved.values = batch.values;
  saved.mean = batch.moments.mean.to(at::kFloat);
  saved.inverseDeviation = (batch.moments.variance + options.epsilon).rsqrt().to(at::kFloat);
  keepFactors(saved);
}

class NormActOnCpu final : public NormActPasses {
 public:
  void statistics(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) const override {
    const NormParameters& parameters = saved.parameters;
    if (options.training) {
      const Matrix matrix(x, parameters.scale.numel());
      return keepBatch(momentsOf(x, matrix), matrix.valuesPerChannel(), options, saved);
    }
    saved.mean = parameters.runningMean;
    saved.inverseDeviation = (parameters.runningVar + options.epsilon).rsqrt_();
    keepFactors(saved);
  }

  void statistics(const at::Tensor& x, const ChannelStats& sums, const NormActOptions& options,
                  NormActSaved& saved) const override {
    const int64_t channels = saved.parameters.scale.numel(), count = x.numel() / channels;
    check(sums.sum.numel() == channels, "normAct: sums per channel");
    keepBatch(tandem::momentsOf(sums, count), count, options, saved);
  }

  void normalise(const at::Tensor& x, NormActArguments arguments, NormActSaved& saved) const override {
    const Matrix matrix(x, saved.factor.numel());
    const at::Tensor factor = matrix.widened(saved.factor), offset = matrix.widened(saved.offset);
    setColumns(arguments, matrix.columns, factor, offset);
    Chunks(matrix).overAll([&](int64_t, int64_t block, int64_t first, int64_t last) {
      kernels().apply(arguments.ofGroup(matrix.groupOf(block)), first, last);
    });
  }

  bool addsGradientsOfImages() const override { return true; }

  void gradients(const at::Tensor& x, const at::Tensor& ofImages, const NormActSaved& saved,
                 const NormActOptions& options, NormActGradientArguments arguments,
                 NormActGradients& result) const override {
    const Matrix matrix(x, saved.factor.numel(), /*imagesApart=*/ofImages.defined());
    const at::Tensor factor = matrix.widened(saved.factor), offset = matrix.widened(saved.offset);
    const at::Tensor mean = matrix.widened(saved.mean);
    const at::Tensor added = ofImages.defined() ? matrix.widened(ofImages) : ofImages;
    setColumns(arguments, matrix.columns, factor, offset);
    arguments.mean = mean.const_data_ptr<float>();
    arguments.ofImage = added.defined() ? added.const_data_ptr<float>() : nullptr;

    Sums sums = sumsOf(arguments, matrix);
    const at::Tensor deviation = saved.inverseDeviation.to(at::kDouble);
    result.shift = sums.gradient.to(at::kFloat);
    result.scale = (sums.product * deviation).to(at::kFloat);

    // Scale and shift get this replica's part of their gradients: those of all replicas are summed with all others.
    if (options.training) sumBoth(sums.gradient, sums.product, options.exchange);
    const double share = options.training ? 1 / saved.values : 0;
    const at::Tensor bias = matrix.widened((sums.gradient * share).to(at::kFloat));
    const at::Tensor slope = matrix.widened(
        (saved.parameters.scale.to(at::kDouble) * deviation * deviation * deviation * sums.product * -share)
            .to(at::kFloat));
    arguments.bias = bias.const_data_ptr<float>();
    arguments.slope = slope.const_data_ptr<float>();
    Chunks(matrix).overAll([&](int64_t, int64_t block, int64_t first, int64_t last) {
      kernels().gradient(arguments.ofBlock(block, matrix.groupOf(block)), first, last);
    });
  }
};

}  // namespace

const NormActPasses& normActOnCpu() {
  static const NormActOnCpu passes;
  return passes;
}

}  // namespace tandem
