#include "machine/process/thread_limit.h"

#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "machine/process/resource_limits.h"

namespace tandem {

void requireThreads(int64_t count) {
  std::vector<std::thread> threads;
  std::latch tried(1);
  std::string limit;
  try {
    for (int64_t i = 0; i < count; ++i) threads.emplace_back([&tried] { tried.wait(); });
  } catch (const std::system_error& refused) {
    limit = concat(count, " threads are needed, and ", threads.size(), " can be started: ", refused.what(), "; ",
                   limitText(refused.code().value()));
  }
  tried.count_down();
  for (std::thread& thread : threads) thread.join();
  if (!limit.empty()) throw UsageError(limit);
}

}  // namespace tandem
