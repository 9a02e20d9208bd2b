#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

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

}  // namespace

void logInfo(const std::string& text) { logger().info(text); }
void logWarning(const std::string& text) { logger().warn("warning: " + text); }
void logError(const std::string& text) { logger().error(text); }

}  // namespace tandem
