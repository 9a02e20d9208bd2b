#include "run/child/rank_report.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/record_example.h"

namespace tandem {
namespace {

/// A rank that has started `started` collectives, three of them before step 7, in which it is in this phase.
RankReport rankIn(int rank, RankEnd end, int64_t started, const std::string& phase, Outcome outcome = {}) {
  RankReport report;
  report.rank = rank, report.host = "node1", report.process = 100 + rank;
  report.end = end, report.after = 1;
  report.flight = {.stage = Stage::training,
                   .replicas = {{.step = 7, .started = started, .finished = 3, .before = 3, .span = phase}}};
  report.record = exampleRecord(1, "replicated", 100);
  report.record.outcome = std::move(outcome);
  return report;
}

Outcome failed(ExitCode code, const std::string& reason) { return {OutcomeKind::failed, code, reason}; }
const Outcome blaming = failed(ExitCode::peer, "collective 3 between ranks failed: Connection closed by peer");

TEST(RankReport, TheRankThatDidNotArriveIsNamedWithItsPhaseAndTheCollective) {
  std::vector<RankReport> reports{rankIn(0, RankEnd::blames, 5, "wait", blaming), rankIn(1, RankEnd::ended, 4, "input"),
                                  rankIn(2, RankEnd::blames, 5, "wait", blaming)};
  reports[1].stopped = true;
  const Outcome outcome = outcomeOf(reports, 3);
  EXPECT_EQ(outcome.code, ExitCode::peer);
  EXPECT_EQ(outcome.reason,
            "rank 1 (node1, pid 101) did not arrive at collective 1 of step 7 within 3 s; last seen in phase input of "
            "step 7, stopped by SIGSTOP or a debugger");
}

TEST(RankReport, OneThatFailedByItselfIsTheCauseHoweverEarlyOthersBlamedIt) {
  std::vector<RankReport> reports{rankIn(0, RankEnd::blames, 5, "wait", blaming),
                                  rankIn(1, RankEnd::lost, 4, "backward", failed(ExitCode::peer, "it was killed")),
                                  rankIn(2, RankEnd::failed, 4, "loss", failed(ExitCode::numeric, "not a number"))};
  reports[1].after = 2, reports[2].after = 3;
  EXPECT_EQ(outcomeOf(reports, 3).reason, "rank 1 (node1, pid 101), in phase backward of step 7: it was killed");
  reports[1].after = 4;
  EXPECT_EQ(outcomeOf(reports, 3).code, ExitCode::numeric);
}

TEST(RankReport, WhereAllArrivedTheFirstToBlameIsNamed) {
  std::vector<RankReport> reports{
      rankIn(0, RankEnd::blames, 5, "wait", blaming),
      rankIn(1, RankEnd::stood, 5, "wait", failed(ExitCode::peer, "it did nothing for 3 s"))};
  reports[0].after = 2;
  EXPECT_EQ(outcomeOf(reports, 3).reason, "rank 1 (node1, pid 101), in phase wait of step 7: it did nothing for 3 s");
}

TEST(RankReport, OneThatWasStoppedInACollectiveIsNamed) {
  std::vector<RankReport> reports{rankIn(0, RankEnd::blames, 5, "wait", blaming), rankIn(1, RankEnd::ended, 5, "wait")};
  reports[1].stopped = true;
  EXPECT_EQ(outcomeOf(reports, 3).reason,
            "rank 1 (node1, pid 101) was stopped by SIGSTOP or a debugger, in phase wait of step 7");
}

TEST(RankReport, RanksThatFinishedAreOneRecord) {
  const std::vector<RankReport> reports{rankIn(0, RankEnd::finished, 5, ""), rankIn(1, RankEnd::finished, 5, "")};
  const RunRecord record = recordOf(reports, 3);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(record.steps.size(), 2 * reports[0].record.steps.size());
}

TEST(RankReport, SurvivesItsText) {
  RankReport report = rankIn(2, RankEnd::stood, 5, "backward", failed(ExitCode::peer, "x"));
  report.stopped = report.waited = true;
  EXPECT_EQ(reportFromText(toText(report)), report);
  EXPECT_THROW(reportFromText("{}"), InternalError);
}

TEST(RankReport, SaysWhereARankIs) {
  ProcessFlight flight{.stage = Stage::connecting, .replicas = {{}, {}}};
  EXPECT_EQ(whereText(flight), "while connecting");
  flight.stage = Stage::training;
  EXPECT_EQ(whereText(flight), "before its first step");
  flight.replicas = {{.step = 5, .span = "wait"}, {.step = 4, .span = "forward"}};
  EXPECT_EQ(whereText(flight), "in phase forward of step 4");
  flight.replicas[1].span = "";
  EXPECT_EQ(whereText(flight), "after step 4");
}

}  // namespace
}  // namespace tandem
