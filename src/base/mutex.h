#pragma once

#include <mutex>

/// A mutex that clang's thread safety analysis knows (-Wthread-safety; std::mutex of libstdc++ has no attributes for
/// it). Where clang compiles, it is an error to touch what a mutex guards without holding the mutex. Other compilers
/// see plain code. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define TANDEM_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define TANDEM_THREAD_ATTRIBUTE(attribute)
#endif

/// After a variable: it may be read and written only while `mutex` is held.
#define TANDEM_GUARDED_BY(mutex) TANDEM_THREAD_ATTRIBUTE(guarded_by(mutex))
/// After the parameters of a function or lambda: its callers hold `mutex`.
#define TANDEM_REQUIRES(mutex) TANDEM_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace tandem {

class TANDEM_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() TANDEM_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() TANDEM_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool tryLock() TANDEM_THREAD_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Holds a mutex for the rest of the block. It may be given up and taken again in between, as
/// std::condition_variable_any does.
class TANDEM_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TANDEM_THREAD_ATTRIBUTE(acquire_capability(mutex)) : lock_(mutex) {}
  ~MutexLock() TANDEM_THREAD_ATTRIBUTE(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() TANDEM_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }
  void unlock() TANDEM_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }

 private:
  std::unique_lock<Mutex> lock_;
};

}  // namespace tandem
