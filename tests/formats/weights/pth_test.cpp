#include "formats/weights/pth.h"

#include <gtest/gtest.h>

#include "support/pickle_writer.h"

namespace tandem {
namespace {

using namespace pickled;

void expectRefused(const std::string& file, const std::string& part, const PthLimits& limits = {}) {
  const auto bytes = bytesOf(file);
  const auto result = parsePth(bytes, limits);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
  EXPECT_LE(result.error().offset, bytes.size());
}

void expectTensorRefused(const Placed& placed, const std::string& part) {
  expectRefused(archive(whole(dict({{"w", tensor(placed)}}))), part);
  // Also where nothing asks for it.
  expectRefused(archive(whole(dict({{"state_dict", dict({{"w", tensor()}})}, {"optimizer", tensor(placed)}}))), part);
}

TEST(Pth, ReadsAStateDict) {
  const auto bytes = bytesOf(archive(whole(dict({{"a.weight", tensor()},
                                                 {"a.bias", tensor({.offset = 2, .shape = {4}, .strides = {1}})},
                                                 {"s", tensor({.offset = 5, .shape = {}, .strides = {}})}}))));
  const auto result = parsePth(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const auto& tensors = result.value().tensors;
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "a.weight");
  EXPECT_EQ(tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(tensors[0].strides.empty());
  EXPECT_EQ(tensors[0].bytes.size(), 24U);
  EXPECT_EQ(tensors[1].bytes.data(), tensors[0].bytes.data() + 8);
  EXPECT_EQ(tensors[1].bytes.size(), 16U);
  EXPECT_EQ(tensors[2].bytes.size(), 4U);
  EXPECT_TRUE(result.value().within.empty());
}

TEST(Pth, FindsTheStateDictOfACheckpoint) {
  const std::string state = dict({{"w", tensor()}});
  const std::string checkpoint = dict({{"epoch", integer(3)}, {"state_dict", state}, {"best", tensor()}});
  const auto bytes = bytesOf(archive(whole(checkpoint)));
  const auto result = parsePth(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result.value().within, std::vector<std::string>{"state_dict"});
  EXPECT_EQ(result.value().skipped, (std::vector<std::string>{"epoch", "best"}));
  EXPECT_EQ(result.value().tensors.size(), 1U);
  for (const std::string key : {"model", "model_state_dict"}) {
    EXPECT_TRUE(parsePth(bytesOf(archive(whole(dict({{key, dict({{"state_dict", state}})}}))))).ok()) << key;
  }
}

TEST(Pth, RefusesWhatIsNoStateDict) {
  expectRefused(archive(whole("]")), "holds a list, not a state dict");
  expectRefused(archive(whole(tensor())), "holds an object, not a state dict");
  expectRefused(archive(whole("}")), "holds no tensors");
  expectRefused(archive(whole(dict({{"w", tensor()}, {"n", integer(1)}}))),
                "entry 'n' of the state dict is an integer");
  expectRefused(archive(whole(dict({{"w", tensor()}, {"inner", dict({{"v", tensor()}})}}))),
                "'inner' of the state dict is a dict");
  expectRefused(archive(whole(std::string("}(K\x01") + tensor() + "u")), "is an integer, not a text");
  expectRefused(archive(whole(dict({{"w", tensor()}, {"w", tensor()}}))), "'w' is there twice");
  expectRefused(archive(whole(dict({{"../w", tensor()}}))), "a slash");
  expectRefused(archive(whole(dict({{std::string("w\0", 2), tensor()}}))), "control character");
  expectRefused(archive(whole(std::string("}q\x01") + text("state_dict") + "h\x01s")), "nested too deeply");
}

TEST(Pth, RefusesStoragesThatDoNotMatchTheirRecord) {
  expectTensorRefused({.storage = storage({.count = 5})}, "has 5 elements of 4 bytes, its record 24 bytes");
  expectTensorRefused({.storage = storage({.count = 7})}, "has 7 elements");
  expectTensorRefused({.storage = storage({.count = -1})}, "has -1 elements");
  expectTensorRefused({.storage = storage({.count = INT64_MAX})}, "elements of 4 bytes");
  expectTensorRefused({.storage = storage({.key = "1"})}, "storage '1' has no record");
  expectTensorRefused({.storage = storage({.key = "../data/0"})}, "has no record");
  expectTensorRefused({.storage = storage({.type = "QInt8Storage"})}, "GLOBAL names 'torch.QInt8Storage'");
  expectTensorRefused({.storage = storage({.type = "UntypedStorage", .count = 24})}, "torch.UntypedStorage");
  expectTensorRefused({.storage = global("torch._utils", "_rebuild_tensor_v2")}, "_rebuild_tensor_v2 without (storage");
  expectTensorRefused({.storage = tuple({text("module"), "N"}) + "Q"}, "BINPERSID is not ('storage'");
  expectTensorRefused({.storage = integer(7) + "Q"}, "BINPERSID with an integer");
  expectRefused(archive(whole(dict({{"a", tensor()}, {"b", tensor({.storage = storage({.type = "IntStorage"})})}}))),
                "is used with two types");
}

TEST(Pth, RefusesSizesAndStridesBeyondTheStorage) {
  expectTensorRefused({.offset = 1}, "reaches beyond its storage of 6 elements");
  expectTensorRefused({.offset = -1}, "reaches beyond");
  expectTensorRefused({.offset = INT64_MAX}, "reaches beyond");
  expectTensorRefused({.shape = {3, 3}}, "reaches beyond");
  expectTensorRefused({.strides = {4, 1}}, "reaches beyond");
  expectTensorRefused({.strides = {INT64_MAX, 1}, .gradient = no}, "reaches beyond");
  expectTensorRefused({.shape = {INT64_MAX, INT64_MAX}, .strides = {INT64_MAX, INT64_MAX}}, "reaches beyond");
  expectTensorRefused({.shape = {2, -3}}, "not an integer of at least 0");
  expectTensorRefused({.strides = {3, -1}}, "not an integer of at least 0");
  expectTensorRefused({.strides = {1}}, "2 sizes and 1 strides");
  expectTensorRefused({.shape = std::vector<int64_t>(33, 1), .strides = std::vector<int64_t>(33, 1)}, "33 dimensions");
}

TEST(Pth, RefusesMoreElementsThanTheStorageHas) {
  expectTensorRefused({.shape = {1 << 30}, .strides = {0}}, "more elements than its storage");
  expectTensorRefused({.shape = {int64_t{1} << 62, int64_t{1} << 62}, .strides = {0, 0}}, "more elements");
  const auto bytes = bytesOf(archive(whole(dict({{"w", tensor({.shape = {3, 2}, .strides = {0, 1}})}}))));
  EXPECT_TRUE(parsePth(bytes).ok());
}

TEST(Pth, RefusesTensorsThatTogetherExplode) {
  std::string state = std::string("}(") + text("v") + tensor() + "q\x01";
  for (int i = 0; i < 2000; ++i) state += text(concat("w", i)) + "h\x01";
  const std::string file = archive(whole(state + "u"));
  EXPECT_TRUE(parsePth(bytesOf(file)).ok());
  expectRefused(file, "over the limit of 1 to 1", {.zip = {}, .pickle = {}, .expansion = 1, .expansionFrom = 1000});
}

TEST(Pth, RefusesGradientsAndHooksThatCannotBe) {
  EXPECT_TRUE(parsePth(bytesOf(archive(whole(dict({{"w", tensor({.gradient = yes})}}))))).ok());
  const std::string integers = tensor({.storage = storage({.type = "IntStorage"}), .gradient = yes});
  expectRefused(archive(whole(dict({{"w", integers}}))), "of type I32 requires a gradient");
  expectTensorRefused({.gradient = none}, "_rebuild_tensor_v2 without");
  const std::string hooked =
      call(global("torch._utils", "_rebuild_tensor_v2"),
           tuple({storage(), integer(0), sizes({6}), sizes({1}), no, dict({{"hook", integer(1)}})}));
  expectRefused(archive(whole(dict({{"w", hooked}}))), "has hooks");
}

TEST(Pth, ReadsParameters) {
  const auto parameter = [](const std::string& inner, const std::string& gradient) {
    return archive(whole(
        dict({{"w", call(global("torch._utils", "_rebuild_parameter"), tuple({inner, gradient, orderedDict()}))}})));
  };
  const auto bytes = bytesOf(parameter(tensor(), yes));
  const auto result = parsePth(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result.value().tensors[0].bytes.size(), 24U);
  expectRefused(parameter(integer(1), yes), "_rebuild_parameter without (tensor");
  expectRefused(parameter(storage(), yes), "_rebuild_parameter without (tensor");
  expectRefused(parameter(tensor(), none), "_rebuild_parameter without (tensor");
  expectRefused(parameter(tensor({.storage = storage({.type = "IntStorage"})}), yes), "requires a gradient");
}

TEST(Pth, RefusesOtherArchives) {
  const std::string good = whole(dict({{"w", tensor()}}));
  EXPECT_TRUE(parsePth(bytesOf(archive(good))).ok());
  expectRefused(zipOf({}), "the zip file is empty");
  expectRefused(zipOf({{.name = "a/readme", .data = "x"}}), "has no data.pkl");
  expectRefused(zipOf({{.name = "data.pkl", .data = good}}), "outside the one folder");
  expectRefused(archive(good, {{.name = "b/data/1", .data = "x"}}), "outside the one folder");
  expectRefused(archive(good, {{.name = "a/constants.pkl", .data = "x"}}), "TorchScript");
  expectRefused(zipOf({{.name = "a/data.pkl", .data = good}, {.name = "a/byteorder", .data = "big"}}),
                "byte order 'big'");
  for (const std::string version : {"", "0\n", "11\n", "3x", "-3", "\n"}) {
    expectRefused(zipOf({{.name = "a/data.pkl", .data = good}, {.name = "a/version", .data = version}}), "version is");
  }
  expectRefused(zipOf({{.name = "a/data.pkl", .data = good}}), "version is ''");
  EXPECT_TRUE(parsePth(bytesOf(archive(good, {{.name = "a/.storage_alignment", .data = "64"}}))).ok());
  for (const std::string alignment : {"", "6x", "-1", "12345678901"}) {
    expectRefused(archive(good, {{.name = "a/.storage_alignment", .data = alignment}}), "alignment of storages");
  }
  expectRefused(archive(good, {{.name = "a/.data/serialization_id", .data = "\xFF"}}), "not UTF-8");
}

TEST(Pth, NamesTheByteInThePickle) {
  const std::string file = archive(whole(call(global("posix", "system"), tuple({text("touch canary")}))));
  expectRefused(file, "GLOBAL names 'posix.system'");
  expectRefused(file, "(byte 2 of data.pkl)");
}

TEST(Pth, RecognisesLegacyFiles) {
  EXPECT_TRUE(isLegacyPth(bytesOf("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.")));
  EXPECT_FALSE(isLegacyPth(bytesOf("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19")));
  EXPECT_FALSE(isLegacyPth(bytesOf(archive("x"))));
}

}  // namespace
}  // namespace tandem
