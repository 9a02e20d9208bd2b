#include "data/stream/streamed_batches.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>

#include "base/catalog.h"
#include "base/error.h"
#include "support/array_batch.h"
#include "support/captured_warnings.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

StreamedForm form(std::string_view labels = "class") {
  return {.stream = "test", .shape = {2, 4, 5, 3}, .labels = &find(labelKinds(), labels, "labels")};
}

Frame frameOf(Bytes bytes) {
  const auto memory = std::make_shared<const Bytes>(std::move(bytes));
  return {.bytes = *memory, .memory = memory};
}

/// Batch `number`: its images are of this value.
Bytes batch(uint8_t number) { return messageOf({{"uint8", {2, 4, 5, 3}, number}, {"int64", {2}, 0}}); }

/// Given messages, then a failure.
class ListedStream final : public FrameStream {
 public:
  explicit ListedStream(std::deque<Bytes> messages) : messages_(std::move(messages)) {}
  std::optional<Frame> next(int) override {
    if (messages_.empty()) throw PeerError("the list has ended");
    const Frame frame = frameOf(std::move(messages_.front()));
    messages_.pop_front();
    return frame;
  }

 private:
  std::deque<Bytes> messages_;
};

/// Nobody sends.
class SilentStream final : public FrameStream {
 public:
  std::optional<Frame> next(int milliseconds) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return std::nullopt;
  }
  std::string hint() const override { return "is it on?"; }
};

DealtFrames dealt(std::deque<Bytes> messages, int64_t replicas = 1, int64_t waiting = 8) {
  return {std::make_unique<ListedStream>(std::move(messages)), form(), replicas, waiting};
}

int numberOf(const HostBatch& batch) { return batch.images.flatten()[0].item<int>(); }

std::string faultOf(const Bytes& bytes, const StreamedForm& wanted = form()) {
  std::string why;
  batchOf(frameOf(bytes), wanted, why);
  return why;
}

TEST(StreamedBatches, ImagesLieInTheMessage) {
  const Frame frame = frameOf(batch(9));
  std::string why;
  const HostBatch host = batchOf(frame, form(), why);
  ASSERT_EQ(why, "");
  const auto* data = host.images.const_data_ptr<uint8_t>();
  EXPECT_GE(data, frame.bytes.data());
  EXPECT_LT(data, frame.bytes.data() + frame.bytes.size());
  EXPECT_EQ(host.images.sizes(), (at::IntArrayRef{2, 4, 5, 3}));
  EXPECT_EQ(host.labels.scalar_type(), at::kLong);
}

TEST(StreamedBatches, TakesNormalisedImagesInBothOrders) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 4, 5, 3}, {2, 3, 4, 5}}) {
    for (const char* type : {"float32", "float16"}) {
      EXPECT_EQ(faultOf(messageOf({{type, shape, 0}, {"int32", {2, 1}, 0}})), "") << type;
    }
  }
}

TEST(StreamedBatches, SaysWhatIsWrong) {
  const auto expect = [](const Bytes& bytes, const std::string& part) {
    EXPECT_NE(faultOf(bytes).find(part), std::string::npos) << faultOf(bytes);
  };
  expect({1, 2, 3}, "byte 0: the message ends");
  expect(messageOf({{"uint8", {2, 4, 5, 3}}}), "1 array(s)");
  expect(messageOf({{"uint8", {2, 4, 5, 3}}, {"int64", {2}}, {"int64", {2}}}), "3 array(s)");
  expect(messageOf({{"uint8", {1, 4, 5, 3}}, {"int64", {1}}}), "its images are [1, 4, 5, 3] uint8");
  expect(messageOf({{"uint8", {2, 3, 4, 5}}, {"int64", {2}}}), "its images are [2, 3, 4, 5] uint8");
  expect(messageOf({{"int32", {2, 4, 5, 3}}, {"int64", {2}}}), "its images are");
  expect(messageOf({{"uint8", {2, 4, 5, 3}}, {"int64", {3}}}), "its labels are [3] int64");
  expect(messageOf({{"uint8", {2, 4, 5, 3}}, {"float32", {2}}}), "its labels are [2] float32");
  expect(messageOf({{"uint8", {2, 4, 5, 3}}, {"uint8", {2}, 3}}), "3");
}

TEST(StreamedBatches, TakesAFlagForEachClass) {
  EXPECT_EQ(faultOf(messageOf({{"uint8", {2, 4, 5, 3}}, {"float32", {2, 3}}}), form("flags")), "");
  EXPECT_NE(faultOf(messageOf({{"uint8", {2, 4, 5, 3}}, {"uint8", {2, 3}, 2}}), form("flags")), "");
}

TEST(StreamedBatches, RefusesFlagsThatBytesCannotHold) {
  const auto fault = [](std::string_view type, uint8_t value) {
    return faultOf(messageOf({{"uint8", {2, 4, 5, 3}}, {type, {2, 3}, value}}), form("flags"));
  };
  EXPECT_EQ(fault("int16", 1), "a value of its labels is 257; this run needs whole numbers that uint8 can hold");
  for (const char* const type : {"int32", "int64"}) EXPECT_NE(fault(type, 1), "") << type;
  EXPECT_NE(fault("float32", 0x3F).find("is 0.7"), std::string::npos) << fault("float32", 0x3F);
  EXPECT_NE(fault("float64", 0x3F), "");
  EXPECT_NE(fault("float32", 0xFF), "") << "no number";
  EXPECT_EQ(fault("int8", 1), "");
}

TEST(StreamedBatches, ReplicasTakeTurns) {
  DealtFrames frames = dealt({batch(0), batch(1), batch(2), batch(3)}, 2);
  EXPECT_EQ(numberOf(frames.take(1, 0)), 1);
  EXPECT_EQ(numberOf(frames.take(0, 0)), 0);
  EXPECT_EQ(numberOf(frames.take(0, 1)), 2);
  EXPECT_EQ(numberOf(frames.take(1, 1)), 3);
}

TEST(StreamedBatches, AFastReplicaWaitsForOthers) {
  DealtFrames frames = dealt({batch(0), batch(1), batch(2), batch(3)}, 2, 1);
  int second = -1;
  std::thread fast([&] {
    frames.take(0, 0);
    second = numberOf(frames.take(0, 1));
  });
  EXPECT_EQ(numberOf(frames.take(1, 0)), 1);
  EXPECT_EQ(numberOf(frames.take(1, 1)), 3);
  fast.join();
  EXPECT_EQ(second, 2);
}

TEST(StreamedBatches, DropsWhatIsNoBatch) {
  CapturedWarnings warnings;
  DealtFrames frames = dealt({batch(0), {1, 2}, batch(2)});
  EXPECT_EQ(numberOf(frames.take(0, 0)), 0);
  EXPECT_EQ(numberOf(frames.take(0, 1)), 2);
  EXPECT_NE(warnings.text().find("a message is dropped: test: byte 0"), std::string::npos) << warnings.text();
}

TEST(StreamedBatches, TooManyDroppedMessagesEndTheRun) {
  CapturedWarnings warnings;
  DealtFrames frames = dealt(std::deque<Bytes>(static_cast<size_t>(form().mostDropped) + 1, Bytes{1}));
  const std::string text = textOfFailure<DataError>([&] { frames.take(0, 0); });
  EXPECT_NE(text.find("101 messages were no batches, more than 100"), std::string::npos) << text;
}

TEST(StreamedBatches, SilenceIsNamed) {
  StreamedForm impatient = form();
  impatient.timeoutSeconds = 0.1;
  DealtFrames frames(std::make_unique<SilentStream>(), impatient, 1, 8);
  EXPECT_EQ(textOfFailure<PeerError>([&] { frames.take(0, 0); }),
            "no message of --input=test for 0.1 s (--timeout): is it on?");
}

/// Makes one message, and works on it for a while.
class SlowStream final : public FrameStream {
 public:
  std::optional<Frame> next(int milliseconds) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return ++calls_ < 10 ? std::nullopt : std::optional(frameOf(batch(7)));
  }
  bool works() override { return true; }

 private:
  int calls_ = 0;
};

TEST(StreamedBatches, ASenderThatWorksIsWaitedFor) {
  StreamedForm impatient = form();
  impatient.timeoutSeconds = 0.2;
  DealtFrames frames(std::make_unique<SlowStream>(), impatient, 1, 8);
  EXPECT_EQ(numberOf(frames.take(0, 0)), 7);
}

TEST(StreamedBatches, StopEndsTheWaitsOfOneReplica) {
  DealtFrames frames(std::make_unique<SilentStream>(), form(), 2, 8);
  std::atomic<int> ended = 0;
  std::vector<std::thread> waiting;
  for (const int64_t replica : {0, 1}) {
    waiting.emplace_back([&frames, &ended, replica] {
      EXPECT_NE(textOfFailure<PeerError>([&] { frames.take(replica, 0); }).find("has ended"), std::string::npos);
      ended += 1 + static_cast<int>(replica);
    });
  }
  frames.stop(1);
  waiting[1].join();
  EXPECT_EQ(ended, 2);
  frames.stop(0);
  waiting[0].join();
}

TEST(StreamedBatches, AFailureReachesEveryReplica) {
  DealtFrames frames = dealt({batch(0)}, 2);
  frames.take(0, 0);
  for (const int64_t replica : {1, 0}) {
    EXPECT_EQ(textOfFailure<PeerError>([&] { frames.take(replica, 1); }), "the list has ended");
  }
}

}  // namespace
}  // namespace tandem
