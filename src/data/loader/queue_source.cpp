#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>
#include <thread>

#include "base/error.h"
#include "data/loader/batch_stager.h"
#include "data/loader/ordered_queue.h"

namespace tandem {
namespace {

class QueueSource final : public BatchSource {
 public:
  explicit QueueSource(const SourceOptions& options) : options_(options), queue_(options.queueDepth) {
    check(options.queueDepth >= 1 && options.producers >= 1, "SourceOptions: queueDepth and producers");
    try {
      for (int64_t i = 0; i < options.producers; ++i) producers_.emplace_back([this] { produce(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~QueueSource() override { stop(); }

  bool next(Batch& out) override {
    auto batch = queue_.take();
    check(batch.has_value(), "QueueSource: next() after its end");
    out = std::move(*batch);
    if (!options_.form.device->isCpu()) shareWithCurrentStream(out);
    return true;
  }

 private:
  void stop() {
    queue_.stop();
    options_.batches->stop();
  }

  void produce() {
    auto k = queue_.claim();
    if (!k) return;
    try {
      Device::cpu(0, options_.hardwareThreads, 1).bind();
      std::optional<c10::StreamGuard> sideStream;
      if (const auto stream = options_.form.device->sideStream()) sideStream.emplace(*stream);
      Staging staging(options_);
      for (; k; k = queue_.claim()) {
        Batch batch = staging.make(*k);
        batch.ready = options_.form.device->record();
        queue_.put(*k, std::move(batch));
      }
    } catch (...) {
      queue_.fail(*k, std::current_exception());
    }
  }

  // The memory belongs to the producer's stream, which must not reuse it before the consumer's work is done.
  void shareWithCurrentStream(const Batch& batch) const {
    const c10::impl::VirtualGuardImpl guard(options_.form.device->torch().type());
    const c10::Stream stream = guard.getStream(options_.form.device->torch());
    batch.images.record_stream(stream);
    batch.labels.record_stream(stream);
  }

  const SourceOptions options_;
  OrderedQueue<Batch> queue_;
  std::vector<std::jthread> producers_;  // last member: joined before the queue is destroyed
};

}  // namespace

std::unique_ptr<BatchSource> makeQueueSource(const SourceOptions& options) {
  return std::make_unique<QueueSource>(options);
}

}  // namespace tandem
