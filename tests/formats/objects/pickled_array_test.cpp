#include "formats/objects/pickled_array.h"

#include <gtest/gtest.h>

#include "support/pickle_writer.h"

namespace tandem {
namespace {

using namespace pickled;
using namespace std::string_literals;

const PickleRules rules = arrayRules("a batch", "fetch another");

std::string bytes(const std::string& content) { return concat("B", word(content.size(), 4), content); }

/// numpy.dtype as NumPy writes it.
std::string dtype(const std::string& code, const std::string& order) {
  const std::string last = "J\xFF\xFF\xFF\xFF";
  return call(global("numpy", "dtype"), tuple({text(code), no, yes})) +
         tuple({integer(3), text(order), none, none, none, last, last, integer(0)}) + "b";
}

std::string scalar(const std::string& code, const std::string& order, const std::string& content) {
  return call(global("numpy.core.multiarray", "scalar"), tuple({dtype(code, order), bytes(content)}));
}

std::string buffer(const std::string& content, const std::vector<int64_t>& shape, const std::string& order = "C") {
  return call(global("numpy._core.numeric", "_frombuffer"),
              tuple({bytes(content), dtype("u1", "|"), sizes(shape), text(order)}));
}

template <class Read>
auto read(const std::string& value, Read part) {
  const auto file = bytesOf(whole(value));
  auto parsed = parsePickle(file, rules);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text;
  const Pickle& pickle = parsed.value();
  return part(pickle, pickle.values[pickle.root]);
}

Result<int64_t> integerIn(const std::string& value) {
  return read(value, [](const Pickle& pickle, const PickleValue& root) { return integerOf(pickle, root); });
}

void expectInteger(const std::string& value, int64_t expected) {
  const auto number = integerIn(value);
  ASSERT_TRUE(number.ok()) << number.error().text;
  EXPECT_EQ(number.value(), expected);
}

TEST(PickledArray, ReadsWholeNumbersOfPythonAndNumPy) {
  expectInteger(integer(-7), -7);
  expectInteger(scalar("u1", "|", "\xFF"), 255);
  expectInteger(scalar("i1", "|", "\xFF"), -1);
  expectInteger(scalar("i4", "<", "\x02\x01\0\0"s), 258);
  expectInteger(scalar("i8", "<", "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), -2);
}

TEST(PickledArray, RefusesOtherNumbers) {
  const auto expectRefused = [](const std::string& value, const std::string& part) {
    const auto number = integerIn(value);
    ASSERT_FALSE(number.ok()) << part;
    EXPECT_NE(number.error().text.find(part), std::string::npos) << number.error().text;
  };
  expectRefused(scalar("f8", "<", std::string(8, '\0')), "a number of type '<f8' in 8 bytes");
  expectRefused(scalar("i8", ">", std::string(8, '\0')), "a number of type '>i8'");
  expectRefused(scalar("i8", "<", "abc"), "a number of type '<i8' in 3 bytes");
  expectRefused(scalar("u8", "<", std::string(8, '\xFF')), "a number beyond 63 bits");
  expectRefused(yes, "this is a boolean, not a whole number");
  expectRefused(call(global("numpy.core.multiarray", "scalar"), tuple({bytes("x"), bytes("x")})),
                "the type of an array or a number is not that of NumPy");
}

TEST(PickledArray, RefusesArraysByWhatIsWrong) {
  const auto expectRefused = [](const std::string& value, const std::string& part) {
    const auto array =
        read(value, [](const Pickle& pickle, const PickleValue& root) { return byteArrayOf(pickle, root); });
    ASSERT_FALSE(array.ok()) << part;
    EXPECT_NE(array.error().text.find(part), std::string::npos) << array.error().text;
  };
  expectRefused(buffer("abcd", {2, 3}), "an array has the shape [2, 3] and 4 bytes, which do not agree");
  expectRefused(buffer("abcd", {-2, -2}), "an array has the shape [-2, -2] and 4 bytes");
  expectRefused(buffer("", {int64_t{1} << 40, int64_t{1} << 40, 0}), "which do not agree");
  expectRefused(buffer("a", std::vector<int64_t>(33, 1)), "an array has 33 sides; the limit is 32");
  expectRefused(buffer("abcd", {2, 2}, "F"), "the array is stored in Fortran's order");
  expectRefused(call(global("numpy.core.multiarray", "_reconstruct"), ")"), "this is an object, not an array of NumPy");
  expectRefused(call(global("numpy.core.multiarray", "_reconstruct"), ")") + ")b", "this is an object");
  expectRefused(none, "this is None, not an array of NumPy");
  const auto whole = read(buffer("abcd", {2, 2}), [](const Pickle& pickle, const PickleValue& root) {
    return byteArrayOf(pickle, root).value().shape;
  });
  EXPECT_EQ(whole, (std::vector<int64_t>{2, 2}));
}

}  // namespace
}  // namespace tandem
