#include "data/stream/shared_slots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

TEST(SharedSlots, WordsLieBesideTheSlots) {
  for (const int64_t count : {1, 3, 511, 512, 600}) {
    const SharedSlots slots(count, 24);
    for (int64_t i = 0; i < count; ++i) EXPECT_FALSE(slots.isFull(i));
    for (int64_t i = 0; i < count; ++i) slots.fill(i);
    slots.setWork(-1);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_TRUE(slots.isFull(i));
      EXPECT_TRUE(std::ranges::all_of(slots.slot(i), [](uint8_t byte) { return byte == 0; })) << count << ' ' << i;
      std::ranges::fill(slots.slot(i), uint8_t{9});
    }
    slots.free(count - 1);
    EXPECT_FALSE(slots.isFull(count - 1));
    EXPECT_EQ(slots.work(), -1);
  }
}

TEST(SharedSlots, MoreThanThereCanBeIsRefused) {
  const std::string text = textOfFailure<StorageError>([] { SharedSlots(1, int64_t{1} << 60); });
  EXPECT_NE(text.find("with a process that makes batches"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem
