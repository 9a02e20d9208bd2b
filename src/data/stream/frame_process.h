#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/stream/frame_stream.h"
#include "data/stream/shared_slots.h"
#include "machine/process/child_output.h"
#include "machine/process/child_process.h"

namespace tandem {

struct FrameProcessOptions {
  ChildOptions child;  ///< without `shared`
  int64_t slots = 1, slotBytes = 0;
  /// Gets its lines that are not of messages. What it throws, next() throws behind the messages before.
  std::function<void(const std::string& line)> said;
};

/// The process has ended, so no more messages come. The text begins with "its process", without the sender's name.
struct SenderEnded : PeerError {
  explicit SenderEnded(int status);
  int status;  ///< of waitpid(2)
};

/// A child process that makes messages in memory which it shares with this one (SharedSlots, its childShared). For each
/// it writes a line "frame SLOT BYTES" to childOutput. One thread at a time.
class FrameProcess {
 public:
  /// Throws as ChildProcess and SharedSlots.
  explicit FrameProcess(FrameProcessOptions options);

  /// The next message; none if none comes for so long. Throws SenderEnded, PeerError for a line that is none, and what
  /// `said` threw.
  std::optional<Frame> next(int milliseconds);

  pid_t process() const { return process_; }
  int64_t taken() const { return taken_; }  ///< messages so far
  /// Whether it has written a line since the last call.
  bool spoke() { return std::exchange(spoke_, false); }
  const SharedSlots& slots() const { return *slots_; }

 private:
  void take(const std::string& line);
  void takeFrame(const std::string& line, std::string_view words);
  Frame frame();

  std::shared_ptr<const SharedSlots> slots_;
  std::function<void(const std::string& line)> said_;
  ChildProcess child_;
  const pid_t process_;
  LineReader lines_;
  struct Filled {
    int64_t slot, bytes;
  };
  std::deque<Filled> there_;
  int64_t taken_ = 0;
  std::exception_ptr failure_;
  bool ended_ = false, spoke_ = false;
};

}  // namespace tandem
