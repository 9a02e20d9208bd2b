#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tandem {

/// While it lives, the system refuses threads: the address space has room for the stacks of about `count` more.
class FewThreads {
 public:
  explicit FewThreads(size_t count) {
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
  rlimit before_{};
};

}  // namespace tandem
