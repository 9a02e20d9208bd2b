#include "formats/log/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tandem {
namespace {

namespace fs = std::filesystem;

std::string folder(const char* name) {
  const fs::path path = fs::path(testing::TempDir()) / name;
  fs::remove_all(path);
  return path.string();
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(EventFile, BeginsWithTheVersionAndHoldsScalarsAndTexts) {
  EventFile events(1000.5);
  const size_t begin = events.bytes().size();
  // A double, field 1, of 1000.5 and the version, field 3.
  EXPECT_NE(events.bytes().find(std::string("\x09\0\0\0\0\0\x44\x8f\x40\x1a\x0d", 11) + "brain.Event:2"),
            std::string::npos);
  events.scalar("loss", 7, 1001, 0);
  // Summary, field 5, of one value, field 1: the tag, field 1, and a float, field 2, which stands there although it is
  // 0.
  EXPECT_NE(events.bytes().find(std::string("\x10\x07\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\0", 17), begin),
            std::string::npos);
  const size_t scalar = events.bytes().size();
  events.text("note", 1002, "*hello*");
  EXPECT_NE(events.bytes().find("*hello*", scalar), std::string::npos);
}

TEST(EventFile, AnImageHasTheSizeOfItsHeader) {
  // The begin of a PNG of 3 x 2 pixels; grey, and in colour.
  std::vector<uint8_t> png{0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D',
                           'R',  0,   0,   0,   3,  0,  0,  0,  2, 8, 0, 0,  0,   0};
  const auto has = [&](char channels) {
    EventFile events(1000);
    events.image("a", 7, 1001, png);
    // Height, width, channels and 29 bytes, fields 1 to 4 of field 4 of the value.
    const std::string wanted = std::string(
                                   "\x0a\x01"
                                   "a\x22\x25\x08\x02\x10\x03\x18") +
                               channels + "\x22\x1d\x89PNG";
    return events.bytes().find(wanted) != std::string::npos;
  };
  EXPECT_TRUE(has(1));
  png[25] = 2;
  EXPECT_TRUE(has(3));
}

TEST(EventFile, IsWrittenUnderANameThatTensorBoardLooksFor) {
  const std::string place = folder("event_file_test");
  EventFile events(1000.5);
  const std::string first = events.write(place + "/a/b"), second = events.write(place + "/a/b");
  EXPECT_EQ(fs::path(first).filename().string().find("events.out.tfevents.1000."), 0u) << first;
  EXPECT_NE(first, second);
  EXPECT_EQ(contentOf(first), events.bytes());
  fs::remove_all(place);
}

}  // namespace
}  // namespace tandem
