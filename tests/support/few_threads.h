#pragma once

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace tandem {

/// While it lives, the system refuses threads: the address space has room for the stacks of about `count` more.
class FewThreads {
 public:
  explicit FewThreads(size_t count) {
    keepFreeMemory();
    getrlimit(RLIMIT_AS, &before_);
    pthread_attr_t attributes;
    size_t stack = 0;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit few{pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + count * stack, before_.rlim_max};
    setrlimit(RLIMIT_AS, &few);
  }
  ~FewThreads() { setrlimit(RLIMIT_AS, &before_); }
  FewThreads(const FewThreads&) = delete;
  FewThreads& operator=(const FewThreads&) = delete;

 private:
  // For those that start meanwhile: what the C library cannot allocate for a new thread ends the process.
  static void keepFreeMemory() {
    constexpr int most = 1 << 30;
    constexpr size_t kept = size_t{32} << 20;
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, most);
    void* const memory = malloc(kept);
    *static_cast<volatile char*>(memory) = 0;
    free(memory);
  }

  rlimit before_{};
};

}  // namespace tandem
