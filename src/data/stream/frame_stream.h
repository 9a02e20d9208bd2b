#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace tandem {

/// A message that holds a batch (formats/dataset/array_message.h).
struct Frame {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> memory;  ///< in which they lie; given back with the last copy
  std::string sender = {};             ///< for messages; empty: there is only one
  std::string fault = {};              ///< why it is none; empty: see its bytes
};

/// Messages from outside, in the order in which they come. One thread at a time.
class FrameStream {
 public:
  virtual ~FrameStream() = default;
  /// The next message; none if none comes for so long. Throws PeerError if the sender ends, and DataError for what it
  /// says, both with the name of the stream.
  virtual std::optional<Frame> next(int milliseconds) = 0;
  /// Whether the sender has shown since the last call that it works, be it without a message.
  virtual bool works() { return false; }
  /// What to look at where none comes; for messages.
  virtual std::string hint() const { return ""; }
};

/// The processes of this host that feed a run. Thread-safe.
class Feeders {
 public:
  void add(int process) {
    const MutexLock lock(mutex_);
    processes_.insert(process);
  }
  std::vector<int> processes() const {
    const MutexLock lock(mutex_);
    return {processes_.begin(), processes_.end()};
  }

 private:
  mutable Mutex mutex_;
  std::set<int> processes_ TANDEM_GUARDED_BY(mutex_);
};

/// The batches of a stream.
struct StreamedShape {
  int64_t batch = 0, height = 0, width = 0, classes = 0;
};

/// How a stream is opened.
struct StreamOptions {
  std::string name;           ///< of the source
  std::string argument = {};  ///< behind its name: --input=NAME:ARGUMENT; empty: the usual one
  int64_t waiting = 1;        ///< messages that may wait
  /// Where the stream starts processes that make messages: its own, among those of all ranks.
  int64_t firstWorker = 0, workers = 1, allWorkers = 1;
  int64_t mostBytes = 0;                       ///< of a message; larger ones are refused
  StreamedShape shape = {};                    ///< of the batches that are expected
  bool connects = false;                       ///< to an address where a sender waits, instead of waiting there
  std::string keys = {};                       ///< folder of the keys of an encrypted connection; empty: plain
  std::shared_ptr<Feeders> feeders = nullptr;  ///< to which the stream adds its own; null: nobody asks
  bool mayBeOpen = false;                      ///< whether others than this host may reach a plain address

  /// As it was typed.
  std::string text() const { return argument.empty() ? name : name + ':' + argument; }
};

/// Messages that come to a ZeroMQ socket (PULL), as tensorpack's send_dataflow_zmq sends them. The argument is the
/// address, ipc://testpipe without one. Throws UsageError for an address that cannot be used.
std::unique_ptr<FrameStream> openZmqStream(const StreamOptions& options);

/// Batches that a generator yields in a Python process; the argument is FILE.py:FUNCTION.
std::unique_ptr<FrameStream> openPythonQueue(const StreamOptions& options);

/// Samples that a generator yields in a Python process, which joins them to batches; the argument is FILE.py:FUNCTION.
std::unique_ptr<FrameStream> openPythonDataset(const StreamOptions& options);

}  // namespace tandem
