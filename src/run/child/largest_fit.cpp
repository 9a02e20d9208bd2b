#include "run/child/largest_fit.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t grainsPerBatch = 64, stridesPerGuess = 8;

/// The resolution of the search at this size, in units.
int64_t grainOf(int64_t units) {
  return std::max<int64_t>(1, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(units / grainsPerBatch))));
}

/// What the search knows, in units: batches up to fits_ fit, tooLarge_ does not.
class Bracket {
 public:
  Bracket(int64_t guess, int64_t most)
      : guess_(std::clamp<int64_t>(guess, 1, most)),
        most_(most),
        stride_(std::max<int64_t>(1, guess_ / stridesPerGuess)) {}

  int64_t fits() const { return fits_; }

  bool closed() const {
    if (tooLarge_ == 0) return fits_ == most_;
    return tooLarge_ - fits_ <= grainOf(fits_);
  }

  /// REQUIRES: not closed.
  int64_t next() {
    if (fits_ == 0 && tooLarge_ == 0) return rounded(guess_);
    const int64_t stride = stride_;
    if (tooLarge_ == 0) {
      stride_ *= 2;
      return fits_ + stride >= most_ ? most_ : rounded(fits_ + stride);
    }
    if (fits_ > 0) return rounded(fits_ + (tooLarge_ - fits_) / 2);
    stride_ *= 2;
    return rounded(std::max<int64_t>(1, tooLarge_ - stride));
  }

  void learn(int64_t units, bool fits) { (fits ? fits_ : tooLarge_) = units; }

 private:
  int64_t rounded(int64_t units) const {
    const int64_t lower = units - units % grainOf(units);
    return lower > fits_ ? lower : units;
  }

  int64_t guess_, most_, stride_;
  int64_t fits_ = 0, tooLarge_ = 0;  // 0: not known yet
};

Outcome nothingFits(const BatchSearch& search) {
  return {.kind = OutcomeKind::failed,
          .code = ExitCode::usage,
          .reason = concat("--batch=max: not even a batch of ", search.tooLarge, " fits: ", search.stoppedBy),
          .outOfMemory = true};
}

}  // namespace

FoundBatch searchBatch(const BatchRange& range, const std::function<BatchTrial(int64_t batch)>& probe) {
  FoundBatch found;
  BatchSearch& search = found.search;
  search.stoppedBy = range.bound;
  Bracket bracket(range.guess / range.unit, range.most / range.unit);
  while (!bracket.closed()) {
    const int64_t units = bracket.next(), batch = units * range.unit;
    const BatchTrial trial = probe(batch);
    ++search.probes;
    const bool fits = trial.outcome.kind == OutcomeKind::ok;
    if (fits) {
      search.peakBytes = trial.peakBytes;
    } else if (trial.outcome.outOfMemory) {
      search.tooLarge = batch;
      search.stoppedBy = trial.outcome.reason;
    } else {
      found.outcome = trial.outcome;
      found.outcome.reason = concat("--batch=max: the search ended at a batch of ", batch, ": ", trial.outcome.reason);
      return found;
    }
    bracket.learn(units, fits);
  }
  found.batch = bracket.fits() * range.unit;
  if (found.batch == 0) found.outcome = nothingFits(search);
  return found;
}

}  // namespace tandem
