#include <gtest/gtest.h>

#include <regex>

#include "config/command_line.h"
#include "config/commands.h"
#include "example_catalogs.h"
#include "support/contains.h"

namespace tandem {
namespace {

TEST(Help, NamesEveryOptionGroupAndValue) {
  for (const CommandEntry& command : commandsWithOptions()) {
    const std::string help = helpText(command.name, exampleCatalogs());
    for (const Option& option : options()) {
      const bool isTaken = (option.commands & command.bit) != 0;
      EXPECT_EQ(contains(help, concat("\n  --", option.name, option.placeholder.empty() ? " " : "=")), isTaken)
          << command.name << " " << option.name;
    }
  }
  const std::string help = helpText("bench", exampleCatalogs());
  const std::string flat = std::regex_replace(help, std::regex("\\s+"), " ");
  for (const Option& option : optionsOf(onBench)) {
    EXPECT_TRUE(contains(help, concat("\n  --", option.name))) << option.name;
    EXPECT_TRUE(contains(help, concat("\n", option.group, ":\n"))) << option.group;
  }
  EXPECT_TRUE(contains(flat, "NAME.json or NAME.onnx: the names of 'tandem list models' (default resnet50)"))
      << "not sixty names";
  EXPECT_TRUE(contains(flat, "auto, device, host, queue, python-queue, python-dataset, zmq-consume (default auto)"));
  EXPECT_TRUE(contains(help, "(images, default the model's own)"));
  EXPECT_TRUE(contains(flat, "--num-gpus (--replicas)"));
  EXPECT_TRUE(contains(help, "\n  130 interrupted"));
}

TEST(Help, ExamplesComeFirstThenTheMostUsedOptions) {
  for (const CommandEntry& command : commandsWithOptions()) {
    const std::string help = helpText(command.name, exampleCatalogs());
    const size_t examples = help.find("\nExamples:\n"), used = help.find("\nMost used:\n"),
                 names = help.find("\nNames:");
    EXPECT_LT(examples, used) << command.name;
    EXPECT_LT(used, names) << command.name;
    size_t first = 0;
    for (const Option& option : optionsOf(command.bit)) {
      const std::string row = concat("\n  --", option.name, option.placeholder.empty() ? " " : "=");
      const bool isFirst = (option.mostUsedOn & command.bit) != 0;
      first += isFirst ? 1 : 0;
      EXPECT_EQ(help.find(row) < names, isFirst) << command.name << ' ' << option.name;
      EXPECT_EQ(help.find(row), help.rfind(row)) << command.name << ' ' << option.name << " stands once";
    }
    EXPECT_GE(first, 4u) << command.name;
    EXPECT_LE(first, 9u) << command.name;
  }
  for (const Option& option : options()) EXPECT_EQ(option.mostUsedOn & ~option.commands, 0u) << option.name;
}

TEST(Help, FitsTheTerminal) {
  for (const CommandEntry& command : commandsWithOptions()) {
    for (const std::string& line : split(helpText(command.name, exampleCatalogs()), "\n")) {
      EXPECT_LE(line.size(), 120u) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << "'" << line << "'";
    }
  }
}

TEST(Help, ExamplesAreValid) {
  for (const CommandEntry& command : commandsWithOptions()) {
    EXPECT_GE(command.examples.size(), 3u);
    for (const std::string_view example : command.examples) {
      const auto words = split(example, " ");
      const std::vector<std::string> arguments(words.begin() + 2, words.end());
      EXPECT_EQ(words[0] + words[1], concat("tandem", command.name));
      const Sweep sweep = parseArguments(command.name, arguments, exampleCatalogs());
      for (const Config& point : expand(sweep, exampleCatalogs())) {
        EXPECT_NO_THROW(checkCombination(point)) << example;
      }
    }
  }
}

TEST(OptionsMarkdown, HoldsEveryOptionAndAlias) {
  const std::string text = optionsMarkdown(exampleCatalogs());
  for (const Option& option : options()) {
    EXPECT_EQ(contains(text, concat("| `--", option.name, "` |")), option.commands != inRecordsAlone) << option.name;
  }
  for (const Alias& alias : aliases()) {
    const std::string typed = concat("--", alias.name, alias.value.empty() ? "" : "=", alias.value);
    EXPECT_TRUE(contains(text, concat("| `", typed, "` |"))) << typed;
  }
  EXPECT_TRUE(contains(text, "| `--strategy=byteps` | refused: is not built: use"));
  EXPECT_TRUE(contains(text, "| `--fake-location=gpu` | `--input=device` |"));
  EXPECT_TRUE(contains(text, "| `--gpu` | `--devices=cuda:0+1` |"));
  EXPECT_TRUE(contains(text, "| `--model=alexnet` | `--model=alexnet_cifar` beside `--data-name=cifar10` |"));
  EXPECT_TRUE(contains(text, "| `--allow-growth=true` | passed over: memory of a GPU is taken as it is needed |"));
  EXPECT_TRUE(contains(text, "`N\\|auto`"));
}

TEST(OptionsMarkdown, TablesHaveEqualColumns) {
  size_t columns = 0;
  for (const std::string& line : split(optionsMarkdown(exampleCatalogs()), "\n")) {
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
}

}  // namespace
}  // namespace tandem
