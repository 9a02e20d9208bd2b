#include <sys/wait.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/stream/frame_process.h"
#include "data/stream/python_script.h"

namespace tandem {
namespace {

constexpr int notFound = 127;  // exit code of env(1) for a program that is not there
constexpr const char* usualPython = "python3";

/// The process that runs a user's generator.
class PythonWorker {
 public:
  /// `yields`: "batches" or "samples".
  PythonWorker(const StreamOptions& options, std::string_view yields, int64_t index)
      : process_({.child = {.executable = "/usr/bin/env",
                            .arguments = {python(), "-c", std::string(pythonScripts().front().text),
                                          described(options, yields, index)},
                            .environment = processEnvironment(),
                            .input = ""},
                  .slots = slotsOf(options),
                  .slotBytes = options.mostBytes,
                  .said = take}) {}

  int process() const { return process_.process(); }

  /// The next batch; none if the process has said nothing for `milliseconds`. Throws DataError and PeerError without
  /// the name of the stream.
  std::optional<Frame> next(int milliseconds) {
    try {
      return process_.next(milliseconds);
    } catch (const SenderEnded& end) {
      throw PeerError(howItEnded(end));
    }
  }

 private:
  static std::string python() {
    const char* asked = std::getenv("TANDEM_PYTHON");
    return asked == nullptr ? usualPython : asked;
  }

  static int64_t slotsOf(const StreamOptions& options) { return options.waiting + 2; }

  static std::string described(const StreamOptions& options, std::string_view yields, int64_t index) {
    return nlohmann::json{{"argument", options.argument},
                          {"yields", yields},
                          {"worker", index},
                          {"workers", options.allWorkers},
                          {"head", SharedSlots::headBytes(slotsOf(options))},
                          {"slots", slotsOf(options)},
                          {"slotBytes", options.mostBytes},
                          {"batch", options.shape.batch},
                          {"height", options.shape.height},
                          {"width", options.shape.width},
                          {"classes", options.shape.classes}}
        .dump();
  }

  static void take(const std::string& line) {
    constexpr std::string_view error = "error ";
    if (line.starts_with(error)) throw DataError(concat(line.substr(error.size()), " (the traceback stands above)"));
  }

  std::string howItEnded(const SenderEnded& end) const {
    if (WIFSIGNALED(end.status)) return end.what();
    if (WEXITSTATUS(end.status) == notFound) {
      return concat("the program '", python(), "' is not there; install Python 3, or name it by TANDEM_PYTHON");
    }
    if (WEXITSTATUS(end.status) != 0) return end.what();
    return concat("it yields nothing more after ", process_.taken(), " batches; let it go on for ever (while True)");
  }

  FrameProcess process_;
};

/// Takes a batch of each process in turn.
class PythonStream final : public FrameStream {
 public:
  PythonStream(const StreamOptions& options, std::string_view yields) : options_(options) {
    for (int64_t i = 0; i < options.workers; ++i) {
      workers_.push_back(std::make_unique<PythonWorker>(options, yields, options.firstWorker + i));
      if (options.feeders) options.feeders->add(workers_.back()->process());
    }
  }

  std::optional<Frame> next(int milliseconds) override {
    const auto named = [&](const std::exception& failure) {
      return concat("--input=", options_.text(), ": ", failure.what());
    };
    try {
      auto frame = workers_[static_cast<size_t>(taken_ % options_.workers)]->next(milliseconds);
      if (frame) ++taken_;
      return frame;
    } catch (const DataError& failure) {
      throw DataError(named(failure));
    } catch (const PeerError& failure) {
      throw PeerError(named(failure));
    }
  }

 private:
  const StreamOptions options_;
  std::vector<std::unique_ptr<PythonWorker>> workers_;
  int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<FrameStream> openPythonQueue(const StreamOptions& options) {
  return std::make_unique<PythonStream>(options, "batches");
}

std::unique_ptr<FrameStream> openPythonDataset(const StreamOptions& options) {
  return std::make_unique<PythonStream>(options, "samples");
}

}  // namespace tandem
