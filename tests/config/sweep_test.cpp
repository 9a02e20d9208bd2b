#include <gtest/gtest.h>

#include <array>

#include "config/command_line.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

Sweep parse(const Texts& arguments) { return parseArguments("bench", arguments, exampleCatalogs()); }

TEST(Sweep, FirstAxisTypedVariesSlowest) {
  const auto points =
      expand(parse({"--strategy=replicated,independent", "--seed=5", "--replicas=1,2,4"}), exampleCatalogs());
  Texts seen;
  for (const Config& point : points) {
    EXPECT_EQ(point.step.seed, 5);
    seen.push_back(concat(point.exchange.strategy, point.placement.replicas));
  }
  EXPECT_EQ(seen, (Texts{"replicated1", "replicated2", "replicated4", "independent1", "independent2", "independent4"}));
}

TEST(Sweep, WithoutAxesIsOnePoint) {
  const auto points = expand(parse({"--batch=4"}), exampleCatalogs());
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].step.batch, 4);
}

TEST(Sweep, HasOnlyThePointsThatAreMeant) {
  Sweep sweep = parse({"--seed=1,2", "--replicas=1,2"});
  sweep.keeps = [](const Config& point) { return point.step.seed == 1 || point.placement.replicas == 2; };
  Texts seen;
  for (const Config& point : expand(sweep, exampleCatalogs()))
    seen.push_back(concat(point.step.seed, ' ', point.placement.replicas));
  EXPECT_EQ(seen, (Texts{"1 1", "1 2", "2 2"}));
}

TEST(Sweep, BadCombinationsStayPoints) {
  const auto points = expand(parse({"--momentum=0.9,0", "--nesterov"}), exampleCatalogs());
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NO_THROW(checkCombination(points[0]));
  EXPECT_THROW(checkCombination(points[1]), UsageError);
}

TEST(Sweep, HasALargestSize) {
  const Sweep sweep = parse({"--seed=1-1000+1", "--batch=1-100+1"});
  EXPECT_THROW(expand(sweep, exampleCatalogs()), UsageError);
}

TEST(CommandLine, NamesOnlyWhatDiffers) {
  EXPECT_EQ(commandLine("bench", Config()), "tandem bench");
  Config config;
  config.placement.replicas = 2;
  config.step.nesterov = true;
  config.input.data = "my images/it's";
  EXPECT_EQ(commandLine("bench", config), "tandem bench --replicas=2 --data='my images/it'\\''s' --nesterov");
}

TEST(CommandLine, OfSeveralHasAllTheirValues) {
  Config one, other;
  one.placement.replicas = 2, other.placement.replicas = 4;
  one.step.nesterov = true, one.step.batch = other.step.batch = 16;
  EXPECT_EQ(commandLine("bench", std::array<const Config*, 2>{&one, &other}),
            "tandem bench --replicas=2,4 --batch=16 --nesterov=true,false");
  one.output.out = "a.jsonl", other.output.out = "b.jsonl", other.step.nesterov = true;
  EXPECT_EQ(commandLine("bench", std::array<const Config*, 2>{&one, &other}),
            "tandem bench --replicas=2,4 --batch=16 --nesterov")
      << "a sweep has one results file";
}

TEST(CommandLine, RepeatsEveryOption) {
  for (const Option& option : optionsOf(onBench)) {
    Config config;
    setValue(config, option, otherValue(option), exampleCatalogs());
    const Texts words = split(commandLine("bench", config), " ");
    EXPECT_EQ(parse({words.begin() + 2, words.end()}).base, config) << option.name;
  }
}

}  // namespace
}  // namespace tandem
