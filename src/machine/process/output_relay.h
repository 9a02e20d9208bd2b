#pragma once

#include <poll.h>

#include <string>
#include <vector>

namespace tandem {

/// Copies what processes write to one file, in whole lines that begin with a prefix. It never waits for the file: while
/// a terminal is paused or a pipe is full, the processes are kept waiting instead. One thread at a time.
class OutputRelay {
 public:
  /// `target`: the descriptor of the file.
  explicit OutputRelay(int target) : target_(target) {}

  /// Begins to copy what can be read from a pipe. Its descriptor outlives the copying.
  void add(int descriptor, std::string prefix);

  /// The descriptors on which move() has something to do.
  void addAwaited(std::vector<pollfd>& waited) const;

  /// Copies what has come, as far as the file takes it, without waiting.
  void move();

  /// Whether the writers of all pipes have closed them.
  bool ended() const;

  /// Writes what has come, also lines that have not ended. Waits for the file, until a signal interrupts it.
  void finish();

 private:
  struct Source {
    int descriptor;
    std::string prefix, partialLine{};
    bool open = true;
  };
  bool isFull() const;
  void read(Source& source);
  void addLine(const Source& source, std::string_view line);
  bool writeSome();

  int target_;
  std::vector<Source> sources_;
  std::string lines_;  // that the file has not taken yet
};

}  // namespace tandem
