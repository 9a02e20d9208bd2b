#include "comm/c10d/c10d_group.h"

#include "base/error.h"
#include "base/text.h"

namespace tandem {

void Bell::ring() {
  const MutexLock lock(mutex_);
  if (monitor_ != nullptr) monitor_->notify();
}

void Bell::silence() {
  const MutexLock lock(mutex_);
  monitor_ = nullptr;
}

C10dGroup::~C10dGroup() {
  bell_->silence();
  if (!inFlight_.empty()) backend_.release();
}

Ticket C10dGroup::start(at::Tensor tensor, Collective op) {
  check(tensor.dim() == 1 && tensor.is_contiguous(), "a group operation takes a 1-D contiguous tensor");
  if (tensor.numel() == 0) {
    inFlight_.emplace_back();
  } else {
    inFlight_.push_back(launch(std::move(tensor), op)->getFuture());
    inFlight_.back()->addCallback([bell = bell_](c10::ivalue::Future&) { bell->ring(); });
  }
  return first_ + std::ssize(inFlight_) - 1;
}

c10::intrusive_ptr<c10d::Work> C10dGroup::launch(at::Tensor tensor, Collective op) {
  const int64_t size = backend_->getSize();
  std::vector<at::Tensor> tensors{std::move(tensor)};
  if (op == Collective::sum) return backend_->allreduce(tensors);
  if (op == Collective::broadcast) return backend_->broadcast(tensors);
  std::vector<std::vector<at::Tensor>> parts(1);
  for (int64_t rank = 0; rank < size; ++rank) parts[0].push_back(partOf(tensors[0], size, rank));
  tensors[0] = parts[0][static_cast<size_t>(backend_->getRank())];
  return backend_->allgather(parts, tensors);
}

bool C10dGroup::progress() {
  for (; !inFlight_.empty() && (!inFlight_.front() || inFlight_.front()->completed()); ++first_) {
    const Future done = std::move(inFlight_.front());
    inFlight_.pop_front();
    if (!done || !done->hasError()) continue;
    throw PeerError(concat("rank ", backend_->getRank(), " of ", backend_->getSize(), ": collective ", first_,
                           " between ranks failed: ", firstLine(done->tryRetrieveErrorMessage())));
  }
  return inFlight_.empty();
}

bool C10dGroup::finished(Ticket ticket) {
  check(ticket < first_ + std::ssize(inFlight_), "a ticket that was started is asked for");
  return progress() || first_ > ticket;
}

void C10dGroup::wait(Ticket ticket) {
  monitor_.waitUntil([&] { return finished(ticket); });
}

}  // namespace tandem
