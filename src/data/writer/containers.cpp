#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/writer/container.h"

namespace tandem {

std::span<const ContainerEntry> containers() {
  static const std::array table{packedContainer, webContainer,  tfContainer,  lmdbContainer,
                                folderContainer, xrayContainer, idxContainer, cifarContainer};
  return table;
}

bool ContainerEntry::holds(const LabelKind& kind) const { return std::ranges::find(labels, kind.name) != labels.end(); }

std::string containersThat(const std::function<bool(const ContainerEntry& container)>& fits) {
  std::vector<std::string> names;
  for (const ContainerEntry& container : containers()) {
    if (fits(container)) names.emplace_back(container.name);
  }
  return join(names, " or ");
}

std::string containerBreach(const ContainerEntry& container, std::span<const NewSplit> splits) {
  const DatasetInfo& info = splits.front().info;
  if (!container.holds(*info.labels)) {
    return concat("has no place for labels of ", info.labels->summary, "; use ",
                  containersThat([&](const ContainerEntry& other) { return other.holds(*info.labels); }));
  }
  const auto isKnown = [&](const std::string& name) {
    return std::ranges::find(container.classes, name) != container.classes.end();
  };
  if (!container.classes.empty() && (info.classNames.empty() || !std::ranges::all_of(info.classNames, isKnown))) {
    return concat("holds the classes ",
                  join(std::vector<std::string>(container.classes.begin(), container.classes.end())),
                  " alone, and the images have ", info.classNames.empty() ? "none with names" : join(info.classNames),
                  "; use ", containersThat([&](const ContainerEntry& other) {
                    return other.classes.empty() && other.holds(*info.labels);
                  }));
  }
  return container.breach == nullptr ? "" : container.breach(splits);
}

std::string digits(int64_t number, size_t width) {
  const std::string text = concat(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

std::vector<std::string> classNamesFor(const DatasetInfo& info, bool (*serve)(const std::vector<std::string>& names)) {
  constexpr size_t classDigits = 5;
  if (!info.classNames.empty() && serve(info.classNames)) return info.classNames;
  std::vector<std::string> names;
  for (int64_t i = 0; i < info.classes; ++i) names.push_back("class" + digits(i, classDigits));
  return names;
}

std::string ShardPlace::path(std::string_view ending) const {
  const size_t width = std::max<size_t>(5, concat(count).size());
  return concat(folder, '/', split().name, '-', digits(shard, width), "-of-", digits(count, width), ending);
}

}  // namespace tandem
