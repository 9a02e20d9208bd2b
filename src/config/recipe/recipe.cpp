#include "config/recipe/recipe.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view ending = ".json";
constexpr std::streamsize longest = 1 << 20;

std::string valueOf(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  throw DataError("must be a text, a number, true or false");
}

Recipe recipeFrom(const std::string& name, std::string_view text) {
  try {
    const auto object = ordered_json::parse(text);
    Recipe recipe{.name = name,
                  .summary = object.at("summary"),
                  .source = object.value("source", ""),
                  .needs = object.value("needs", ""),
                  .options = {}};
    for (const auto& [option, value] : object.at("options").items())
      recipe.options.emplace_back(option, valueOf(value));
    return recipe;
  } catch (const std::exception& failure) {
    throw DataError(concat("recipe ", name, ": ", failure.what(),
                           "; it is an object with summary and options, as 'tandem list recipes --json' shows them"));
  }
}

std::string textOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<size_t>(longest), '\0');
  file.read(text.data(), longest);
  if (file.gcount() == 0) throw DataError(concat("--recipe=", path, ": cannot be read, or is empty"));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

std::vector<Recipe> recipes() {
  std::vector<Recipe> all;
  for (const RecipeFile& file : recipeFiles()) {
    all.push_back(recipeFrom(std::string(file.name.substr(0, file.name.size() - ending.size())), file.text));
  }
  std::ranges::sort(all, {}, &Recipe::name);
  return all;
}

Recipe recipeCalled(const std::string& nameOrPath) {
  if (nameOrPath.ends_with(ending)) return recipeFrom(nameOrPath, textOfFile(nameOrPath));
  std::vector<std::string> names;
  for (Recipe& recipe : recipes()) {
    if (recipe.name == nameOrPath) return std::move(recipe);
    names.push_back(recipe.name);
  }
  throw UsageError(concat(unknownName("recipe", nameOrPath, names), "; a path ends in ", ending));
}

std::vector<std::string> withRecipe(const Recipe& recipe, std::span<const std::string> arguments,
                                    std::span<const std::string> typed) {
  std::vector<std::string> all;
  for (const auto& [option, value] : recipe.options) {
    if (std::ranges::find(typed, option) == typed.end()) all.push_back(concat("--", option, '=', value));
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace tandem
