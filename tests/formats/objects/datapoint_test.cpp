#include "formats/objects/datapoint.h"

#include <gtest/gtest.h>

#include "support/pickle_writer.h"

namespace tandem {
namespace {

using namespace pickled;
using namespace std::string_literals;

struct Point {
  std::string image;
  int64_t label;
  bool operator==(const Point&) const = default;
};

Point pointOf(const std::string& value) {
  const auto bytes = bytesOf(value);
  const auto datapoint = parseDatapoint(bytes);
  EXPECT_TRUE(datapoint.ok()) << datapoint.error().text;
  if (!datapoint.ok()) return {};
  const auto image = datapoint.value().image;
  return {std::string(image.begin(), image.end()), datapoint.value().label};
}

void expectRefused(const std::string& value, const std::string& part, uint64_t offset) {
  const auto bytes = bytesOf(value);
  const auto datapoint = parseDatapoint(bytes);
  ASSERT_FALSE(datapoint.ok()) << part;
  EXPECT_NE(datapoint.error().text.find(part), std::string::npos) << datapoint.error().text;
  EXPECT_EQ(datapoint.error().offset, offset) << datapoint.error().text;
}

// The bytes of tests are those that Python writes; of NumPy 2.4, and of msgpack-numpy 0.4.8.
const std::string numpyFive =
    "\x80\x05\x95~\0\0\0\0\0\0\0]\x94(\x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94("
    "\x96\x04\0\0\0\0\0\0"
    "\0\xff\xd8\x02\x03\x94\x8c\x05numpy\x94\x8c\x05"
    "dtype\x94\x93\x94\x8c\x02u1\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01|\x94"
    "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0t\x94"
    "bK\x04\x85\x94\x8c\x01"
    "C\x94t\x94R\x94K\x03"
    "e."s;
const std::string msgpackArray =
    "\x92\x85\xc4\x02nd\xc3\xc4\x04type\xa3|u1\xc4\x04kind\xc4\0\xc4\x05shape\x91\x04\xc4\x04"
    "data\xc4\x04\xff\xd8\x02\x03\x03"s;

TEST(Datapoint, ReadsPickles) {
  EXPECT_EQ(pointOf(numpyFive), (Point{"\xff\xd8\x02\x03", 3}));
  EXPECT_EQ(pointOf("\x80\x04\x95\x0a\0\0\0\0\0\0\0](C\x02\xff\xd8K\x07"
                    "e."s),
            (Point{"\xff\xd8", 7}));
  EXPECT_EQ(pointOf("\x80\x02](U\x02\xff\xd8K\x07"
                    "e."),
            (Point{"\xff\xd8", 7}))
      << "of Python 2";
  EXPECT_EQ(pointOf("\x80\x03"
                    "C\x02\xff\xd8K\x07\x86."),
            (Point{"\xff\xd8", 7}))
      << "a tuple";
  const std::string latin1 = call(global("_codecs", "encode"), tuple({text("\xc3\xbf\xc3\x98"), text("latin1")}));
  EXPECT_EQ(pointOf(whole(latin1 + "K\x07\x86")), (Point{"\xff\xd8", 7})) << "of Python 3 in protocol 2";
}

TEST(Datapoint, ReadsMessagePack) {
  EXPECT_EQ(pointOf(msgpackArray), (Point{"\xff\xd8\x02\x03", 3}));
  EXPECT_EQ(pointOf("\x92\xc4\x02\xff\xd8\xcd\x01\x00"s), (Point{"\xff\xd8", 256}));
  EXPECT_EQ(pointOf("\x92\xa2\xff\xd8\x07"), (Point{"\xff\xd8", 7})) << "without use_bin_type";
  EXPECT_EQ(pointOf("\x92\xc4\x02\xff\xd8\x83\xc4\x02nd\xc2\xc4\x04type\xa3<i4\xc4\x04"
                    "data\xc4\x04\x05\0\0\0"s),
            (Point{"\xff\xd8", 5}));
}

std::string changed(std::string value, const std::string& from, const std::string& to) {
  return value.replace(value.find(from), from.size(), to);
}

TEST(Datapoint, RefusesOtherPickles) {
  expectRefused("\x80\x02N.", "the datapoint is None of 0 values; an image and a label are read", 2);
  expectRefused("\x80\x02K\x01K\x02K\x03\x87.", "a tuple of 3 values", 8);
  expectRefused("\x80\x02U\x01xJ\xff\xff\xff\xff\x86.", "the label is -1; it counts from 0", 5);
  expectRefused("\x80\x02U\x01xU\x01x\x86.", "the label: this is bytes, not a whole number", 5);
  expectRefused("\x80\x02K\x01K\x02\x86.", "the image: this is an integer, not an array of NumPy", 2);
  expectRefused("\x80\x04\x8c\x05posix\x8c\x06system\x93.", "'posix.system', which a datapoint does not need", 17);
  expectRefused(changed(numpyFive, "K\x04\x85", "K\x02K\x02\x86"), "the image is an array with 2 sides", 133);
  EXPECT_EQ(pointOf(changed(numpyFive, "K\x04\x85", "K\x04K\x01\x86")).label, 3) << "as OpenCV gives them";
  expectRefused(numpyFive + "x", "1 bytes follow the end", numpyFive.size());
  std::string many = "\x80\x02(";
  for (int i = 0; i < 300; ++i) many += "N";
  expectRefused(many, "the pickle has more than 256 values", 259);
}

TEST(Datapoint, RefusesOtherMessagePack) {
  expectRefused("\x93\x01\x02\x03", "neither a pickle nor MessagePack with an image and a label", 0);
  expectRefused("", "neither a pickle nor MessagePack", 0);
  expectRefused("\x92\x01\x02", "this is an integer, not what msgpack-numpy writes", 1);
  expectRefused("\x92\xa1x\xff", "the label is -1; it counts from 0", 3);
  expectRefused("\x92\xa1x", "the label: MessagePack ends where a value is due", 3);
  expectRefused("\x92\xa1x\x01\x01", "1 bytes follow the end", 4);
  expectRefused("\x92\xa1x" + msgpackArray.substr(1, msgpackArray.size() - 2), "this is an array, not a whole number",
                3);
  expectRefused(changed(msgpackArray, "|u1", "|i1"), "an array has type '|i1'", 1);
  expectRefused(changed(msgpackArray, "\x91\x04", "\x91\x05"), "an array has the shape [5] and 4 bytes", 1);
  expectRefused(changed(msgpackArray, "\xa3|u1", "\x91\x01"), "'type' is an array", 13);
  expectRefused(changed(msgpackArray, "\x91\x04", "\x91\xc0"), "a side of an array is no number", 33);
  expectRefused(changed(msgpackArray, "\x91\x04", "\xdc\x00\x28"s + std::string(40, '\1')),
                "the shape is an array of 40 values", 32);
  expectRefused(changed(msgpackArray, "nd\xc3", "nd\xc2"), "the image is a number", 1);
  for (size_t size = 1; size < msgpackArray.size(); ++size) {
    EXPECT_FALSE(parseDatapoint(bytesOf(msgpackArray.substr(0, size))).ok()) << size;
  }
}

TEST(Datapoint, ReadsWhatIsPickled) {
  for (const size_t length : {size_t{1}, size_t{4}, size_t{70'000}}) {
    const std::vector<uint8_t> image(length, 0xd8), pickle = pickledDatapoint(image, 3);
    const auto datapoint = parseDatapoint(pickle);
    ASSERT_TRUE(datapoint.ok()) << datapoint.error().text;
    EXPECT_EQ(std::vector<uint8_t>(datapoint.value().image.begin(), datapoint.value().image.end()), image);
    EXPECT_EQ(datapoint.value().label, 3);
  }
  EXPECT_EQ(parseDatapoint(pickledDatapoint({}, 2'000'000'000)).value().label, 2'000'000'000);
  const auto pickle = pickledDatapoint(std::vector<uint8_t>{0xff, 0xd8}, 7);
  EXPECT_EQ(std::string(pickle.begin(), pickle.end()),
            "\x80\x03](cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85"
            "C\x01"
            "b\x87R(K\x01J\x02\0\0\0\x85"
            "cnumpy\ndtype\nX\x02\0\0\0u1\x89\x88\x87R(K\x03X\x01\0\0\0|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"
            "B\x02\0\0\0\xff\xd8tbJ\x07\0\0\0"
            "e."s)
      << "pickle.loads() gives [array([255, 216], dtype=uint8), 7], with NumPy 1.26 and 2.4";
  const std::vector<std::string> keys{"00000000", "00000001"};
  const auto list = pickledKeys(keys);
  EXPECT_EQ(std::string(list.begin(), list.end()),
            "\x80\x03](B\x08\0\0\0"
            "00000000B\x08\0\0\0"
            "00000001e."s)
      << "pickle.loads() gives [b'00000000', b'00000001']";
}

}  // namespace
}  // namespace tandem
