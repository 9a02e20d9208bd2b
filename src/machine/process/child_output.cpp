#include "machine/process/child_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/mutex.h"
#include "base/text.h"

namespace tandem {

void requireParent(std::string_view command, std::string_view starter) {
  if (fcntl(childOutput, F_GETFD) >= 0) return;
  throw UsageError(concat(command, " is started by '", starter, "', not by hand; use '", starter, "'"));
}

void sendLine(const std::string& line) {
  static Mutex oneAtATime;
  const MutexLock lock(oneAtATime);
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t count = write(childOutput, line.data() + sent, line.size() - sent);
    if (count < 0 && errno != EINTR) throw InternalError(concat("a child cannot report: ", std::strerror(errno)));
    if (count > 0) sent += static_cast<size_t>(count);
  }
}

bool LineReader::read(int descriptor, const std::function<void(const std::string& line)>& line) {
  char buffer[1 << 16];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  partial_.append(buffer, static_cast<size_t>(count));
  for (size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    const std::string whole = partial_.substr(0, end);
    partial_.erase(0, end + 1);
    line(whole);
  }
  return count > 0;
}

}  // namespace tandem
