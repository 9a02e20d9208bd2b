#include "trace/span.h"

#include <gtest/gtest.h>

#include <thread>

namespace tandem {
namespace {

TEST(Span, nestsInTheOrderOfItsBegin) {
  SpanRecorder recorder(8);
  {
    const SpanRecording recorded(&recorder);
    const Span step(SpanKind::step);
    { const Span forward(SpanKind::forward); }
    const Span backward(SpanKind::backward);
    const Span update(SpanKind::update);
  }
  const auto spans = recorder.spans();
  ASSERT_EQ(spans.size(), 4U);
  const SpanKind kinds[] = {SpanKind::step, SpanKind::forward, SpanKind::backward, SpanKind::update};
  const int depths[] = {0, 1, 1, 2};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(spans[i].kind, kinds[i]);
    EXPECT_EQ(spans[i].depth, depths[i]);
    EXPECT_LE(spans[i].begin, spans[i].end);
  }
  EXPECT_LE(spans[1].end, spans[2].begin);
  EXPECT_LE(spans[3].end, spans[2].end);
  EXPECT_LE(spans[2].end, spans[0].end);
}

TEST(Span, ofOtherThreadsAndOutsideIsNotRecorded) {
  SpanRecorder recorder(8);
  {
    const SpanRecording recorded(&recorder);
    std::thread([] { const Span span(SpanKind::update); }).join();
  }
  const Span span(SpanKind::update);
  EXPECT_TRUE(recorder.spans().empty());
  EXPECT_EQ(recorder.lost(), 0U);
}

TEST(Span, withoutRoomIsCounted) {
  SpanRecorder recorder(2);
  const SpanRecording recorded(&recorder);
  for (int i = 0; i < 5; ++i) const Span span(SpanKind::exchange);
  EXPECT_EQ(recorder.spans().size(), 2U);
  EXPECT_EQ(recorder.lost(), 3U);
  recorder.clear();
  { const Span span(SpanKind::forward); }
  ASSERT_EQ(recorder.spans().size(), 1U);
  EXPECT_EQ(recorder.spans().front().kind, SpanKind::forward);
  EXPECT_EQ(recorder.lost(), 0U);
}

}  // namespace
}  // namespace tandem
