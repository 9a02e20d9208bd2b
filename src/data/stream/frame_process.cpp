#include "data/stream/frame_process.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

std::string endText(int status) {
  if (!WIFSIGNALED(status)) return concat("ended with exit code ", WEXITSTATUS(status));
  return concat("was killed by signal ", WTERMSIG(status), ", SIG", sigabbrev_np(WTERMSIG(status)));
}

ChildOptions sharing(ChildOptions child, const SharedSlots& slots) {
  child.shared = slots.file();
  return child;
}

}  // namespace

SenderEnded::SenderEnded(int ended) : PeerError(concat("its process ", endText(ended))), status(ended) {}

FrameProcess::FrameProcess(FrameProcessOptions options)
    : slots_(std::make_shared<const SharedSlots>(options.slots, options.slotBytes)),
      said_(std::move(options.said)),
      child_(sharing(std::move(options.child), *slots_)),
      process_(child_.id()) {}

std::optional<Frame> FrameProcess::next(int milliseconds) {
  constexpr double grace = 5;
  const Nanos end = now() + std::chrono::milliseconds(milliseconds);
  pollfd waited{child_.output(), POLLIN, 0};
  while (there_.empty() && !failure_ && !ended_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now()).count();
    if (poll(&waited, 1, static_cast<int>(std::max<int64_t>(0, left))) > 0) {
      ended_ = !lines_.read(child_.output(), [this](const std::string& line) { take(line); });
    } else if (left <= 0) {
      return std::nullopt;
    }
  }
  if (!there_.empty()) return frame();
  if (failure_) std::rethrow_exception(failure_);
  throw SenderEnded(child_.wait(grace));
}

void FrameProcess::take(const std::string& line) {
  constexpr std::string_view frame = "frame ";
  spoke_ = true;
  if (failure_) return;
  try {
    if (line.starts_with(frame)) return takeFrame(line, std::string_view(line).substr(frame.size()));
    said_(line);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void FrameProcess::takeFrame(const std::string& line, std::string_view text) {
  const auto words = split(text, " ");
  const auto slot = numberWithin(words.front(), 0, slots_->count() - 1);
  const auto bytes = numberWithin(words.back(), 0, slots_->slotBytes());
  if (!slot || !bytes) throw PeerError(concat("its process says '", line, "'"));
  there_.push_back({*slot, *bytes});
}

Frame FrameProcess::frame() {
  const auto [index, size] = there_.front();
  const auto bytes = slots_->slot(index).first(static_cast<size_t>(size));
  there_.pop_front();
  ++taken_;
  return {.bytes = bytes,
          .memory = std::shared_ptr<const void>(bytes.data(),
                                                [slots = slots_, index = index](const void*) { slots->free(index); })};
}

}  // namespace tandem
