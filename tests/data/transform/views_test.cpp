#include "data/transform/views.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"

namespace tandem {
namespace {

TEST(Views, HaveWeightsOfOneAndTheImagesFirst) {
  for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor images = at::rand({2, 3, 5, 7}).contiguous(format);
    for (const ViewsEntry& row : evaluationViews()) {
      double sum = 0;
      const auto views = row.of(images);
      EXPECT_TRUE(views.front().images.is_same(images)) << row.name;
      for (const auto& [view, weight] : views) {
        EXPECT_EQ(view.sizes(), images.sizes()) << row.name;
        EXPECT_TRUE(view.is_contiguous(format)) << row.name;
        sum += weight;
      }
      EXPECT_EQ(sum, 1) << row.name;
    }
  }
}

TEST(Views, AreMirroredAndShifted) {
  const at::Tensor image = at::arange(12, at::kFloat).view({1, 1, 3, 4});
  const auto views = find(evaluationViews(), "mirror_shift", "views").of(image);
  ASSERT_EQ(views.size(), 6U);
  const auto pixels = [&](size_t view) {
    const at::Tensor flat = views[view].images.contiguous().flatten();
    return std::vector<float>(flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + 12);
  };
  using Pixels = std::vector<float>;
  EXPECT_EQ(pixels(1), (Pixels{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}));
  EXPECT_EQ(pixels(2), (Pixels{5, 4, 5, 6, 1, 0, 1, 2, 5, 4, 5, 6})) << "the first row and column are mirrored";
  EXPECT_EQ(pixels(3), (Pixels{6, 5, 4, 5, 2, 1, 0, 1, 6, 5, 4, 5}));
  EXPECT_EQ(pixels(4), (Pixels{5, 6, 7, 6, 9, 10, 11, 10, 5, 6, 7, 6}));
  EXPECT_EQ(views[0].weight, 0.25);
  EXPECT_EQ(views[5].weight, 0.125);
}

}  // namespace
}  // namespace tandem
