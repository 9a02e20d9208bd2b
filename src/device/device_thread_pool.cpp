#include "device/device_thread_pool.h"

#include <algorithm>

namespace tandem {

DeviceThreads::DeviceThreads(const std::vector<Device>& devices) : failures_(devices.size()) {
  for (size_t i = 0; i < devices.size(); ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { loop(i, stop); });
  }
  run([&](size_t i) { devices[i].bind(); });
}

// Each thread counts the rounds that it has done, so a round that starts early cannot be missed or done twice.
void DeviceThreads::loop(size_t device, const std::stop_token& stop) {
  // The work runs without the lock. `busy_` tells run() when the last thread is back.
  MutexLock lock(mutex_);
  for (int64_t done = 0; changed_.wait(lock, stop, [&]() TANDEM_REQUIRES(mutex_) { return round_ > done; });) {
    done = round_;
    const auto& work = *work_;
    lock.unlock();
    try {
      work(device);
    } catch (...) {
      failures_[device] = std::current_exception();
    }
    lock.lock();
    if (--busy_ == 0) changed_.notify_all();
  }
}

void DeviceThreads::run(const std::function<void(size_t device)>& work) {
  MutexLock lock(mutex_);
  work_ = &work;
  busy_ = failures_.size();
  std::ranges::fill(failures_, nullptr);
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [&]() TANDEM_REQUIRES(mutex_) { return busy_ == 0; });
  const auto failed = std::ranges::find_if(failures_, [](const std::exception_ptr& each) { return each != nullptr; });
  if (failed != failures_.end()) std::rethrow_exception(*failed);
}

}  // namespace tandem
