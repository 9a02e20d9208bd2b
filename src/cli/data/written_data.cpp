#include "cli/data/written_data.h"

#include <cmath>
#include <iostream>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/progress_line.h"

namespace tandem {
namespace {

constexpr double secondsBetween = 0.2;

/// What is shown while images are written.
class WritingLine {
 public:
  explicit WritingLine(std::string path) : path_(std::move(path)) {}

  void show(int64_t done, int64_t all) {
    if (first_ < 0) first_ = done - 1;
    const double passed = seconds(now() - begin_);
    if (passed - shown_ < secondsBetween) return;
    shown_ = passed;
    const double rate = static_cast<double>(done - first_) / passed;
    line_.show(concat(path_, ": image ", done, " of ", all, ", ", fixed(rate, 1), " images/s, ",
                      std::llround(std::ceil(static_cast<double>(all - done) / rate)), " s left"));
  }

  void print(const std::string& text) {
    line_.clear();
    std::cout << withoutControls(text) << '\n' << std::flush;
  }

  void clear() { line_.clear(); }

 private:
  const std::string path_;
  ProgressLine line_;
  Nanos begin_ = now();
  double shown_ = 0;
  int64_t first_ = -1;  // images that were there when it began
};

void print(const NewDataset& dataset, const DataManifest& manifest) {
  int64_t skipped = 0;
  for (const DataManifest::Split& split : manifest.splits) {
    std::cout << withoutControls(concat(dataset.path, ", ", split.name, ": ", split.images(),
                                        " images, sha256 of their sums ", split.sha256()))
              << '\n';
    skipped += split.skipped();
  }
  if (skipped > 0) std::cout << skipped << (skipped == 1 ? " image" : " images") << " could not be read, left out\n";
}

}  // namespace

void writeAndShow(const NewDataset& dataset) {
  WritingLine line(dataset.path);
  const WritingEvents events{
      .resumed =
          [&](int64_t kept, int64_t all) {
            line.print(concat(dataset.path, ".part: goes on; ", kept, " of ", all, " parts are there"));
          },
      .progress = [&](int64_t done, int64_t all) { line.show(done, all); },
      .skipped = [&](const std::string& reason) { line.print("left out: " + reason); }};
  try {
    const DataManifest manifest = writeDataset(dataset, events);
    line.clear();
    print(dataset, manifest);
  } catch (...) {
    line.clear();
    throw;
  }
}

}  // namespace tandem
