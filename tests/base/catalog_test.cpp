#include "base/catalog.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

struct Row {
  std::string_view name;
  int value;
};

constexpr Row rows[] = {{"resnet50", 1}, {"vgg16", 2}};

std::string failureOf(std::string_view name) {
  try {
    find<Row>(rows, name, "model");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "found";
}

TEST(Catalog, FindsByName) { EXPECT_EQ(find<Row>(rows, "vgg16", "model").value, 2); }

TEST(Catalog, UnknownNameListsTheValidAndSuggestsTheNearest) {
  EXPECT_EQ(failureOf("resnet5"), "unknown model 'resnet5'; did you mean 'resnet50'? valid: resnet50, vgg16");
  EXPECT_EQ(failureOf("transformer"), "unknown model 'transformer'; valid: resnet50, vgg16");
}

}  // namespace
}  // namespace tandem
