#include "machine/process/output_relay.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace tandem {
namespace {

constexpr size_t mostKept = 1 << 18, longestLine = 1 << 16;  // bytes

bool takesMore(int descriptor) {
  pollfd waited{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&waited, 1, 0) > 0;
}

}  // namespace

void OutputRelay::add(int descriptor, std::string prefix) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  sources_.push_back({.descriptor = descriptor, .prefix = std::move(prefix)});
}

bool OutputRelay::isFull() const { return lines_.size() >= mostKept; }

void OutputRelay::addAwaited(std::vector<pollfd>& waited) const {
  if (!lines_.empty()) waited.push_back({.fd = target_, .events = POLLOUT, .revents = 0});
  for (const Source& source : sources_) {
    if (source.open && !isFull()) waited.push_back({.fd = source.descriptor, .events = POLLIN, .revents = 0});
  }
}

void OutputRelay::move() {
  for (Source& source : sources_) {
    if (source.open && !isFull()) read(source);
  }
  while (!lines_.empty() && takesMore(target_) && writeSome()) {
  }
}

bool OutputRelay::ended() const { return std::ranges::none_of(sources_, &Source::open); }

void OutputRelay::finish() {
  for (Source& source : sources_) {
    if (!source.partialLine.empty()) addLine(source, std::exchange(source.partialLine, {}));
  }
  while (!lines_.empty() && writeSome()) {
  }
}

void OutputRelay::read(Source& source) {
  char buffer[1 << 14];
  const ssize_t count = ::read(source.descriptor, buffer, sizeof buffer);
  if (count < 0) return;
  if (count == 0) source.open = false;
  std::string& text = source.partialLine;
  text.append(buffer, static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    addLine(source, std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
  if (text.size() > longestLine || (!source.open && !text.empty())) addLine(source, std::exchange(text, {}));
}

void OutputRelay::addLine(const Source& source, std::string_view line) {
  lines_ += source.prefix;
  lines_ += line;
  lines_ += '\n';
}

/// A pipe with room has room for PIPE_BUF bytes. What cannot be written at all is dropped.
bool OutputRelay::writeSome() {
  size_t size = std::min<size_t>(lines_.size(), PIPE_BUF);
  const size_t end = lines_.rfind('\n', size - 1);
  if (end != std::string::npos) size = end + 1;
  const ssize_t written = ::write(target_, lines_.data(), size);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  lines_.erase(0, written < 0 ? std::string::npos : static_cast<size_t>(written));
  return true;
}

}  // namespace tandem
