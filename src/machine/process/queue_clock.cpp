#include "machine/process/queue_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/text.h"
#include "machine/cpu/host_facts.h"

namespace tandem {

QueueClock::QueueClock() : descriptor_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

QueueClock::~QueueClock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// "NANOSECONDS-ON-A-CPU NANOSECONDS-IN-A-QUEUE TIMES". A kernel without the numbers says "0 0 0".
std::optional<Nanos> QueueClock::waited() const {
  std::array<char, 96> buffer;
  const ssize_t got = descriptor_ < 0 ? 0 : ::pread(descriptor_, buffer.data(), buffer.size(), 0);
  if (got <= 0) return {};
  const auto words = split(std::string_view(buffer.data(), static_cast<size_t>(got)), " \n");
  const auto computed = wholeNumber(words.front()), waited = words.size() > 1 ? wholeNumber(words[1]) : std::nullopt;
  if (!computed || *computed == 0 || !waited) return {};
  return Nanos(*waited);
}

}  // namespace tandem
