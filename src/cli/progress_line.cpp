#include "cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace tandem {
namespace {

constexpr size_t usualColumns = 80;

const char* doingText(Phase phase) {
  switch (phase) {
    case Phase::choosingKernels:
      return ": choosing kernels ";
    case Phase::sharingOut:
      return ": sharing out the batch, trial ";
    case Phase::warmingUp:
      return ": warming up, step ";
    case Phase::measuring:
      return ": step ";
    case Phase::comparing:
      return ": comparing its first steps with one replica in fp64";
    case Phase::training:
      return ": update ";
    case Phase::evaluating:
      return ": evaluating after update ";
  }
  return ": ";
}

size_t terminalColumns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usualColumns;
}

}  // namespace

std::string progressText(const std::string& point, const Progress& progress, size_t width) {
  std::string text = concat(point, doingText(progress.phase));
  if (progress.phase != Phase::comparing) text += concat(progress.step);
  if (progress.steps > 0) text += concat(" of ", progress.steps);
  if (progress.imagesPerSecond > 0) text += concat(", ", fixed(progress.imagesPerSecond, 1), " images/s");
  if (progress.secondsLeft > 0) text += concat(", ", std::llround(std::ceil(progress.secondsLeft)), " s left");
  return text.substr(0, width);
}

ProgressLine::ProgressLine() : onTerminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& point, const Progress& progress) {
  if (onTerminal_) show(progressText(point, progress, terminalColumns() - 1));
}

void ProgressLine::show(const std::string& text) {
  if (!onTerminal_) return;
  std::fprintf(stderr, "\r%s\033[K", text.substr(0, terminalColumns() - 1).c_str());
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!onTerminal_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace tandem
