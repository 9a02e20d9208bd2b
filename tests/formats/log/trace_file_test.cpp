#include "formats/log/trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "formats/log/perfetto_trace.pb.h"

namespace tandem {
namespace {

using perfetto::TrackEvent;

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class TraceFileTest : public ::testing::Test {
 protected:
  const std::string folder_ = testing::TempDir() + "trace_file_test";
  const std::string path_ = folder_ + "/run.pftrace";
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
};

TEST_F(TraceFileTest, HoldsTracksSlicesAndCounters) {
  TraceFile file(path_);
  const auto run = file.addTrack("run");
  const auto replica = file.addTrack("replica 0", run);
  const auto use = file.addCounter("cpu 0 use", "%");
  file.begin(replica, Nanos(10), "step", 7);
  file.begin(replica, Nanos(11), "forward");
  file.end(replica, Nanos(12));
  file.end(replica, Nanos(13));
  file.value(use, Nanos(12), 62.5);
  file.commit();

  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(textOf(path_)));
  ASSERT_EQ(trace.packet_size(), 8);
  for (const auto& packet : trace.packet()) EXPECT_NE(packet.trusted_packet_sequence_id(), 0U);
  EXPECT_EQ(trace.packet(1).track_descriptor().name(), "replica 0");
  EXPECT_EQ(trace.packet(1).track_descriptor().parent_uuid(), trace.packet(0).track_descriptor().uuid());
  EXPECT_FALSE(trace.packet(0).track_descriptor().has_parent_uuid());
  EXPECT_EQ(trace.packet(2).track_descriptor().counter().unit_name(), "%");
  const auto& step = trace.packet(3);
  EXPECT_EQ(step.timestamp(), 10U);
  EXPECT_EQ(step.track_event().type(), TrackEvent::TYPE_SLICE_BEGIN);
  EXPECT_EQ(step.track_event().track_uuid(), trace.packet(1).track_descriptor().uuid());
  EXPECT_EQ(step.track_event().name(), "step");
  ASSERT_EQ(step.track_event().debug_annotations_size(), 1);
  EXPECT_EQ(step.track_event().debug_annotations(0).int_value(), 7);
  EXPECT_EQ(trace.packet(4).track_event().debug_annotations_size(), 0);
  EXPECT_EQ(trace.packet(5).track_event().type(), TrackEvent::TYPE_SLICE_END);
  EXPECT_EQ(trace.packet(7).track_event().type(), TrackEvent::TYPE_COUNTER);
  EXPECT_EQ(trace.packet(7).track_event().double_counter_value(), 62.5);
}

TEST_F(TraceFileTest, OfManyPacketsIsWhole) {
  constexpr int slices = 100'000;  // several buffers
  TraceFile file(path_);
  const auto track = file.addTrack("replica 0");
  for (int i = 0; i < slices; ++i) {
    file.begin(track, Nanos(2 * i), "step", i);
    file.end(track, Nanos(2 * i + 1));
  }
  file.commit();
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(textOf(path_)));
  ASSERT_EQ(trace.packet_size(), 1 + 2 * slices);
  EXPECT_EQ(trace.packet(2 * slices).timestamp(), uint64_t{2 * slices - 1});
}

TEST_F(TraceFileTest, IsThereOnlyWhenComplete) {
  { TraceFile(path_).addTrack("replica 0"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_THROW(TraceFile(folder_ + "/none/run.pftrace"), StorageError);
}

}  // namespace
}  // namespace tandem
