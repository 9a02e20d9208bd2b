#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "device/device.h"

namespace tandem {

/// A thread for each of several devices, bound to it while the object lives, for work that all do at once.
class DeviceThreads {
 public:
  /// Throws what Device::bind() throws.
  explicit DeviceThreads(const std::vector<Device>& devices);
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  size_t count() const { return failures_.size(); }

  /// Every device's thread calls work(its number), beginning together; returns when all are back. Where some throw, the
  /// first of them by number is thrown on. One call at a time.
  void run(const std::function<void(size_t device)>& work);

 private:
  void loop(size_t device, const std::stop_token& stop);

  std::mutex mutex_;  // of what follows, but for a failure, which is its thread's until the round ends
  std::condition_variable_any changed_;
  const std::function<void(size_t)>* work_ = nullptr;
  int64_t round_ = 0;
  size_t busy_ = 0;
  std::vector<std::exception_ptr> failures_;  // by device, of the last work
  std::vector<std::jthread> threads_;         // last: they end before what they use
};

}  // namespace tandem
