#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "data/stream/frame_stream.h"
#include "data/stream/python_script.h"
#include "machine/process/child_output.h"
#include "machine/process/child_process.h"

namespace tandem {
namespace {

constexpr int64_t pageBytes = 4096;
constexpr int notFound = 127;  // exit code of env(1) for a program that is not there
constexpr const char* usualPython = "python3";

/// Memory that a Python process shares with this one: a word for each slot, 1 while a batch lies there, and the slots.
class SharedSlots {
 public:
  SharedSlots(int64_t count, int64_t slotBytes)
      : count_(count), slotBytes_(slotBytes), bytes_(static_cast<size_t>(pageBytes + count * slotBytes)) {
    file_ = memfd_create("tandem-input", MFD_CLOEXEC);
    const bool made = file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes_)) == 0;
    void* const mapped = made ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED) {
      const int error = errno;
      if (file_ >= 0) close(file_);
      throw StorageError(concat("cannot share ", bytesText(static_cast<double>(bytes_)),
                                " of memory with Python: ", std::strerror(error)));
    }
    data_ = static_cast<uint8_t*>(mapped);
  }
  ~SharedSlots() {
    munmap(data_, bytes_);
    close(file_);
  }
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;

  int file() const { return file_; }
  int64_t count() const { return count_; }
  int64_t slotBytes() const { return slotBytes_; }
  std::span<const uint8_t> slot(int64_t index, int64_t bytes) const {
    return {data_ + pageBytes + index * slotBytes_, static_cast<size_t>(bytes)};
  }
  void free(int64_t index) {
    std::atomic_ref(reinterpret_cast<int64_t*>(data_)[index]).store(0, std::memory_order_release);
  }

 private:
  const int64_t count_, slotBytes_;
  const size_t bytes_;
  int file_ = -1;
  uint8_t* data_ = nullptr;
};

/// The process that runs a user's generator.
class PythonWorker {
 public:
  /// `yields`: "batches" or "samples".
  PythonWorker(const StreamOptions& options, std::string_view yields, int64_t index)
      : slots_(std::make_shared<SharedSlots>(options.waiting + 2, options.mostBytes)),
        child_({.executable = "/usr/bin/env",
                .arguments = {python(), "-c", std::string(pythonScripts().front().text),
                              described(options, yields, index)},
                .environment = processEnvironment(),
                .input = "",
                .output = ChildOutput::reports,
                .shared = slots_->file()}) {}

  int process() const { return child_.id(); }

  /// The next batch; none if the process has said nothing for `milliseconds`. Throws DataError and PeerError without
  /// the name of the stream.
  std::optional<Frame> next(int milliseconds) {
    pollfd waited{child_.output(), POLLIN, 0};
    const bool idle = there_.empty() && !ended_;
    if (idle && poll(&waited, 1, milliseconds) > 0) {
      ended_ = !lines_.read(child_.output(), [this](const std::string& line) { take(line); });
    }
    if (!there_.empty()) return frame();
    if (!error_.empty()) throw DataError(error_);
    if (ended_) throw PeerError(howItEnded());
    return std::nullopt;
  }

 private:
  static std::string python() {
    const char* asked = std::getenv("TANDEM_PYTHON");
    return asked == nullptr ? usualPython : asked;
  }

  std::string described(const StreamOptions& options, std::string_view yields, int64_t index) const {
    return nlohmann::json{{"argument", options.argument},
                          {"yields", yields},
                          {"worker", index},
                          {"workers", options.allWorkers},
                          {"slots", slots_->count()},
                          {"slotBytes", slots_->slotBytes()},
                          {"batch", options.shape.batch},
                          {"height", options.shape.height},
                          {"width", options.shape.width},
                          {"classes", options.shape.classes}}
        .dump();
  }

  void take(const std::string& line) {
    constexpr std::string_view frame = "frame ", error = "error ";
    if (line.starts_with(frame)) {
      const auto words = split(line.substr(frame.size()), " ");
      const auto slot = numberWithin(words.front(), 0, slots_->count() - 1);
      const auto bytes = numberWithin(words.back(), 0, slots_->slotBytes());
      if (!slot || !bytes) throw PeerError(concat("its process says '", line, "'"));
      there_.push_back({*slot, *bytes});
    } else if (line.starts_with(error)) {
      error_ = concat(line.substr(error.size()), " (the traceback stands above)");
    }
  }

  Frame frame() {
    const auto [index, size] = there_.front();
    const auto bytes = slots_->slot(index, size);
    there_.pop_front();
    ++taken_;
    return {.bytes = bytes,
            .memory = std::shared_ptr<const void>(
                bytes.data(), [slots = slots_, index = index](const void*) { slots->free(index); })};
  }

  std::string howItEnded() {
    constexpr double grace = 5;
    const int status = child_.wait(grace);
    if (WIFSIGNALED(status)) return concat("its process was killed by signal ", WTERMSIG(status));
    if (WEXITSTATUS(status) == notFound) {
      return concat("the program '", python(), "' is not there; install Python 3, or name it by TANDEM_PYTHON");
    }
    if (WEXITSTATUS(status) != 0) return concat("its process ended with exit code ", WEXITSTATUS(status));
    return concat("it yields nothing more after ", taken_, " batches; let it go on for ever (while True)");
  }

  std::shared_ptr<SharedSlots> slots_;
  ChildProcess child_;
  LineReader lines_;
  struct Filled {
    int64_t slot, bytes;
  };
  std::deque<Filled> there_;
  int64_t taken_ = 0;
  std::string error_;
  bool ended_ = false;
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
