#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "device/device.h"

namespace tandem {

/// One thread per device, bound to it for the life of the object, for work that all devices do at once.
class DeviceThreads {
 public:
  /// Throws what Device::bind() throws.
  explicit DeviceThreads(const std::vector<Device>& devices);
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  size_t count() const { return failures_.size(); }

  /// Every device's thread calls work(device number); all start together. Returns when all are done. Rethrows the
  /// exception of the lowest device number. One call at a time.
  void run(const std::function<void(size_t device)>& work);

 private:
  void loop(size_t device, const std::stop_token& stop);

  Mutex mutex_;
  std::condition_variable_any changed_;
  const std::function<void(size_t)>* work_ TANDEM_GUARDED_BY(mutex_) = nullptr;
  int64_t round_ TANDEM_GUARDED_BY(mutex_) = 0;
  size_t busy_ TANDEM_GUARDED_BY(mutex_) = 0;
  std::vector<std::exception_ptr> failures_;  // by device, of the last round; written by its thread without the lock
  std::vector<std::jthread> threads_;         // last member: the threads end before what they use is destroyed
};

}  // namespace tandem
