#include "formats/log/tfrecord.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(TfRecord, FramesTheBytesAsTensorFlowDoes) {
  // tf.io.TFRecordWriter of b"abc".
  const std::string record = tfrecordOf("abc");
  ASSERT_EQ(record.size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(8, 4), std::string("\xb0\x99\x49\x0e", 4));
  EXPECT_EQ(record.substr(12, 3), "abc");
  EXPECT_EQ(record.substr(15), std::string("\x6e\x57\xf1\x21", 4));
}

}  // namespace
}  // namespace tandem
