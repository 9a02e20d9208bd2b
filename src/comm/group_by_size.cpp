#include "comm/group_by_size.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <deque>
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
    const auto place = placeOfSize(upTo_, bytes);
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

std::unique_ptr<Group> groupBySize(std::vector<std::unique_ptr<Group>> groups, std::vector<int64_t> upTo) {
  check(groups.size() == upTo.size() + 1, "there is a size between each two groups");
  if (groups.size() == 1) return std::move(groups.front());
  return std::make_unique<GroupBySize>(std::move(groups), std::move(upTo));
}

}  // namespace tandem
