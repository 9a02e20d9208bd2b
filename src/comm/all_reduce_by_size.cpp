#include "comm/all_reduce_by_size.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "comm/group_by_size.h"
#include "comm/joined_group.h"

namespace tandem {
namespace {

/// Of one row: the handles of each replica within this process, and how their sums begin if there are other ranks.
struct RowParts {
  std::vector<std::unique_ptr<Group>> last;
  std::vector<FirstSum> first;
};

RowParts partsOf(const AllReduceEntry& row, const GroupOptions& options) {
  RowParts parts;
  const bool sliced = options.world != nullptr && row.halves != nullptr;
  for (auto& group : makeThreadGroups(options, sliced ? row.halves->gather : row.sum)) {
    parts.last.push_back(std::move(group));
  }
  parts.first.resize(parts.last.size());
  if (!sliced) return parts;
  auto scatter = makeThreadGroups(options, row.halves->scatter);
  for (size_t i = 0; i < scatter.size(); ++i) parts.first[i] = {std::move(scatter[i]), row.halves};
  return parts;
}

/// The handle across ranks of a replica with this handle within the process.
std::unique_ptr<Group> joined(JoinedParts parts, std::unique_ptr<Group> last, const GroupOptions& options) {
  parts.between = options.world->group(concat("replica ", parts.replica), *options.monitor);
  parts.last = std::move(last);
  parts.replicas = static_cast<int>(options.devices.size());
  return joinRanks(std::move(parts), *options.monitor);
}

}  // namespace

AllReduceBySize::AllReduceBySize(const AllReduceEntry* row) {
  if (row != nullptr) rows_.push_back(row);
}

AllReduceBySize::AllReduceBySize(Rows rows, std::vector<int64_t> upTo)
    : rows_(std::move(rows)), upTo_(std::move(upTo)) {
  check(rows_.size() == upTo_.size() + 1, "there is a size between each two all-reduces");
  check(std::ranges::is_sorted(upTo_, std::less_equal<>()), "sizes of all-reduces grow");
}

size_t AllReduceBySize::placeOf(int64_t bytes) const {
  check(!rows_.empty(), "an all-reduce was chosen");
  return placeOfSize(upTo_, bytes);
}

const AllReduceEntry& AllReduceBySize::of(int64_t bytes) const { return *rows_[placeOf(bytes)]; }

bool AllReduceBySize::all(bool AllReduceEntry::*field) const {
  return std::ranges::all_of(rows_, [&](const AllReduceEntry* row) { return row->*field; });
}

bool AllReduceBySize::ownersUpdate() const {
  return std::ranges::any_of(rows_, [](const AllReduceEntry* row) { return row->ownersUpdate; });
}

// All rows of a run with several ranks share one group between them, so that operations have one order there.
std::vector<std::unique_ptr<Group>> AllReduceBySize::make(const GroupOptions& options) const {
  check(!rows_.empty(), "an all-reduce was chosen");
  const auto spanning = std::ranges::count_if(rows_, [](const AllReduceEntry* row) { return row->spansRanks(); });
  check(options.world == nullptr || spanning == 0 || spanning == std::ssize(rows_), "all or none of them span ranks");
  const size_t replicas = options.devices.size();
  std::vector<std::vector<std::unique_ptr<Group>>> last(replicas);
  std::vector<JoinedParts> parts(replicas);
  for (const AllReduceEntry* row : rows_) {
    RowParts ofRow = row->spansRanks() ? RowParts{row->makeSpanning(options), {}} : partsOf(*row, options);
    for (size_t i = 0; i < replicas; ++i) last[i].push_back(std::move(ofRow.last[i]));
    for (size_t i = 0; i < ofRow.first.size(); ++i) parts[i].first.push_back(std::move(ofRow.first[i]));
  }
  std::vector<std::unique_ptr<Group>> made;
  for (size_t i = 0; i < replicas; ++i) {
    made.push_back(groupBySize(std::move(last[i]), upTo_));
    if (options.world == nullptr || spanning > 0) continue;
    parts[i].upTo = upTo_, parts[i].replica = static_cast<int>(i);
    made[i] = joined(std::move(parts[i]), std::move(made[i]), options);
  }
  return made;
}

std::string AllReduceBySize::optionValue() const {
  std::string value;
  for (size_t i = 0; i < rows_.size(); ++i)
    value += concat(i == 0 ? "" : concat(':', upTo_[i - 1], ':'), rows_[i]->name);
  return value;
}

std::string AllReduceBySize::text() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const bool last = i + 1 == rows_.size();
    const std::string range = last ? " above" : concat(" up to ", bytesText(static_cast<double>(upTo_[i])));
    parts.push_back(concat(rows_[i]->name, rows_.size() == 1 ? "" : range));
  }
  return join(parts);
}

std::string AllReduceBySize::textFor(std::span<const int64_t> bytes) const {
  if (rows_.size() < 2) return text();
  std::vector<int64_t> counts(rows_.size(), 0);
  for (const int64_t size : bytes) ++counts[placeOf(size)];
  std::vector<std::string> parts;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const bool last = i + 1 == rows_.size();
    parts.push_back(concat(rows_[i]->name, " for ", counts[i],
                           last ? " larger" : concat(" of up to ", bytesText(static_cast<double>(upTo_[i])))));
  }
  return join(parts);
}

}  // namespace tandem
