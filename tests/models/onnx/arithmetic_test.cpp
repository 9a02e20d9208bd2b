#include "models/onnx/arithmetic.h"

#include <gtest/gtest.h>

#include "models/onnx/imported_graphs.h"

namespace tandem {
namespace {

using namespace onnx_writer;

TEST(OnnxNetwork, CastsOfWhatDependsOnImagesStayFloating) {
  const auto cast = [](int64_t first) {
    return Strings{node("Cast", {"c"}, "h", attribute("to", first)),
                   node("Cast", {"h"}, "h1", attribute("to", int64_t{1})), node("Relu", {"h1"}, "r")};
  };
  for (const int64_t floating : {1, 10, 11, 16}) EXPECT_EQ(middleOf(cast(floating)), (Strings{"r: relu(conv)"}));
  EXPECT_NE(whyNot(cast(6)).find("it makes I32 of what depends on the images"), std::string::npos);
  EXPECT_NE(whyNot(cast(9)).find("it makes BOOL of what depends on the images"), std::string::npos);
  EXPECT_NE(whyNot(cast(2)), "");
  const auto like = [](const std::string& other) { return Strings{node("CastLike", {"c", other}, "r")}; };
  EXPECT_EQ(middleOf(like("real"), {real("real", 1)}), Strings());
  EXPECT_NE(whyNot(like("whole"), {wholes("whole", {1})}).find("it makes I64"), std::string::npos);
}

TEST(OnnxNetwork, ProductsOfConstantsHaveNoAxes) {
  const auto product = [](const std::string& of) {
    return Strings{node("ReduceProd", {of, "axes"}, "product"), node("Relu", {"c"}, "r")};
  };
  const Strings tensors{wholes("axes", {0}), wholes("row", {2, 3}), floats("table", {2, 2})};
  EXPECT_EQ(middleOf(product("row"), tensors), (Strings{"r: relu(conv)"}));
  EXPECT_NE(whyNot(product("table"), tensors).find("it has axes"), std::string::npos);
}

}  // namespace
}  // namespace tandem
