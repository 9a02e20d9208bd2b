#pragma once

#include <map>
#include <mutex>

namespace tandem {

/// Values that are asked for again and again, by any thread: each is made once.
template <class Key, class Value>
class Table {
 public:
  /// The value of the key, made by make() when it is first asked for.
  template <class Make>
  Value of(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found != values_.end() ? found->second : values_.emplace(key, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace tandem
