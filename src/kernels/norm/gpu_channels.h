#pragma once

#include "kernels/norm/gpu_forward.h"

namespace tandem {

namespace norm_programs {

// A block joins the chunks of eight channels: 32 bytes of each row of partials.
inline constexpr int joinLanes = 8, joinLayers = blockThreads / joinLanes;

inline int64_t joinBlocks(const NormGrid& grid) { return (grid.channels + joinLanes - 1) / joinLanes; }

/// Two numbers in fp64.
struct TwoSums {
  double first, second;

  TANDEM_THREAD void add(TwoSums other) { first += other.first, second += other.second; }
};

/// Two sums per thread; in the end those of the block's channels in the first ones.
struct JoinedSums {
  TwoSums of[blockThreads];
};

/// Sums terms(chunk, channel, first, second) over all chunks, where the two are what partials [2, chunks, channels]
/// hold.
template <class Block, class Terms>
TANDEM_THREAD void sumOverChunks(const Block& block, const NormGrid& grid, const float* partials, JoinedSums& sums,
                                 const Terms& terms) {
  block.each([&](int thread) {
    const int64_t channel = block.index * joinLanes + thread % joinLanes;
    const float* const second = partials + grid.chunks * grid.channels;
    TwoSums sum{0, 0};
    if (channel < grid.channels) {
      TANDEM_UNROLL_BY(8)  // as many loads under way: there are few threads, and each waits for memory
      for (int64_t chunk = thread / joinLanes; chunk < grid.chunks; chunk += joinLayers) {
        const int64_t at = chunk * grid.channels + channel;
        sum.add(terms(chunk, channel, partials[at], second[at]));
      }
    }
    sums.of[thread] = sum;
  });
  foldLayers(block, joinLanes, joinLayers, [&](int into, int from) { sums.of[into].add(sums.of[from]); });
}

/// Calls body(channel, lane) for the channels of a block.
template <class Block, class Body>
TANDEM_THREAD void overJoined(const Block& block, const NormGrid& grid, const Body& body) {
  block.each([&](int thread) {
    const int64_t channel = block.index * joinLanes + thread;
    if (thread < joinLanes && channel < grid.channels) body(channel, thread);
  });
}

// Programs with one thread per channel.
inline int64_t channelBlocks(int64_t channels) { return (channels + blockThreads - 1) / blockThreads; }

/// Calls body(channel) for the channels of a block of such a program.
template <class Block, class Body>
TANDEM_THREAD void overChannels(const Block& block, int64_t channels, const Body& body) {
  block.each([&](int thread) {
    const int64_t channel = block.index * blockThreads + thread;
    if (channel < channels) body(channel);
  });
}

}  // namespace norm_programs

/// The per-channel values of the normalisation, [channels] each: y = x * factor + offset.
struct NormChannels {
  const float *scale, *shift;
  double epsilon;
  float *inverseDeviation, *factor, *offset;

  TANDEM_THREAD void write(int64_t channel, float mean, double variance) const {
    const auto inverse = static_cast<float>(1 / sqrt(variance + epsilon)), slope = scale[channel] * inverse;
    inverseDeviation[channel] = inverse;
    factor[channel] = slope;
    offset[channel] = fmaf(-mean, slope, shift[channel]);
  }
};

/// The destinations of a batch's statistics, [channels] each. The running ones become (1 - momentum) * running +
/// momentum * batch, with the unbiased variance.
struct NormBatch {
  NormChannels channels;
  float *mean, *runningMean, *runningVar;
  double momentum, values;  ///< `values`: per channel

  TANDEM_THREAD void write(int64_t channel, double average, double variance) const {
    const double unbiased = values > 1 ? variance * values / (values - 1) : variance;
    mean[channel] = static_cast<float>(average);
    runningMean[channel] = blend(runningMean[channel], average);
    runningVar[channel] = blend(runningVar[channel], unbiased);
    channels.write(channel, mean[channel], variance);
  }

 private:
  TANDEM_THREAD float blend(float running, double batch) const {
    return static_cast<float>((1 - momentum) * running + momentum * batch);
  }
};

/// Joins the chunks' statistics: sums of squares about the chunks' means become one about the common mean. Means are
/// taken as distances from that of the first chunk, which are small wherever the common mean is: so little cancels.
struct NormFinish {
  NormGrid grid;
  const float* partials;  ///< written by NormStatistics
  NormBatch batch;

  template <int width>
  struct Shared : norm_programs::JoinedSums {};

  int64_t blocks() const { return norm_programs::joinBlocks(grid); }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>& shared) const {
    using namespace norm_programs;
    const double count = batch.values;
    sumOverChunks(block, grid, partials, shared, [&](int64_t chunk, int64_t channel, double mean, double deviations) {
      const double distance = mean - partials[channel], sum = static_cast<double>(grid.rowsOf(chunk)) * distance;
      return TwoSums{sum, deviations + sum * distance};
    });
    overJoined(block, grid, [&](int64_t channel, int lane) {
      const auto [sum, squares] = shared.of[lane];
      const double distance = sum / count, variance = squares / count - distance * distance;
      batch.write(channel, partials[channel] + distance, variance < 0 ? 0 : variance);  // NaN stays NaN
    });
  }
};

/// The same from the statistics that a convolution accumulated (ChannelStats).
struct NormFromSums {
  int64_t channelCount;
  const float *sum, *squares, *about;  ///< `about` null: 0
  NormBatch batch;

  template <int width>
  struct Shared {};

  int64_t blocks() const { return norm_programs::channelBlocks(channelCount); }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    norm_programs::overChannels(block, channelCount, [&](int64_t channel) {
      const double distance = sum[channel] / batch.values;
      const double variance = squares[channel] / batch.values - distance * distance;
      const double average = about ? about[channel] + distance : distance;
      batch.write(channel, average, variance < 0 ? 0 : variance);  // NaN stays NaN
    });
  }
};

/// The same in evaluation, from the running statistics.
struct NormEvaluate {
  int64_t channelCount;
  const float *runningMean, *runningVar;
  NormChannels channels;

  template <int width>
  struct Shared {};

  int64_t blocks() const { return norm_programs::channelBlocks(channelCount); }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    norm_programs::overChannels(block, channelCount, [&](int64_t channel) {
      channels.write(channel, runningMean[channel], runningVar[channel]);
    });
  }
};

/// Joins the chunks' sums of NormSums into the gradients of scale and shift, and the inputs of NormGradient.
struct NormSumsFinish {
  NormGrid grid;
  const float* partials;  ///< written by NormSums
  const float *inverseDeviation, *factor;
  bool training;         ///< false: bias and slope are zero, because the statistics do not depend on x
  Element gradientType;  ///< of scaleGradient and shiftGradient
  void *scaleGradient, *shiftGradient;
  float *bias, *slope;

  static constexpr int widest = 1;
  template <int width>
  struct Shared : norm_programs::JoinedSums {};

  int64_t blocks() const { return norm_programs::joinBlocks(grid); }
  Access access() const { return {gradientType, 1}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>& shared) const {
    using namespace norm_programs;
    sumOverChunks(block, grid, partials, shared, [](int64_t, int64_t, double sum, double product) {
      return TwoSums{sum, product};
    });
    overJoined(block, grid, [&](int64_t channel, int lane) {
      const auto [sum, product] = shared.of[lane];
      const double deviation = inverseDeviation[channel], normed = product * deviation;
      const double share = training ? 1 / static_cast<double>(grid.rows) : 0;
      static_cast<T*>(shiftGradient)[channel] = Block::template narrow<T>(static_cast<float>(sum));
      static_cast<T*>(scaleGradient)[channel] = Block::template narrow<T>(static_cast<float>(normed));
      bias[channel] = static_cast<float>(sum * share);
      slope[channel] = static_cast<float>(-share * normed * deviation * factor[channel]);
    });
  }
};

}  // namespace tandem
