#include "comm/c10d/c10d_mail.h"

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

class C10dMessage final : public RankMessage {
 public:
  struct Way {
    int own, other, size;
    const char* does;  // "send to"
    std::chrono::milliseconds patience;
  };
  C10dMessage(c10::intrusive_ptr<c10d::Work> work, Way way, std::shared_ptr<OpenWaits> waits, Monitor& monitor)
      : work_(std::move(work)), way_(way), waits_(std::move(waits)), monitor_(monitor) {}

  void wait() override {
    const Span waiting(SpanKind::wait);
    if (!waits_->begin(*work_)) fail("it has ended");
    bool done = false;
    std::string failure;
    try {
      done = work_->wait(way_.patience);
    } catch (const std::exception& thrown) {
      failure = lineOf(thrown);
    }
    waits_->end(*work_);
    if (!failure.empty()) fail(failure);
    if (!done) fail("it was ended");
  }

 private:
  /// An abort says more than what it ended.
  [[noreturn]] void fail(const std::string& why) {
    monitor_.throwIfAborted();
    throw PeerError(
        concat("rank ", way_.own, " of ", way_.size, " could not ", way_.does, " rank ", way_.other, ": ", why));
  }

  c10::intrusive_ptr<c10d::Work> work_;
  const Way way_;
  const std::shared_ptr<OpenWaits> waits_;
  Monitor& monitor_;
};

}  // namespace

bool OpenWaits::begin(c10d::Work& work) {
  const MutexLock lock(mutex_);
  if (!closed_) open_.insert(&work);
  return !closed_;
}

void OpenWaits::end(c10d::Work& work) {
  const MutexLock lock(mutex_);
  open_.erase(&work);
}

void OpenWaits::close() noexcept {
  const MutexLock lock(mutex_);
  closed_ = true;
  for (c10d::Work* const work : open_) work->abort();
}

C10dMail::C10dMail(c10::intrusive_ptr<c10d::Backend> backend, Monitor& monitor)
    : backend_(std::move(backend)), monitor_(monitor) {
  monitor.onAbort([waits = waits_] { waits->close(); });
}

std::unique_ptr<RankMessage> C10dMail::send(int to, int tag, at::Tensor tensor) {
  const MutexLock lock(starting_);
  std::vector<at::Tensor> tensors{std::move(tensor)};
  return std::make_unique<C10dMessage>(
      backend_->send(tensors, to, tag),
      C10dMessage::Way{backend_->getRank(), to, backend_->getSize(), "send to", std::chrono::milliseconds::zero()},
      waits_, monitor_);
}

std::unique_ptr<RankMessage> C10dMail::receive(int from, int tag, at::Tensor tensor, double patienceSeconds) {
  const MutexLock lock(starting_);
  std::vector<at::Tensor> tensors{std::move(tensor)};
  const std::chrono::milliseconds patience(std::lround(patienceSeconds * 1000));
  return std::make_unique<C10dMessage>(
      backend_->recv(tensors, from, tag),
      C10dMessage::Way{backend_->getRank(), from, backend_->getSize(), "receive from", patience}, waits_, monitor_);
}

}  // namespace tandem
