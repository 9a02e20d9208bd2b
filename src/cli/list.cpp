#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "models/model.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view dumpFlag = "--dump";

/// "25557032 parameters, 8.18 GFLOP forward at 224x224; " for a model; "[UNIT] " for a metric that has one; else empty.
std::string facts(const ordered_json& row) {
  if (row.contains("parameters")) {
    const auto size = row["image_size"].get<int64_t>();
    return concat(row["parameters"].get<int64_t>(), " parameters, ", fixed(row["forward_gflop"].get<double>(), 2),
                  " GFLOP forward at ", size, 'x', size, "; ");
  }
  const std::string unit = row.value("unit", "");
  return unit.empty() ? "" : concat('[', unit, "] ");
}

std::string sourceOf(const ordered_json& row) {
  return row.contains("source") ? concat(" (", row["source"].get_ref<const std::string&>(), ")") : "";
}

void print(const Catalog& catalog) {
  const auto rows = catalog.rows();
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row["name"].get_ref<const std::string&>().size());
  std::cout << catalog.name << ":\n";
  for (const auto& row : rows) {
    std::cout << "  " << std::left << std::setw(static_cast<int>(width + 2)) << row["name"].get<std::string>()
              << facts(row) << row["summary"].get<std::string>() << sourceOf(row) << '\n';
  }
}

/// The second is how bench and report name it.
bool asksForJson(const std::string& argument) { return argument == "--json" || argument == "--format=json"; }

std::vector<Catalog> chosen(Arguments arguments) {
  std::vector<Catalog> result;
  for (const auto& argument : arguments) {
    if (!asksForJson(argument)) result.push_back(find(catalogs(), argument, "list"));
  }
  if (result.empty()) result.assign(catalogs().begin(), catalogs().end());
  return result;
}

int dump(Arguments arguments) {
  if (arguments.size() != 3 || arguments[0] != "models" || arguments[1] != dumpFlag) {
    throw UsageError("tandem list: a network is printed by 'tandem list models --dump NAME'");
  }
  std::cout << modelText(arguments[2]);
  return 0;
}

}  // namespace

int listCommand(Arguments arguments) {
  if (std::ranges::find(arguments, dumpFlag) != arguments.end()) return dump(arguments);
  const auto wanted = chosen(arguments);
  if (std::ranges::none_of(arguments, asksForJson)) {
    for (const Catalog& catalog : wanted) print(catalog);
    return 0;
  }
  ordered_json object;
  for (const Catalog& catalog : wanted) object[std::string(catalog.name)] = catalog.rows();
  std::cout << object.dump(2) << '\n';
  return 0;
}

}  // namespace tandem
