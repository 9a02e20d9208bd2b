#include "data/loader/batch_source.h"

#include "data/loader/batch_stager.h"

namespace tandem {

std::span<const SourceEntry> sources() {
  static constexpr SourceEntry table[] = {
      {"device", "one batch, made once, already on the device: no input cost", false, false, makeDeviceSource,
       /*repeats=*/true},
      {"queue", "made by producer threads ahead of the step, staged to the device", true, true, makeQueueSource},
      {"host", "made on the CPU in every step and copied to the device", true, false, makeHostSource},
      {"python-queue",
       "batches that a Python generator yields (python-queue:FILE.py:FUNCTION), staged as those of queue", false, true,
       makeQueueSource, false, openPythonQueue, false, /*byProcesses=*/true},
      {"python-dataset", "samples that a Python generator yields (python-dataset:FILE.py:FUNCTION), joined to batches",
       false, true, makeQueueSource, false, openPythonDataset, false, /*byProcesses=*/true},
      {"zmq-consume", "messages of a ZeroMQ socket (zmq-consume:ADDRESS), as tensorpack sends them", false, true,
       makeQueueSource, false, openZmqStream, /*atAddress=*/true},
  };
  return table;
}

}  // namespace tandem
