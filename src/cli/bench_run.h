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

/// Measures the points of a sweep one after the other, stores each record as soon as it is there, and shows all at the
/// end. Results go to standard output; with a format that programs read everything else goes to standard error.
class BenchRun {
 public:
  /// Opens the results file and the logs. `shared` holds the options of the whole run (out, format, compare, ...).
  /// Throws StorageError; UsageError also where --compare has not one or two points that can run and that do the same
  /// work.
  BenchRun(const Config& shared, std::vector<BenchPoint> points);

  /// Returns the exit code: that of the first point that was not measured, else 0. Shows what has finished and then
  /// throws StorageError when a record cannot be stored, or Error{interrupted} after Ctrl-C.
  int run();

 private:
  /// False when stopped before the end.
  bool measureAll();
  /// Round after round A B B A of the first and the last point, until the spread lets 3 % be found.
  bool measureInTurns();
  RunRecord& store(RunRecord record, const BenchPoint& point);
  /// Finds the batch first where it is asked for.
  RunRecord measure(BenchPoint& point, const std::string& title);
  RunRecord measureBatch(const BenchPoint& point, const std::string& title);
  /// Gives the point of --batch=max its batch; the outcome of the search.
  Outcome settleBatch(BenchPoint& point, const std::string& title);
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
