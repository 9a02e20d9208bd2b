#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// CPU logical devices that leave the thread where it is, with one thread each, said to lie on `nodes` NUMA nodes in
/// turn.
inline std::vector<Device> cpuDevices(int n, int nodes = 1) {
  std::vector<Device> devices;
  for (int i = 0; i < n; ++i) devices.push_back(Device::cpu(i, {}, 1, {.memoryNode = i % nodes}));
  return devices;
}

inline std::vector<const Device*> pointersTo(const std::vector<Device>& devices) {
  std::vector<const Device*> pointers;
  for (const Device& device : devices) pointers.push_back(&device);
  return pointers;
}

/// Runs fn(rank) on n threads and joins them. A failure aborts the monitor; the first one in time is rethrown.
inline void runReplicas(int n, Monitor& monitor, const std::function<void(int)>& fn) {
  std::once_flag once;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Device::cpu(rank, {}, 1).bind();
        fn(rank);
      } catch (const std::exception& failure) {
        std::call_once(once, [&] { first = std::current_exception(); });
        monitor.abort(failure.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

inline void runReplicas(int n, const std::function<void(int)>& fn) {
  Monitor monitor(true);
  runReplicas(n, monitor, fn);
}

}  // namespace tandem
