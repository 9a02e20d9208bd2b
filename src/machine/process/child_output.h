#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tandem {

/// The descriptor to which a child that reports writes its lines (ChildOutput::reports).
constexpr int childOutput = 3;

/// The descriptor of what a child shares with its parent (ChildOptions::shared).
constexpr int childShared = 4;

/// Throws UsageError unless a process of this program has started this one. `command` is what was typed, `starter` what
/// starts it: "tandem bench".
void requireParent(std::string_view command, std::string_view starter);

/// Writes a line, which has its line end, whole to the parent. Any thread may call it. Throws InternalError if the
/// parent does not read.
void sendLine(const std::string& line);

/// Takes lines out of what a child writes. One thread uses it.
class LineReader {
 public:
  /// Reads what has arrived, and hands on the lines that are whole, without their ends. False if the child has closed
  /// its end. A line whose handler throws counts as handed on.
  bool read(int descriptor, const std::function<void(const std::string& line)>& line);

 private:
  std::string partial_;
};

}  // namespace tandem
