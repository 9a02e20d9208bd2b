#include "comm/joined_group.h"

#include <ATen/ATen.h>

#include <deque>
#include <utility>

#include "base/text.h"

namespace tandem {
namespace {

/// Tickets are those of the local group, which starts the same operations in the same order.
class JoinedGroup final : public Group {
 public:
  JoinedGroup(std::unique_ptr<RankGroup> between, std::unique_ptr<Group> local, int replica, int replicas,
              Monitor& monitor)
      : between_(std::move(between)),
        local_(std::move(local)),
        replica_(replica),
        replicas_(replicas),
        monitor_(monitor) {}

  Ticket start(at::Tensor tensor, Collective op) override {
    const bool ownPart = op == Collective::gather;
    const Ticket sent = between_->start(ownPart ? partOf(tensor, replicas_, replica_) : tensor, op);
    crossing_.push_back({sent, std::move(tensor), op});
    return handedOn_ + std::ssize(crossing_) - 1;
  }

  bool progress() override {
    while (!crossing_.empty() && between_->finished(crossing_.front().sent)) {
      local_->start(std::move(crossing_.front().tensor), crossing_.front().op);
      crossing_.pop_front();
      ++handedOn_;
    }
    return local_->progress() && crossing_.empty();
  }

  void wait(Ticket ticket) override {
    monitor_.waitUntil([&] { return progress() || handedOn_ > ticket; });
    local_->wait(ticket);
  }

 private:
  struct Operation {
    Ticket sent;
    at::Tensor tensor;
    Collective op;
  };

  std::unique_ptr<RankGroup> between_;
  std::unique_ptr<Group> local_;
  const int replica_, replicas_;
  Monitor& monitor_;
  std::deque<Operation> crossing_;  // in flight between ranks, in order
  Ticket handedOn_ = 0;             // how many operations the local group has started
};

}  // namespace

std::vector<std::unique_ptr<Group>> joinRanks(std::vector<std::unique_ptr<Group>> local, World* world,
                                              Monitor& monitor) {
  if (world == nullptr) return local;
  const auto replicas = static_cast<int>(local.size());
  std::vector<std::unique_ptr<Group>> joined;
  for (int i = 0; i < replicas; ++i) {
    auto between = world->group(concat("replica ", i), monitor);
    joined.push_back(std::make_unique<JoinedGroup>(std::move(between), std::move(local[static_cast<size_t>(i)]), i,
                                                   replicas, monitor));
  }
  return joined;
}

JoinedPlace joinedPlace(int replica, int replicas, const World* world) {
  if (world == nullptr) return {replicas, replica};
  const RankPlace& place = world->place();
  return {int64_t{replicas} * place.size, int64_t{replica} * place.size + place.rank};
}

}  // namespace tandem
