#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace tandem {
namespace {

TEST(Error, EachClassHasItsExitCode) {
  EXPECT_EQ(exitCodeOf(UsageError("x")), ExitCode::usage);
  EXPECT_EQ(exitCodeOf(StorageError("x")), ExitCode::storage);
  EXPECT_EQ(exitCodeOf(std::runtime_error("x")), ExitCode::internal);
  EXPECT_STREQ(UsageError("the text").what(), "the text");
}

TEST(Error, NamesAreDistinct) {
  const ExitCode codes[] = {ExitCode::ok,
                            ExitCode::usage,
                            ExitCode::data,
                            ExitCode::checkpoint,
                            ExitCode::peer,
                            ExitCode::numeric,
                            ExitCode::storage,
                            ExitCode::invalidMeasurement,
                            ExitCode::internal,
                            ExitCode::rendezvous,
                            ExitCode::stoppedAndSaved,
                            ExitCode::interrupted};
  std::set<std::string> names;
  for (const ExitCode code : codes) names.insert(nameOf(code));
  EXPECT_EQ(names.size(), std::size(codes));
}

TEST(Error, CheckThrowsOnlyWhenBroken) {
  EXPECT_NO_THROW(check(true, "fine"));
  EXPECT_THROW(check(false, "broken"), InternalError);
}

}  // namespace
}  // namespace tandem
