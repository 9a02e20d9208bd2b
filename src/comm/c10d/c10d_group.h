#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/mutex.h"
#include "comm/world.h"

namespace tandem {

/// Tells a monitor that an operation has ended, for as long as its group is there. Any thread may call it.
class Bell {
 public:
  explicit Bell(Monitor& monitor) : monitor_(&monitor) {}
  void ring();
  void silence();

 private:
  Mutex mutex_;
  Monitor* monitor_ TANDEM_GUARDED_BY(mutex_);
};

/// Collectives between ranks by a backend of c10d, which runs them on threads of its own.
class C10dGroup final : public RankGroup {
 public:
  /// `place`: of this rank in the run, of which the backend may have a part. `compares`: the backend compares each
  /// collective before it starts it, and throws where ranks start different ones.
  C10dGroup(c10::intrusive_ptr<c10d::Backend> backend, const RankPlace& place, Monitor& monitor, bool compares)
      : backend_(std::move(backend)),
        place_(place),
        monitor_(monitor),
        compares_(compares),
        bell_(std::make_shared<Bell>(monitor)) {}
  /// Leaves a backend with collectives in flight to the end of the process: its own end would wait for other ranks.
  ~C10dGroup() override;

  Ticket start(at::Tensor tensor, Collective op) override;
  Ticket gatherTo(int root, at::Tensor own, at::Tensor all) override;
  Ticket broadcastFrom(int root, at::Tensor tensor) override;
  bool progress() override;
  void wait(Ticket ticket) override;
  bool finished(Ticket ticket) override;

 private:
  using Future = c10::intrusive_ptr<c10::ivalue::Future>;
  using Work = c10::intrusive_ptr<c10d::Work>;
  /// Starts an operation on the values of a rank, or on less of them if a fault has struck.
  using Launch = std::function<Work(at::Tensor)>;

  Ticket enqueue(at::Tensor own, const Launch& launch);
  /// Where the backend compares, throws InternalError if the ranks' collectives differ, PeerError if another rank does
  /// not come.
  Work launched(const at::Tensor& own, const Launch& launch, Ticket ticket) const;
  [[noreturn]] void failToStart(Ticket ticket, const std::exception& failure) const;

  c10::intrusive_ptr<c10d::Backend> backend_;
  const RankPlace place_;
  Monitor& monitor_;
  const bool compares_;
  const std::shared_ptr<Bell> bell_;
  Ticket first_ = 0;             // the first that is in flight
  std::deque<Future> inFlight_;  // null: a tensor without values
};

}  // namespace tandem
