#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "data/loader/batch_maker.h"
#include "device/batch.h"
#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// Where one replica's batches come from, in order 0, 1, 2, ... next() is called on the replica's thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// False: the epoch is over (no source of this catalog ends).
  virtual bool next(Batch& out) = 0;
};

struct SourceOptions {
  std::shared_ptr<const BatchMaker> maker;
  const Device* device = nullptr;
  at::ScalarType type = at::kFloat;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  int64_t zeroChannels = 0;  ///< behind the three of the images
  int64_t producers = 1;
  int64_t queueDepth = 4;
  std::vector<int> hardwareThreads;  ///< where producer threads may run; empty: anywhere
};

struct SourceEntry {
  std::string_view name, summary;
  bool realData;  ///< can deliver a data set from --data
  bool queued;    ///< threads make batches ahead, up to SourceOptions::queueDepth
  std::unique_ptr<BatchSource> (*make)(const SourceOptions&);
};

/// device: batch 0, made once, on the device. queue: made by producer threads, through a bounded queue, staged to the
/// device while the step before runs. host: made on the CPU in the step and copied. The first that can deliver what
/// is asked for is the usual one.
std::span<const SourceEntry> sources();

}  // namespace tandem
