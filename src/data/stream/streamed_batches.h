#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "data/dataset/labels.h"
#include "data/loader/host_batches.h"
#include "data/stream/frame_stream.h"

namespace tandem {

/// What the batches of a stream must be.
struct StreamedForm {
  std::string stream;       ///< for messages
  BatchOrigin origin = {};  ///< for records
  StreamedShape shape = {};
  const LabelKind* labels = nullptr;
  Normalization normalization = {};  ///< of images of bytes
  double timeoutSeconds = 60;        ///< without a message, and without a sign that the sender works
  int64_t mostDropped = 100;         ///< more messages that are no batches end the run
};

/// The messages of one stream, dealt to the replicas of a process in turn: message n is batch n / replicas of replica
/// n % replicas. Those that are no such batch are dropped, each with one warning. Thread-safe.
class DealtFrames {
 public:
  /// `waiting`: messages that may wait here for slower replicas.
  DealtFrames(std::unique_ptr<FrameStream> stream, StreamedForm form, int64_t replicas, int64_t waiting)
      : stream_(std::move(stream)), form_(std::move(form)), replicas_(replicas), waiting_(waiting) {}

  /// Batch k of a replica. Its tensors lie in the message. REQUIRES: each is asked for once. Throws what the stream
  /// throws, DataError behind the most that may be dropped, and PeerError after stop() and where none comes in time.
  HostBatch take(int64_t replica, int64_t k);

  /// Ends the waits of a replica, now and later.
  void stop(int64_t replica);

  const StreamedForm& form() const { return form_; }

 private:
  /// Waits for one message, not for long. The lock is given up meanwhile.
  void receive(MutexLock& lock) TANDEM_REQUIRES(mutex_);
  /// Throws what ends the waiting of a replica that began then.
  void checkWait(int64_t replica, Nanos begin) const TANDEM_REQUIRES(mutex_);
  void drop(const std::string& why) TANDEM_REQUIRES(mutex_);

  const std::unique_ptr<FrameStream> stream_;  // of the thread that receives
  const StreamedForm form_;
  const int64_t replicas_, waiting_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, HostBatch> ready_ TANDEM_GUARDED_BY(mutex_);  // by position in the stream
  int64_t received_ TANDEM_GUARDED_BY(mutex_) = 0;
  bool receiving_ TANDEM_GUARDED_BY(mutex_) = false;
  Nanos lastMessage_ TANDEM_GUARDED_BY(mutex_){};
  std::set<int64_t> stopped_ TANDEM_GUARDED_BY(mutex_);  // replicas
  std::exception_ptr failure_ TANDEM_GUARDED_BY(mutex_);
  int64_t dropped_ TANDEM_GUARDED_BY(mutex_) = 0;
};

/// The batch in a message, without a copy of its images. `why` says what is wrong with it; empty: nothing.
HostBatch batchOf(const Frame& frame, const StreamedForm& form, std::string& why);

/// The message of a batch.
std::vector<uint8_t> messageOf(const HostBatch& batch);

/// The batches of one replica.
std::unique_ptr<HostBatches> dealtTo(int64_t replica, std::shared_ptr<DealtFrames> frames);

}  // namespace tandem
