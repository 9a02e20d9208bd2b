#include "data/stream/loader_child.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(LoaderActivity, GoesOnWhileTheDataSetIsOpened) {
  const SharedSlots slots(3, 24);
  LoaderActivity activity(slots);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(activity.goesOn());
}

TEST(LoaderActivity, ThenGoesOnWithItsStepsAlone) {
  const SharedSlots slots(3, 24);
  LoaderActivity activity(slots);
  activity.begin();
  EXPECT_FALSE(activity.goesOn());
  activity.step(), activity.step();
  EXPECT_TRUE(activity.goesOn());
  EXPECT_FALSE(activity.goesOn()) << "no step since";
}

TEST(LoaderActivity, WithoutAFreeSlotThereIsNothingToDo) {
  const SharedSlots slots(3, 24);
  LoaderActivity activity(slots);
  activity.begin();
  for (int64_t i = 0; i < 2; ++i) slots.fill(i);
  EXPECT_FALSE(activity.goesOn());
  slots.fill(2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(activity.goesOn());
  slots.free(0);
  EXPECT_FALSE(activity.goesOn());
}

}  // namespace
}  // namespace tandem
