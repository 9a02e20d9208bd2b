#include "comm/all_reduce_by_size.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

/// A replica's handles of several groups. Each operation runs in the one that its size says, in which operations are in
/// the order in which they were started, as on all replicas.
class GroupBySize final : public Group {
 public:
  GroupBySize(std::vector<std::unique_ptr<Group>> groups, std::vector<int64_t> upTo)
      : groups_(std::move(groups)), upTo_(std::move(upTo)) {}

  Ticket start(at::Tensor tensor, Collective op) override {
    const auto bytes = static_cast<int64_t>(tensor.nbytes());
    const auto place = static_cast<size_t>(std::ranges::lower_bound(upTo_, bytes) - upTo_.begin());
    started_.push_back({place, groups_[place]->start(std::move(tensor), op)});
    return first_ + std::ssize(started_) - 1;
  }

  bool progress() override {
    bool finished = true;
    for (const auto& group : groups_) finished = group->progress() && finished;
    if (finished) first_ += std::ssize(std::exchange(started_, {}));
    return finished;
  }

  void wait(Ticket ticket) override {
    if (ticket < first_) return;
    check(ticket < first_ + std::ssize(started_), "a ticket that was started is waited for");
    const Operation& operation = started_[static_cast<size_t>(ticket - first_)];
    groups_[operation.place]->wait(operation.ticket);
  }

  at::Tensor memory(int64_t count, at::ScalarType type) override {
    for (const auto& group : groups_) {
      if (at::Tensor given = group->memory(count, type); given.defined()) return given;
    }
    return {};
  }

  std::string memoryText() const override {
    std::vector<std::string> texts;
    for (const auto& group : groups_) {
      if (const std::string text = group->memoryText(); !text.empty()) texts.push_back(text);
    }
    return join(texts, "; ");
  }

 private:
  struct Operation {
    size_t place;  // of its group
    Ticket ticket;
  };

  std::vector<std::unique_ptr<Group>> groups_;
  const std::vector<int64_t> upTo_;
  std::deque<Operation> started_;  // since all were finished the last time
  Ticket first_ = 0;               // of these
};

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
  return static_cast<size_t>(std::ranges::lower_bound(upTo_, bytes) - upTo_.begin());
}

const AllReduceEntry& AllReduceBySize::of(int64_t bytes) const { return *rows_[placeOf(bytes)]; }

bool AllReduceBySize::all(bool AllReduceEntry::*field) const {
  return std::ranges::all_of(rows_, [&](const AllReduceEntry* row) { return row->*field; });
}

bool AllReduceBySize::ownersUpdate() const {
  return std::ranges::any_of(rows_, [](const AllReduceEntry* row) { return row->ownersUpdate; });
}

std::vector<std::unique_ptr<Group>> AllReduceBySize::make(const GroupOptions& options) const {
  check(!rows_.empty(), "an all-reduce was chosen");
  if (rows_.size() == 1) return rows_.front()->make(options);
  std::vector<std::vector<std::unique_ptr<Group>>> ofReplica(options.devices.size());
  for (const AllReduceEntry* row : rows_) {
    auto groups = row->make(options);
    for (size_t i = 0; i < groups.size(); ++i) ofReplica[i].push_back(std::move(groups[i]));
  }
  std::vector<std::unique_ptr<Group>> joined;
  for (auto& groups : ofReplica) joined.push_back(std::make_unique<GroupBySize>(std::move(groups), upTo_));
  return joined;
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
