#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "data/loader/host_batches.h"
#include "data/loader/mixing.h"
#include "data/stream/frame_stream.h"
#include "device/batch.h"
#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// Provides one replica's batches in order 0, 1, 2, ... next() is called on the replica's thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// False if the epoch is over (no source of this catalog ends).
  virtual bool next(Batch& out) = 0;
};

/// Where images go, and the form that the network takes them in.
struct InputForm {
  const Device* device = nullptr;
  at::ScalarType type = at::kFloat;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  int64_t zeroChannels = 0;  ///< zero channels behind the three of the images
};

struct SourceOptions {
  std::shared_ptr<const HostBatches> batches;
  InputForm form;
  Mixing mixing = {};
  int64_t firstBatch = 0;  ///< number of the first batch in the training; used for mixing
  int64_t firstImage = 0;  ///< place of the batches' first image in the global batch; used for mixing
  int64_t producers = 1;
  int64_t queueDepth = 4;
  std::vector<int> hardwareThreads;  ///< cores of the producer threads; empty: any
};

struct SourceEntry {
  std::string_view name, summary;
  bool realData = false;  ///< whether it can provide a data set from --data
  bool queued = false;    ///< whether threads make batches ahead, up to SourceOptions::queueDepth
  std::unique_ptr<BatchSource> (*make)(const SourceOptions&);
  bool repeats = false;  ///< whether every batch is batch 0
  /// Where batches come from outside: opens what they come through. Null: they are made here.
  std::unique_ptr<FrameStream> (*stream)(const StreamOptions&) = nullptr;
  bool atAddress = false;    ///< whether the stream has an address, at which one process can wait
  bool byProcesses = false;  ///< whether processes make them, of which --producers says the number
};

/// device: batch 0, made once, on the device. queue: made by producer threads, passed through a bounded queue, and
/// staged to the device during the step before. host: made on the CPU in the step, then copied. python-queue,
/// python-dataset, zmq-consume: taken from a stream, and staged as those of queue. The default is the first that can
/// provide the requested data.
std::span<const SourceEntry> sources();

/// The row whose every batch is batch 0.
const SourceEntry& repeatingSource();

}  // namespace tandem
