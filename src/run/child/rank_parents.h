#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/launched_meeting.h"
#include "comm/world.h"
#include "run/child/machine_peaks.h"
#include "run/child/point_runner.h"
#include "run/child/rank_report.h"
#include "run/child/worker_protocol.h"

namespace tandem {

/// The processes of `tandem bench` that a launcher started, one a rank. Each runs the workers of its rank. That of rank
/// 0 leads: it plans, orders each run, and gets the records of all. The others follow. One thread uses it.
class RankParents {
 public:
  /// Meets the others at the launcher's store, or else at one that rank 0 serves here. `command`: the arguments, which
  /// all must have been given alike. Throws as meetRanks(), RendezvousError if rank 0 cannot listen, and UsageError if
  /// a rank has other arguments.
  RankParents(const LaunchedRank& launched, const std::string& command, double timeoutSeconds);
  /// Of the leader: sends the others home.
  ~RankParents();
  RankParents(const RankParents&) = delete;
  RankParents& operator=(const RankParents&) = delete;

  const RankPlace& place() const { return meeting_.place; }
  bool leads() const { return place().rank == 0; }

  /// Runs an order on all ranks and returns their record, as PointRunner::run(). REQUIRES: this process leads.
  RunRecord run(const std::string& executable, const WorkerOrder& order, const PointOptions& options,
                const PointEvents& events);

  /// Runs what the leader orders, until it sends this process home. The first rank of a host measures the host's peaks,
  /// after the run. Throws PeerError if the leader is gone. REQUIRES: another process leads.
  void follow(const std::string& executable);

 private:
  /// Runs this rank's part. Returns the reports of all, by rank, to the leader. Throws the own worker's failure, or
  /// PeerError, if another parent or its host is gone.
  std::vector<RankReport> runTogether(const std::string& executable, const WorkerOrder& order,
                                      const PointOptions& options, const PointEvents& events);
  void fillPeaks(const std::string& executable, const WorkerOrder& order, RunRecord& record);

  const LaunchedMeeting meeting_;
  std::unique_ptr<World> world_;
  std::optional<MachinePeaks> peaks_;  // of this host; rank 0's measures its own before the run
  int64_t runs_ = 0;
  bool lost_ = false;  // another parent, or its host
};

}  // namespace tandem
