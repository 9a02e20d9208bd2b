#include "report/tables/staleness_note.h"

#include <gtest/gtest.h>

#include "measure/record_example.h"

namespace tandem {
namespace {

RunRecord lacking(double mean, int64_t most, int64_t seed) {
  RunRecord record = exampleRecord(2, "parameter_server", 100);
  record.staleness = {40, mean, most};
  record.placement.update = "parameter_server --server-mode=async";
  record.config.step.seed = seed;
  return record;
}

TEST(StalenessNotes, NameTheRowsWhoseWeightsWereOld) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), lacking(0.5, 2, 1), lacking(0.75, 3, 1),
                                       lacking(1, 1, 2)};
  const std::string from = ": gradients were those of weights that lacked ",
                    by = " at most (parameter_server --server-mode=async)";
  EXPECT_EQ(stalenessNotes(groupsOf(records)),
            (std::vector<std::string>{"row 2" + from + "0.50 to 0.75 updates in the mean, 3" + by,
                                      "row 3" + from + "1.00 updates in the mean, 1" + by}));
  EXPECT_TRUE(stalenessNotes(groupsOf({})).empty());
}

}  // namespace
}  // namespace tandem
