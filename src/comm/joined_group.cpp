#include "comm/joined_group.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"
#include "comm/group_by_size.h"

namespace tandem {
namespace {

/// Tickets are those of the last group, which starts the same operations in the same order.
class JoinedGroup final : public Group {
 public:
  JoinedGroup(JoinedParts parts, Monitor& monitor) : parts_(std::move(parts)), monitor_(monitor) {
    check(parts_.first.size() == parts_.upTo.size() + 1, "there is a size between each two all-reduces");
  }

  Ticket start(at::Tensor tensor, Collective op) override {
    Operation operation{std::move(tensor), op};
    if (op == Collective::sum) operation.first = firstOf(operation.tensor);
    if (operation.first != nullptr) operation.summed = operation.first->group->start(operation.tensor, op);
    inFlight_.push_back(std::move(operation));
    advance();
    return handedOn_ + std::ssize(inFlight_) - 1;
  }

  bool progress() override {
    advance();
    return parts_.last->progress() && inFlight_.empty();
  }

  void wait(Ticket ticket) override {
    monitor_.waitUntil([&] { return progress() || handedOn_ > ticket; });
    parts_.last->wait(ticket);
  }

 private:
  struct Operation {
    at::Tensor tensor;
    Collective op;
    const FirstSum* first = nullptr;  // null: it goes between ranks at once
    Ticket summed = 0, sent = 0;      // its ticket in `first`; the last of those between ranks
  };

  const FirstSum* firstOf(const at::Tensor& tensor) const {
    const auto bytes = static_cast<int64_t>(tensor.nbytes());
    const FirstSum& first = parts_.first[placeOfSize(parts_.upTo, bytes)];
    return first.group ? &first : nullptr;
  }

  /// Takes operations from stage to stage, as far as that needs no waiting.
  void advance() {
    for (; crossing_ < inFlight_.size() && mayCross(inFlight_[crossing_]); ++crossing_) cross(inFlight_[crossing_]);
    for (; crossing_ > 0 && parts_.between->finished(inFlight_.front().sent); --crossing_, ++handedOn_) {
      parts_.last->start(std::move(inFlight_.front().tensor), inFlight_.front().op);
      inFlight_.pop_front();
    }
  }

  static bool mayCross(const Operation& each) {
    return each.first == nullptr || each.first->group->finished(each.summed);
  }

  void cross(Operation& each) {
    if (each.first != nullptr) {
      const ReplicaGroups& groups = each.first->group->groups();
      for (at::Tensor& slice : each.first->halves->slices(groups, parts_.replica, each.tensor)) {
        each.sent = parts_.between->start(std::move(slice), each.op);
      }
      return;
    }
    const bool ownPart = each.op == Collective::gather;
    each.sent =
        parts_.between->start(ownPart ? partOf(each.tensor, parts_.replicas, parts_.replica) : each.tensor, each.op);
  }

  JoinedParts parts_;
  Monitor& monitor_;
  std::deque<Operation> inFlight_;  // not yet in the last group, in order
  size_t crossing_ = 0;             // how many of them, from the first on, are between ranks
  Ticket handedOn_ = 0;             // how many operations the last group has started
};

}  // namespace

std::unique_ptr<Group> joinRanks(JoinedParts parts, Monitor& monitor) {
  return std::make_unique<JoinedGroup>(std::move(parts), monitor);
}

JoinedPlace joinedPlace(int replica, int replicas, const World* world) {
  if (world == nullptr) return {replicas, replica};
  const RankPlace& place = world->place();
  return {int64_t{replicas} * place.size, int64_t{replica} * place.size + place.rank};
}

}  // namespace tandem
