#pragma once

#include <memory>
#include <set>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/mutex.h"
#include "comm/world.h"

namespace tandem {

/// The messages that threads wait for, whose waits an abort ends. Any thread may use it.
class OpenWaits {
 public:
  /// False if there is no more waiting.
  bool begin(c10d::Work& work);
  void end(c10d::Work& work);
  void close() noexcept;

 private:
  Mutex mutex_;
  bool closed_ TANDEM_GUARDED_BY(mutex_) = false;
  std::set<c10d::Work*> open_ TANDEM_GUARDED_BY(mutex_);
};

/// Messages by a backend of c10d. Its threads carry them; those that wait sleep.
class C10dMail final : public RankMail {
 public:
  C10dMail(c10::intrusive_ptr<c10d::Backend> backend, Monitor& monitor);
  ~C10dMail() override { close(); }

  std::unique_ptr<RankMessage> send(int to, int tag, at::Tensor tensor) override;
  std::unique_ptr<RankMessage> receive(int from, int tag, at::Tensor tensor, double patienceSeconds) override;
  void close() noexcept override { waits_->close(); }

 private:
  Mutex starting_;  // a backend starts one message at a time
  c10::intrusive_ptr<c10d::Backend> backend_;
  Monitor& monitor_;
  const std::shared_ptr<OpenWaits> waits_ = std::make_shared<OpenWaits>();
};

}  // namespace tandem
