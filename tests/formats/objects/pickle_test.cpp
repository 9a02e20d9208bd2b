#include "formats/objects/pickle.h"

#include <gtest/gtest.h>

#include "formats/objects/pickled_array.h"
#include "support/pickle_writer.h"

namespace tandem {
namespace {

using namespace pickled;
using Kind = PickleValue::Kind;

constexpr std::string_view named[] = {"torch.FloatStorage"};
constexpr std::string_view callable[] = {"torch._utils._rebuild_tensor_v2"};
constexpr PickleRules rules{.content = "a state dict",
                            .advice = "save another",
                            .opcodes = PickleOpcodes::ofStateDict,
                            .newestProtocol = 2,
                            .named = named,
                            .callable = callable,
                            .buildable = {}};

void expectRefused(const std::string& pickle, uint64_t offset, const std::string& part,
                   const PickleLimits& limits = {}) {
  const auto bytes = bytesOf(pickle);
  const auto result = parsePickle(bytes, rules, limits);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
  EXPECT_EQ(result.error().offset, offset) << result.error().text;
}

/// The value that the opcodes leave. The bytes must outlive it where it is a text.
PickleValue valueOf(const std::vector<uint8_t>& bytes) {
  const auto result = parsePickle(bytes, rules);
  EXPECT_TRUE(result.ok()) << result.error().text;
  return result.ok() ? result.value().values[result.value().root] : PickleValue();
}
int64_t integerOf(const std::string& opcodes) {
  const auto bytes = bytesOf(whole(opcodes));
  const auto value = valueOf(bytes);
  EXPECT_EQ(value.kind, Kind::integer);
  return value.integer;
}

TEST(Pickle, ReadsIntegers) {
  EXPECT_EQ(integerOf("K\xFF"), 255);
  EXPECT_EQ(integerOf("M\x01\x02"), 513);
  EXPECT_EQ(integerOf("J\xFE\xFF\xFF\xFF"), -2);
  EXPECT_EQ(integerOf(std::string("\x8A\x00", 2)), 0);
  EXPECT_EQ(integerOf("\x8A\x01\xFF"), -1);
  EXPECT_EQ(integerOf(std::string("\x8A\x02\xFF\x00", 4)), 255);
  EXPECT_EQ(integerOf(integer(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(integerOf(integer(int64_t{1} << 40)), int64_t{1} << 40);
}

TEST(Pickle, ReadsContainers) {
  const auto bytes = bytesOf(whole(dict({{"a",
                                          "]q\x05K\x01"
                                          "a(K\x02K\x03"
                                          "e"},
                                         {"b", "h\x05"},
                                         {"c", ")"},
                                         {"d", "K\x01K\x02\x86"}})));
  const auto result = parsePickle(bytes, rules);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const auto& values = result.value().values;
  const auto& root = values[result.value().root];
  ASSERT_EQ(root.items.size(), 8U);
  EXPECT_EQ(values[root.items[0]].text, "a");
  EXPECT_EQ(values[root.items[1]].items.size(), 3U);
  EXPECT_EQ(root.items[1], root.items[3]);
  EXPECT_EQ(values[root.items[5]].kind, Kind::tuple);
  EXPECT_EQ(values[root.items[7]].items.size(), 2U);
}

TEST(Pickle, WritesCallsDownInsteadOfMakingThem) {
  const auto bytes = bytesOf(whole(call(global("torch._utils", "_rebuild_tensor_v2"), ")")));
  const auto value = valueOf(bytes);
  EXPECT_EQ(value.kind, Kind::reduced);
  const auto dictBytes = bytesOf(whole(orderedDict() + dict({{"_metadata", orderedDict()}}) + "b"));
  EXPECT_EQ(valueOf(dictBytes).kind, Kind::orderedDict);
}

TEST(Pickle, AContainerMayHoldItself) {
  const auto bytes =
      bytesOf(whole("]q\x01h\x01"
                    "a"));
  EXPECT_EQ(valueOf(bytes).items.size(), 1U);
}

TEST(Pickle, RefusesGlobalsOffTheList) {
  expectRefused(whole(call(global("posix", "system"), tuple({text("touch canary")}))), 2,
                "GLOBAL names 'posix.system'");
  expectRefused(whole(call(global("builtins", "eval"), tuple({text("1")}))), 2, "GLOBAL names 'builtins.eval'");
  expectRefused(whole(call(global("__builtin__", "eval"), tuple({text("1")}))), 2, "'__builtin__.eval'");
  expectRefused(whole(call(global("torch.storage", "_load_from_bytes"), ")")), 2, "'torch.storage._load_from_bytes'");
  expectRefused(whole(call(global("torch._utils", "_rebuild_sparse_tensor"), ")")), 2, "_rebuild_sparse_tensor");
  expectRefused(whole(call(global("torch._utils", "_rebuild_qtensor"), ")")), 2, "_rebuild_qtensor");
  expectRefused(whole(global("torch", "FloatStorage\x1b[31m")), 2, "'torch.FloatStorage\\x1b[31m'");
  expectRefused(whole(std::string("c") + std::string(300, 'x') + "\nname\n"), 2, "no name of at most 256 bytes");
  expectRefused(
      "\x80\x02"
      "ctorch",
      2, "no name of");
}

TEST(Pickle, RefusesCallsOfAnythingElse) {
  expectRefused(whole(call(global("torch", "FloatStorage"), ")")), 23,
                "REDUCE calls 'torch.FloatStorage', which is never");
  expectRefused(whole("K\x01)R"), 5, "REDUCE calls an integer");
  expectRefused(whole(call(global("torch._utils", "_rebuild_tensor_v2"), "]")), 36, "without a tuple of arguments");
  expectRefused(whole(call(global("collections", "OrderedDict"), tuple({"K\x01"}))), 31, "OrderedDict with arguments");
}

/// How many opcodes the rules allow, by what they refuse.
int allowedOpcodes(const PickleRules& rules) {
  int allowed = 0;
  for (int code = 0; code < 256; ++code) {
    const auto bytes = bytesOf(concat("\x80\x02", std::string(1, static_cast<char>(code))));
    const auto result = parsePickle(bytes, rules);
    EXPECT_FALSE(result.ok()) << code;
    if (result.error().text.find("of the pickle is not one that") == std::string::npos) ++allowed;
    EXPECT_LE(result.error().offset, 3U);
  }
  return allowed;
}

TEST(Pickle, RefusesOtherOpcodes) {
  EXPECT_EQ(allowedOpcodes(rules), 30);
  for (const char code : std::string("i\x81o\x93\x82\x83\x84\x92"
                                     "PIFLSTUVBC0\x8f\x90\x91\x8b\x8c\x8d\x8e\x94\x95\x96")) {
    expectRefused(concat("\x80\x02N", code), 3, concat("opcode ", static_cast<int>(static_cast<uint8_t>(code))));
  }
}

const PickleRules ofArrays = arrayRules("a batch", "fetch another");

TEST(Pickle, ArraysHaveMoreOpcodesOfTheirOwn) {
  EXPECT_EQ(allowedOpcodes(ofArrays), 30 - 2 + 11) << "but no BINFLOAT and no BINPERSID";
  const auto kindOf = [](const std::string& pickle) {
    const auto bytes = bytesOf(pickle);
    const auto result = parsePickle(bytes, ofArrays);
    EXPECT_TRUE(result.ok()) << result.error().text;
    if (!result.ok()) return std::pair(Kind::none, std::string());
    const PickleValue& root = result.value().values[result.value().root];
    return std::pair(root.kind, std::string(root.text));
  };
  using namespace std::string_literals;
  EXPECT_EQ(kindOf("\x80\x02U\x02\xFFx."s), std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x02T\x02\0\0\0\xFFx."s), std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x03"
                   "C\x02\xFFx."s),
            std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x03"
                   "B\x02\0\0\0\xFFx."s),
            std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x04\x8E\x02\0\0\0\0\0\0\0\xFFx."s), std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x05\x96\x02\0\0\0\0\0\0\0\xFFx."s), std::pair(Kind::bytes, "\xFFx"s));
  EXPECT_EQ(kindOf("\x80\x04\x8C\x02\xC3\xA4."s), std::pair(Kind::text, "\xC3\xA4"s));
  EXPECT_EQ(kindOf("\x80\x04\x8D\x02\0\0\0\0\0\0\0\xC3\xA4."s), std::pair(Kind::text, "\xC3\xA4"s));
  EXPECT_EQ(kindOf("\x80\x04\x95\x03\0\0\0\0\0\0\0N\x94."s).first, Kind::none);
  EXPECT_EQ(kindOf("\x80\x04\x8C\x05numpy\x8C\x07ndarray\x93."s), std::pair(Kind::global, "numpy.ndarray"s));
  EXPECT_EQ(kindOf("\x80\x04(NN\x94t\x94."s).first, Kind::tuple);
}

void expectArraysRefused(const std::string& pickle, uint64_t offset, const std::string& part) {
  const auto bytes = bytesOf(pickle);
  const auto result = parsePickle(bytes, ofArrays);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
  EXPECT_EQ(result.error().offset, offset) << result.error().text;
}

TEST(Pickle, BytesOfPython3AreDecoded) {
  const auto encoded = [](const std::string& characters, const std::string& coding) {
    return call(global("_codecs", "encode"), tuple({text(characters), text(coding)}));
  };
  const auto bytes = bytesOf(whole(encoded("a\xC2\x80\xC3\xBF", "latin1")));
  const auto result = parsePickle(bytes, ofArrays);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const Pickle copy = result.value();
  EXPECT_EQ(copy.values[copy.root].kind, Kind::bytes);
  EXPECT_EQ(copy.values[copy.root].text, "a\x80\xFF");
  expectArraysRefused(whole(encoded("\xC4\x80", "latin1")), 38, "of a text that is not Latin-1");
  expectArraysRefused(whole(encoded("a", "rot13")), 36, "_codecs.encode without (text, 'latin1')");
  std::string often = "(" + text(std::string(100, 'x')) + "q\x01" + text("latin1") + "q\x02";
  for (int i = 0; i < 100; ++i) often += call(global("_codecs", "encode"), "h\x01h\x02\x86");
  const auto refused = bytesOf(whole(often + "t"));
  EXPECT_NE(parsePickle(refused, ofArrays).error().text.find("more texts are decoded than the pickle has"),
            std::string::npos);
}

TEST(Pickle, ArraysAreRefusedAsStateDictsAre) {
  using namespace std::string_literals;
  expectArraysRefused("\x80\x06N.", 0, "not a pickle of protocol 2 to 5, as a batch is; fetch another");
  expectArraysRefused("\x80\x04\x8C\x05posix\x8C\x06system\x93.", 17, "STACK_GLOBAL names 'posix.system'");
  expectArraysRefused(whole(global("builtins", "eval")), 2, "names 'builtins.eval', which a batch does not need");
  expectArraysRefused("\x80\x04K\x01K\x02\x93.", 6, "STACK_GLOBAL without two names");
  expectArraysRefused(
      "\x80\x04"
      "B\xFF\xFF\xFF\xFFx",
      2, "BINBYTES of the pickle reads beyond its end");
  expectArraysRefused("\x80\x05\x96\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFx", 2, "BYTEARRAY8 of the pickle reads beyond");
  expectArraysRefused("\x80\x04\x95\x09\0\0\0\0\0\0\0N."s, 2, "FRAME of the pickle reads beyond its end");
  expectArraysRefused("\x80\x04\x94.", 2, "MEMOIZE takes more from the stack");
  const std::string dtype = call(global("numpy", "dtype"), tuple({text("u1")}));
  expectArraysRefused(whole(dtype + "Nb"), 26, "BUILD gives an object None for a state");
  expectArraysRefused(whole(dtype + ")b)b"), 28, "BUILD gives an object a tuple for a state; only an array");
  expectArraysRefused(whole(call(global("numpy", "ndarray"), ")")), 18, "REDUCE calls 'numpy.ndarray'");
}

TEST(Pickle, RefusesOtherProtocols) {
  expectRefused("", 0, "protocol 2");
  expectRefused("\x80", 0, "protocol 2");
  expectRefused("\x80\x04N.", 0, "protocol 2");
  expectRefused("(lp0\n.", 0, "protocol 2");
}

TEST(Pickle, RefusesWhatIsNotOnTheStack) {
  for (const std::string opcode : {"\x85", "\x86", "\x87", "R", "b", "a", "s", "Q", "q\x01"}) {
    expectRefused(concat("\x80\x02", opcode), 2, "takes more from the stack");
    expectRefused(concat("\x80\x02NNN(", opcode), 6, "takes more from the stack");
  }
  for (const std::string opcode : {"t", "e", "u"}) expectRefused(concat("\x80\x02N", opcode), 3, "without a mark");
  expectRefused("\x80\x02(e", 3, "takes more from the stack");
  expectRefused(whole("(N"), 4, "1 values and 1 marks");
  expectRefused(whole("NN"), 4, "2 values");
  expectRefused(whole(""), 2, "0 values");
}

TEST(Pickle, RefusesWhatIsNotInTheMemo) {
  expectRefused(whole("h\x01"), 2, "BINGET: the memo has no entry 1");
  expectRefused(whole(std::string("Nq\x01j\x02\0\0\0", 8)), 5, "LONG_BINGET: the memo has no entry");
}

TEST(Pickle, RefusesItemsOfWhatIsNoDict) {
  expectRefused(whole(std::string("]") + text("a") + "Ns"), 10, "SETITEM on a list");
  expectRefused(whole(std::string("N(") + text("a") + "Nu"), 11, "SETITEMS on None");
  expectRefused(whole(std::string("}(") + text("a") + "u"), 10, "a key without a value");
  expectRefused(whole("})Ns"), 5, "the key is a tuple");
  expectRefused(whole("}Na"), 4, "APPEND on a dict");
  expectRefused(whole(")(Ne"), 5, "APPENDS on a tuple");
  expectRefused(whole("}}b"), 4, "BUILD gives a dict a dict");
  expectRefused(whole(orderedDict() + "Nb"), 30, "BUILD gives a dict None");
}

TEST(Pickle, RefusesTruncationAndWhatFollows) {
  const std::string pickle =
      whole(dict({{"a", "J\x01\x02\x03\x04"}, {"b", integer(7)}, {"c", global("torch", "FloatStorage")}}));
  EXPECT_TRUE(parsePickle(bytesOf(pickle), rules).ok());
  for (size_t size = 0; size < pickle.size(); ++size) {
    EXPECT_FALSE(parsePickle(bytesOf(pickle.substr(0, size)), rules).ok()) << size;
  }
  expectRefused(pickle + "N", pickle.size(), "1 bytes follow the end");
  expectRefused("\x80\x02X\xFF\xFF\xFF\xFFx", 2, "reads beyond its end");
  expectRefused(
      "\x80\x02\x8A\x09"
      "123456789.",
      2, "an integer of 9 bytes");
  expectRefused(whole(std::string("X\x01") + std::string(3, '\0') + "\xFF"), 2, "not UTF-8");
  expectRefused(whole(text("\xED\xA0\x80")), 2, "not UTF-8");
}

TEST(Pickle, RefusesMillionsOfMarksValuesAndOpcodes) {
  expectRefused(concat("\x80\x02", std::string(1'000'000, '(')), 66, "more than 64 nested marks");
  expectRefused(concat("\x80\x02", std::string(1'000'000, 'N')), 262146, "more than 262144 values");
  std::string pickle = "\x80\x02N";
  for (int i = 0; i < 1'100'000; ++i) pickle += "q\x01h\x01";
  EXPECT_FALSE(parsePickle(bytesOf(pickle), rules).ok());
  expectRefused("\x80\x02NN", 3, "more than 1 values", {.values = 1});
  expectRefused("\x80\x02NN", 3, "more than 1 opcodes", {.opcodes = 1});
  expectRefused("\x80\x02(((", 4, "more than 2 nested marks", {.marks = 2});
}

}  // namespace
}  // namespace tandem
