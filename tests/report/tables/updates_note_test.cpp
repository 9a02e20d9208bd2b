#include "report/tables/updates_note.h"

#include <gtest/gtest.h>

#include "measure/record_example.h"

namespace tandem {
namespace {

using Notes = std::vector<std::string>;

/// A run of `measured` steps after `warmUp`, in the row of its seed.
RunRecord after(int64_t warmUp, int64_t measured, int64_t seed) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.warmup.steps = warmUp, record.measuredSteps = measured;
  record.config.step.seed = seed;
  return record;
}

Notes notesOf(const std::vector<RunRecord>& records) { return updatesNotes(groupsOf(records)); }

TEST(UpdatesNotes, SayAfterHowManyUpdatesALossIs) {
  EXPECT_EQ(notesOf({after(6, 40, 1), after(6, 40, 2), after(6, 40, 3)}),
            Notes{"rows 1 to 3: loss and weights after 46 updates (6 of warm-up)"});
  EXPECT_EQ(notesOf({after(6, 40, 1), after(9, 37, 2)}),
            Notes{"rows 1, 2: loss and weights after 46 updates (6 to 9 of warm-up)"});
  EXPECT_EQ(notesOf({}), Notes{});
}

TEST(UpdatesNotes, MarkLossesOfUnequalNumbers) {
  const std::string rest =
      ": losses cannot be compared: they are after 46 to 49 updates (6 to 9 of warm-up); --warmup=0 --steps=N makes N "
      "updates in each";
  EXPECT_EQ(notesOf({after(6, 40, 1), after(9, 40, 2)}), Notes{"rows 1, 2" + rest});
  EXPECT_EQ(notesOf({after(6, 40, 1), after(9, 40, 1)}), Notes{"row 1" + rest}) << "repeats of one row";
}

TEST(UpdatesNotes, LeaveOutWhatWasNotTrained) {
  std::vector<RunRecord> records{after(6, 40, 1), failedRecord(1, ExitCode::numeric, "loss is NaN"), after(9, 40, 2)};
  records.back().config.step.forwardOnly = true;
  EXPECT_EQ(notesOf(records), Notes{"row 1: loss and weights after 46 updates (6 of warm-up)"});
  records.erase(records.begin());
  EXPECT_EQ(notesOf(records), Notes{});
  records = {after(0, 40, 1), after(0, 50, 2)};
  for (RunRecord& record : records) record.training.emplace().steps = 40;
  EXPECT_EQ(notesOf(records), Notes{}) << "the table of trainings has theirs";
}

}  // namespace
}  // namespace tandem
