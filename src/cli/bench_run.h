#pragma once

#include <iosfwd>
#include <vector>

#include "base/clock.h"
#include "cli/bench_points.h"
#include "cli/bench_rounds.h"
#include "cli/log_exporters.h"
#include "cli/progress_line.h"
#include "measure/record/record.h"
#include "measure/record/results_file.h"
#include "report/render/renderer.h"
#include "run/child/machine_peaks.h"
#include "run/child/point_runner.h"

namespace tandem {

/// Measures the points of a sweep in rounds (cli/bench_rounds.h). Stores each record at once, and shows all at the end.
/// Results go to standard output. If the format is for programs, everything else goes to standard error.
///
/// A run that something disturbed, or that was not steady, is measured again at the end of its round, at most twice for
/// each point.
class BenchRun {
 public:
  /// Opens the results file and the logs. `parents`: as for PointRunner. `shared` holds the options of the whole run
  /// (out, format, compare, ...). Throws StorageError if they cannot be written, UsageError for wrong options.
  /// REQUIRES: with --compare checkComparable() passed.
  BenchRun(const Config& shared, std::vector<BenchPoint> points, RankParents* parents = nullptr);

  /// Returns the exit code of the first run that failed or was skipped. If there is none, it is `invalidMeasurement` if
  /// no run of a point is quotable (without --allow-interference), else 0. If a record cannot be stored, shows the
  /// finished runs and throws StorageError. After Ctrl-C does the same with Error{interrupted}, and with
  /// InvalidMeasurement after a comparison that is disturbed without end (lastingDisturbance()).
  int run();

 private:
  /// False if stopped before the end.
  bool measureRounds();
  /// The points in this order, and those that were disturbed again. False if stopped.
  bool measureRound(const std::vector<size_t>& order);
  bool measureOne(size_t point, const std::string& title);
  /// Says before a round how long the rest may take.
  void announceRound() const;
  /// Seconds of the rounds that are certain. REQUIRES: a round is over, which took `passed` seconds with those before.
  double leastLeft(double passed) const;
  /// Measures rounds of A B B A (first and last point) until they suffice to find a difference of 3 %
  /// (measure/metrics/significance.h). False if a run fails or was stopped, or if it is given up: disturbance_ says
  /// why.
  bool measureInTurns();
  bool measureTurn(size_t roundsWanted);
  void printRound() const;
  RunRecord& store(RunRecord record, size_t point);
  /// Measures a point, after the search for its batch if --batch=max asks for one.
  RunRecord measure(BenchPoint& point, const std::string& title);
  RunRecord measureBatch(const BenchPoint& point, const std::string& title);
  /// Searches the batch of --batch=max and gives it to the point. Returns the outcome of the search.
  Outcome settleBatch(BenchPoint& point, const std::string& title);
  /// The stream for messages to people.
  std::ostream& people() const;
  void show() const;
  /// Writes the page of --page, if there is a record.
  void writePageIfAsked() const;
  void showComparison() const;

  std::vector<BenchPoint> points_;
  const RendererEntry& format_;
  bool forPrograms_, compare_;
  const std::string page_;  ///< file of --page; empty: none
  RunLogs logs_;
  ResultsFile file_;
  PointRunner runner_;
  MachinePeaks peaks_;
  ProgressLine progress_;
  std::string sweep_;  ///< RunRecord::sweep
  BenchRounds rounds_;
  Nanos begin_{};
  std::string disturbance_;  ///< why a comparison was given up
  std::vector<int> again_;   ///< of each point, how often it was measured again
  std::vector<RunRecord> records_;
  std::vector<size_t> pointOf_;  ///< of each record
};

}  // namespace tandem
