#include "graph/task_loss.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace tandem {
namespace {

std::string refusal(const TaskLoss& own, std::string_view form) {
  try {
    lossInForm(own, form);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

const TaskLoss& named(std::string_view name) { return *std::ranges::find(taskLosses(), name, &TaskLoss::name); }

TEST(TaskLoss, AHeadHasItsFirstUnlessAFormIsAskedFor) {
  const TaskLoss& usual = lossOfHead("softmax");
  EXPECT_EQ(usual.name, "softmax_cross_entropy");
  EXPECT_EQ(&usual, &taskLosses().front()) << "the loss of networks that name none";
  const TaskLoss& other = lossInForm(usual, "bce");
  EXPECT_EQ(other.name, "one_hot_binary_cross_entropy");
  EXPECT_EQ(&lossInForm(other, "cross_entropy"), &usual) << "of a network file that names the other";
}

TEST(TaskLoss, AFormIsRefusedWhereTheHeadHasAnotherLoss) {
  EXPECT_EQ(
      refusal(named("binary_cross_entropy"), "bce"),
      "--loss=bce is a loss of --head=softmax, and the network has binary_cross_entropy; leave --loss away, or give "
      "another --head");
  EXPECT_EQ(
      refusal(named("multibox"), "bce"),
      "--loss=bce is a loss of --head=softmax, and the network has multibox, which has no other form; leave --loss "
      "away");
  EXPECT_EQ(refusal(named("softmax_cross_entropy"), "bec"),
            "unknown --loss 'bec'; did you mean 'bce'? valid: cross_entropy, bce");
}

TEST(TaskLoss, AHeadIsNamedOnceInARefusal) {
  try {
    lossOfHead("sigmod");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown --head 'sigmod'; did you mean 'sigmoid'? valid: softmax, sigmoid");
  }
}

}  // namespace
}  // namespace tandem
