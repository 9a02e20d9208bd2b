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
  return enqueue(std::move(tensor), [this, op](const at::Tensor& own) -> Work {
    std::vector<at::Tensor> tensors{own};
    if (op == Collective::sum) return backend_->allreduce(tensors);
    if (op == Collective::broadcast) return backend_->broadcast(tensors);
    const int64_t size = backend_->getSize();
    std::vector<std::vector<at::Tensor>> parts(1);
    for (int64_t rank = 0; rank < size; ++rank) parts[0].push_back(partOf(own, size, rank));
    tensors[0] = parts[0][static_cast<size_t>(backend_->getRank())];
    return backend_->allgather(parts, tensors);
  });
}

// An all-to-all in which all but the root get nothing. c10d's gather would copy what the root gets once more.
Ticket C10dGroup::gatherTo(int root, at::Tensor own, at::Tensor all) {
  return enqueue(std::move(own), [this, root, all = std::move(all)](at::Tensor part) -> Work {
    const bool isRoot = backend_->getRank() == root;
    const auto size = static_cast<size_t>(backend_->getSize());
    std::vector<int64_t> sent(size, 0), received(size, isRoot ? part.numel() : 0);
    sent.at(static_cast<size_t>(root)) = part.numel();
    at::Tensor target = isRoot ? all.narrow(0, 0, std::ssize(received) * part.numel()) : part.narrow(0, 0, 0);
    return backend_->alltoall_base(target, part, received, sent);
  });
}

Ticket C10dGroup::broadcastFrom(int root, at::Tensor tensor) {
  return enqueue(std::move(tensor), [this, root](const at::Tensor& own) -> Work {
    std::vector<at::Tensor> tensors{own};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return backend_->broadcast(tensors, options);
  });
}

Ticket C10dGroup::enqueue(at::Tensor own, const Launch& launch) {
  check(own.dim() == 1 && own.is_contiguous(), "a group operation takes a 1-D contiguous tensor");
  const Ticket ticket = first_ + std::ssize(inFlight_);
  const bool skipped = threadFlight != nullptr && threadFlight->spoils(FaultKind::skipCollective);
  if (own.numel() == 0 || skipped) {
    inFlight_.emplace_back();
    return ticket;
  }
  if (threadFlight != nullptr && threadFlight->spoils(FaultKind::shortCollective)) {
    own = own.narrow(0, 0, (own.numel() + 1) / 2);
  }
  inFlight_.push_back(launched(own, launch, ticket)->getFuture());
  inFlight_.back()->addCallback([bell = bell_](c10::ivalue::Future&) { bell->ring(); });
  if (threadFlight != nullptr) threadFlight->startCollective(static_cast<int64_t>(own.nbytes()), ticket);
  return ticket;
}

C10dGroup::Work C10dGroup::launched(const at::Tensor& own, const Launch& launch, Ticket ticket) const {
  if (!compares_) return launch(own);
  try {
    return launch(own);
  } catch (const std::exception& failure) {
    failToStart(ticket, failure);
  }
}

void C10dGroup::failToStart(Ticket ticket, const std::exception& failure) const {
  const std::string text = concat("rank ", place_.rank, " of ", place_.size, ": collective ", ticket,
                                  " between ranks failed: ", lineOf(failure));
  if (text.find("Detected mismatch") != std::string::npos) throw InternalError(text);
  throw PeerError(text);
}

bool C10dGroup::progress() {
  for (; !inFlight_.empty() && (!inFlight_.front() || inFlight_.front()->completed()); ++first_) {
    const Future done = std::move(inFlight_.front());
    inFlight_.pop_front();
    if (done && threadFlight != nullptr) threadFlight->finishCollective();
    if (!done || !done->hasError()) continue;
    throw PeerError(concat("rank ", place_.rank, " of ", place_.size, ": collective ", first_,
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
