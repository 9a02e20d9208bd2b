#pragma once

#include <deque>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "comm/world.h"

namespace tandem {

/// Collectives between ranks by a backend of c10d, which runs them on threads of its own.
class C10dGroup final : public RankGroup {
 public:
  C10dGroup(c10::intrusive_ptr<c10d::Backend> backend, Monitor& monitor)
      : backend_(std::move(backend)), monitor_(monitor) {}

  Ticket start(at::Tensor tensor, Collective op) override;
  bool progress() override;
  void wait(Ticket ticket) override;
  bool finished(Ticket ticket) override;

 private:
  using Future = c10::intrusive_ptr<c10::ivalue::Future>;

  c10::intrusive_ptr<c10d::Backend> backend_;
  Monitor& monitor_;
  Ticket first_ = 0;             // the first that is in flight
  std::deque<Future> inFlight_;  // null: a tensor without values
};

}  // namespace tandem
