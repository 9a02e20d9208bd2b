#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/text.h"

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

void logInfo(const std::string& text) { logger().info(withoutControls(text)); }
void logWarning(const std::string& text) { logger().warn("warning: " + withoutControls(text)); }
void logError(const std::string& text) { logger().error(withoutControls(text)); }

}  // namespace tandem
