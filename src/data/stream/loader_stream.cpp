#include "data/stream/loader_stream.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "data/stream/frame_process.h"

namespace tandem {
namespace {

/// By which a process ends for what it did itself.
constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

bool crashed(int status) {
  return WIFSIGNALED(status) && std::ranges::find(crashes, WTERMSIG(status)) != crashes.end();
}

/// "7 and more": the number, and what stands behind it.
std::pair<int64_t, std::string_view> numberAndRest(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  const auto number = numberIn<int64_t>(text.substr(0, end));
  if (!number) throw InternalError(concat("a process that makes batches says '", text, "'"));
  return {*number, text.substr(std::min(end + 1, text.size()))};
}

class LoaderProcess {
 public:
  /// `crashedAt`: of all processes of the stream, which it shares.
  LoaderProcess(const LoaderStreamOptions& options, std::vector<int64_t>& crashedAt, int64_t index)
      : options_(options), crashedAt_(crashedAt), index_(index), next_(options.firstBatch + index) {
    start();
  }

  std::optional<Frame> next(int milliseconds) {
    try {
      auto frame = process_->next(milliseconds);
      if (frame) next_ += options_.workers;
      return frame;
    } catch (const SenderEnded& end) {
      passOver(end);
      start();
      return std::nullopt;
    }
  }

  bool spoke() { return process_->spoke(); }
  int process() const { return process_->process(); }

 private:
  void start() {
    passedOver_ = crashedAt_;
    const LoaderShare share{next_, options_.workers, options_.slotBytes, passedOver_};
    process_ =
        std::make_unique<FrameProcess>(FrameProcessOptions{.child = options_.child(share),
                                                           .slots = loaderSlots,
                                                           .slotBytes = options_.slotBytes,
                                                           .said = [this](const std::string& line) { take(line); }});
    options_.feeders->add(process());
  }

  void take(std::string_view line) {
    const auto behind = [&](std::string_view word) { return numberAndRest(line.substr(word.size())); };
    if (line.starts_with(loader_line::bad) && options_.bad) {
      const auto [image, reason] = behind(loader_line::bad);
      options_.bad->note(image, DataError(std::string(reason)));
    } else if (line.starts_with(loader_line::kept) && options_.caches) {
      const auto [samples, rest] = behind(loader_line::kept);
      options_.caches->set(options_.firstCache + index_, {samples, numberAndRest(rest).first});
    } else if (line.starts_with(loader_line::error)) {
      const auto [code, text] = behind(loader_line::error);
      throw Error(static_cast<ExitCode>(code), std::string(text));
    } else if (line != loader_line::alive) {
      throw InternalError(concat("a process that makes batches says '", line, "'"));
    }
  }

  /// Counts the image at which the process crashed as bad. Throws PeerError if it ended otherwise, or if it was to pass
  /// over the image.
  void passOver(const SenderEnded& end) {
    const int64_t image = process_->slots().work() - 1;
    const bool atImage = image >= 0 && image < options_.images->size();
    const std::string name = atImage ? options_.images->nameOf(image) : "";
    const bool isNew = atImage && std::ranges::find(passedOver_, image) == passedOver_.end();
    if (!crashed(end.status) || !isNew || !options_.bad) {
      throw PeerError(concat("--loader=processes, process ", index_, " of ", options_.workers, " (pid ", process(),
                             "): ", end.what(), atImage ? concat(" while it read ", name) : ""));
    }
    options_.bad->note(image, DataError(concat(name, ": ", end.what(), " there")));
    crashedAt_.push_back(image);
  }

  const LoaderStreamOptions& options_;
  std::vector<int64_t>& crashedAt_;
  const int64_t index_;
  int64_t next_;  // batch
  std::vector<int64_t> passedOver_;
  std::unique_ptr<FrameProcess> process_;
};

class LoaderStream final : public FrameStream {
 public:
  explicit LoaderStream(LoaderStreamOptions options) : options_(std::move(options)) {
    for (int64_t i = 0; i < options_.workers; ++i) {
      processes_.push_back(std::make_unique<LoaderProcess>(options_, crashedAt_, i));
    }
  }

  std::optional<Frame> next(int milliseconds) override {
    auto frame = current().next(milliseconds);
    if (frame) ++taken_;
    return frame;
  }
  bool works() override { return current().spoke(); }
  std::string hint() const override {
    return concat("process ", current().process(), ", which makes the next batch, does nothing");
  }

 private:
  LoaderProcess& current() const { return *processes_[static_cast<size_t>(taken_ % options_.workers)]; }

  const LoaderStreamOptions options_;
  std::vector<int64_t> crashedAt_;
  std::vector<std::unique_ptr<LoaderProcess>> processes_;
  int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<FrameStream> openLoaderStream(LoaderStreamOptions options) {
  return std::make_unique<LoaderStream>(std::move(options));
}

}  // namespace tandem
