#include <gtest/gtest.h>

#include "zmq_ends.h"

namespace tandem {
namespace {

class LongZmqTest : public ZmqTest {};

TEST_F(LongZmqTest, AReceiverThatPausesLosesNothing) { expectNothingIsLostIn(std::chrono::seconds(9)); }

}  // namespace
}  // namespace tandem
