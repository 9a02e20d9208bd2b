#include "run/start_record.h"

#include "machine/cpu/host_facts.h"
#include "machine/process/utc_time.h"
#include "run/environment.h"

namespace tandem {

RunRecord startRecord(const Config& config) {
  RunRecord record;
  record.time = utcTime();
  record.config = config;
  record.environment = readEnvironment();
  std::erase_if(record.environment.variables, [](const auto& entry) { return overridesPlacement(entry.first); });
  return record;
}

}  // namespace tandem
