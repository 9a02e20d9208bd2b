#include "comm/c10d/c10d_group.h"

#include "base/error.h"
#include "base/text.h"

namespace tandem {

Ticket C10dGroup::start(at::Tensor tensor, Collective op) {
  check(tensor.dim() == 1 && tensor.is_contiguous(), "a group operation takes a 1-D contiguous tensor");
  if (tensor.numel() == 0) {
    inFlight_.emplace_back();
  } else {
    std::vector<at::Tensor> tensors{std::move(tensor)};
    const auto work = op == Collective::sum ? backend_->allreduce(tensors) : backend_->broadcast(tensors);
    inFlight_.push_back(work->getFuture());
    inFlight_.back()->addCallback([&monitor = monitor_](c10::ivalue::Future&) { monitor.notify(); });
  }
  return first_ + std::ssize(inFlight_) - 1;
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
