#pragma once

#include <iosfwd>
#include <vector>

#include "cli/bench_points.h"
#include "cli/log_exporters.h"
#include "cli/progress_line.h"
#include "measure/record/record.h"
#include "measure/record/results_file.h"
#include "report/render/renderer.h"
#include "run/child/machine_peaks.h"
#include "run/child/point_runner.h"

namespace tandem {

/// Measures the points of a sweep one after the other. Stores each record at once, and shows all at the end. Results go
/// to standard output. If the format is for programs, everything else goes to standard error.
class BenchRun {
 public:
  /// Opens the results file and the logs. `shared` holds the options of the whole run (out, format, compare, ...).
  /// Throws StorageError if they cannot be written, UsageError for wrong options and as checkComparable().
  BenchRun(const Config& shared, std::vector<BenchPoint> points);

  /// Returns the exit code of the first point that was not measured. If all were measured, it is `invalidMeasurement`
  /// if a run is not quotable (without --allow-interference), else 0. If a record cannot be stored, shows the finished
  /// runs and throws StorageError. After Ctrl-C does the same with Error{interrupted}.
  int run();

 private:
  /// False if stopped before the end.
  bool measureAll();
  /// Measures rounds of A B B A (first and last point) until they suffice to find a difference of 3 %
  /// (measure/metrics/significance.h). False if a run fails or was stopped.
  bool measureInTurns();
  RunRecord& store(RunRecord record, const BenchPoint& point);
  /// Measures a point, after the search for its batch if --batch=max asks for one.
  RunRecord measure(BenchPoint& point, const std::string& title);
  RunRecord measureBatch(const BenchPoint& point, const std::string& title);
  /// Searches the batch of --batch=max and gives it to the point. Returns the outcome of the search.
  Outcome settleBatch(BenchPoint& point, const std::string& title);
  /// The stream for messages to people.
  std::ostream& people() const;
  void show() const;
  void showComparison() const;

  std::vector<BenchPoint> points_;
  const RendererEntry& format_;
  bool forPrograms_, compare_;
  RunLogs logs_;
  ResultsFile file_;
  PointRunner runner_;
  MachinePeaks peaks_;
  ProgressLine progress_;
  std::vector<RunRecord> records_;
};

}  // namespace tandem
