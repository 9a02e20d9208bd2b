#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "run/plan/plan.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

TEST(PlanOfASplit, TakesTheImagesOfTheSplitThatIsAskedFor) {
  auto config = tinyConfig();
  std::filesystem::remove_all(tenImages());  // it has what an earlier run put there
  config.input.data = tenImages();
  config.input.dataSplit = "validation";
  EXPECT_THROW(resolvePlan(config), DataError);
  writeIdxImages(config.input.data, 4, 0, "t10k");
  const RunPlan plan = resolvePlan(config);
  EXPECT_EQ(plan.data->images, 4);
  EXPECT_EQ(plan.config.network.classes, 10) << "of the training images";
  EXPECT_NE(planText(plan).find("test images of " + config.input.data), std::string::npos) << planText(plan);
  EXPECT_EQ(standInNote(plan),
            concat("--data=", config.input.data, ": it has no validation images; these are its test images"));
  config.input.dataSplit = Config::automatic;
  EXPECT_EQ(resolvePlan(config).data->images, 10);
  EXPECT_EQ(standInNote(resolvePlan(config)), "");
  config.input.dataSplit = "val";
  EXPECT_NE(textOfFailure<UsageError>([&] { resolvePlan(config); }).find("unknown --data-split 'val'"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
