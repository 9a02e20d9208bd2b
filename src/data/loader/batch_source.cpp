#include "data/loader/batch_source.h"

#include <algorithm>

#include "data/loader/batch_stager.h"

namespace tandem {

std::span<const SourceEntry> sources() {
  static constexpr SourceEntry table[] = {
      {.name = "device",
       .summary = "one batch, made once, already on the device: no input cost",
       .make = makeDeviceSource,
       .repeats = true},
      {.name = "queue",
       .summary = "made by producer threads ahead of the step, staged to the device",
       .realData = true,
       .queued = true,
       .make = makeQueueSource},
      {.name = "host",
       .summary = "made on the CPU in every step and copied to the device",
       .realData = true,
       .make = makeHostSource},
      {.name = "python-queue",
       .summary = "batches that a Python generator yields (python-queue:FILE.py:FUNCTION), staged as those of queue",
       .queued = true,
       .make = makeQueueSource,
       .stream = openPythonQueue,
       .byProcesses = true},
      {.name = "python-dataset",
       .summary = "samples that a Python generator yields (python-dataset:FILE.py:FUNCTION), joined to batches",
       .queued = true,
       .make = makeQueueSource,
       .stream = openPythonDataset,
       .byProcesses = true},
      {.name = "zmq-consume",
       .summary = "messages of a ZeroMQ socket (zmq-consume:ADDRESS), as tensorpack sends them",
       .queued = true,
       .make = makeQueueSource,
       .stream = openZmqStream,
       .atAddress = true},
  };
  return table;
}

const SourceEntry& repeatingSource() { return *std::ranges::find(sources(), true, &SourceEntry::repeats); }

}  // namespace tandem
