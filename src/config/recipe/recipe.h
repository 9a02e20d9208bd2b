#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {

/// A file of recipes/ that is compiled in.
struct RecipeFile {
  std::string_view name, text;
};

std::span<const RecipeFile> recipeFiles();

/// The options of a training that is known to work, by the names of the command line. They are the same options as
/// those typed: one that is typed takes the place of the recipe's.
struct Recipe {
  std::string name, summary;
  std::string source;  ///< where its values come from
  std::string needs;   ///< what the user must give besides
  std::vector<std::pair<std::string, std::string>> options;
};

/// All that are compiled in, by name.
std::vector<Recipe> recipes();

/// The recipe called so, or in the file of this path, NAME.json. Throws UsageError for an unknown name, DataError for a
/// file that is no recipe.
Recipe recipeCalled(const std::string& nameOrPath);

/// The arguments of a training with those of its --recipe in front, but for options that are typed. `typed`: the names
/// of these.
std::vector<std::string> withRecipe(const Recipe& recipe, std::span<const std::string> arguments,
                                    std::span<const std::string> typed);

}  // namespace tandem
