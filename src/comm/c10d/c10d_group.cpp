#include "comm/c10d/c10d_group.h"

#include "base/error.h"
#include "base/text.h"
#include "trace/flight_recorder.h"

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
  const Ticket ticket = first_ + std::ssize(inFlight_);
  const bool skipped = threadFlight != nullptr && threadFlight->spoils(FaultKind::skipCollective);
  if (tensor.numel() == 0 || skipped) {
    inFlight_.emplace_back();
    return ticket;
  }
  if (threadFlight != nullptr && threadFlight->spoils(FaultKind::shortCollective)) {
    tensor = tensor.narrow(0, 0, (tensor.numel() + 1) / 2);
  }
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  inFlight_.push_back(launch(std::move(tensor), op, ticket)->getFuture());
  inFlight_.back()->addCallback([bell = bell_](c10::ivalue::Future&) { bell->ring(); });
  if (threadFlight != nullptr) threadFlight->startCollective(bytes);
  return ticket;
}

void C10dGroup::failToStart(Ticket ticket, const std::exception& failure) const {
  const std::string text = concat("rank ", backend_->getRank(), " of ", backend_->getSize(), ": collective ", ticket,
                                  " between ranks failed: ", lineOf(failure));
  if (text.find("Detected mismatch") != std::string::npos) throw InternalError(text);
  throw PeerError(text);
}

c10::intrusive_ptr<c10d::Work> C10dGroup::launch(at::Tensor tensor, Collective op, Ticket ticket) {
  if (!compares_) return launch(std::move(tensor), op);
  try {
    return launch(std::move(tensor), op);
  } catch (const std::exception& failure) {
    failToStart(ticket, failure);
  }
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
    if (done && threadFlight != nullptr) threadFlight->finishCollective();
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
