#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <set>

#include "base/mutex.h"
#include "base/text.h"
#include "base/utf8.h"

namespace tandem {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("tandem", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    return made;
  }();
  return *instance;
}

class Warnings {
 public:
  void say(const std::string& text) {
    const MutexLock lock(mutex_);
    if (!said_.insert(text).second) return;
    if (receiver_) return receiver_(text);
    logger().warn("warning: " + withoutControls(text));
  }

  void sendTo(std::function<void(const std::string&)> receiver) {
    const MutexLock lock(mutex_);
    receiver_ = std::move(receiver);
    said_.clear();
  }

 private:
  Mutex mutex_;
  std::set<std::string> said_ TANDEM_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> receiver_ TANDEM_GUARDED_BY(mutex_);
};

Warnings& warnings() {
  static Warnings instance;
  return instance;
}

}  // namespace

void logInfo(const std::string& text) { logger().info(withoutControls(text)); }
void logWarning(const std::string& text) { warnings().say(text); }
void logError(const std::string& text) { logger().error(withoutControls(text)); }

void redirectWarnings(std::function<void(const std::string&)> receiver) { warnings().sendTo(std::move(receiver)); }

}  // namespace tandem
