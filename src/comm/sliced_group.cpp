#include "comm/sliced_group.h"

#include <ATen/ATen.h>

#include <deque>
#include <utility>

#include "base/text.h"
#include "comm/local/thread_group.h"
#include "comm/world.h"

namespace tandem {
namespace {

/// A replica's handles of what a sum goes through, one after the other.
struct Stages {
  std::unique_ptr<ThreadGroup> scatter;  // sums: advanceHierarchicalScatter()
  std::unique_ptr<RankGroup> between;
  std::unique_ptr<ThreadGroup> gather;  // sums: advanceHierarchicalGather(); here all other operations end too
};

/// Operations enter each stage in the order in which they were started, which is equal on all replicas of all ranks.
/// Tickets are those of the last stage.
class SlicedGroup final : public Group {
 public:
  SlicedGroup(Stages stages, int replicas, Monitor& monitor)
      : stages_(std::move(stages)), replicas_(replicas), monitor_(monitor) {}

  Ticket start(at::Tensor tensor, Collective op) override {
    const Ticket scattered = op == Collective::sum ? stages_.scatter->start(tensor, op) : 0;
    inFlight_.push_back({std::move(tensor), op, scattered, 0});
    return handedOn_ + std::ssize(inFlight_) - 1;
  }

  bool progress() override {
    stages_.scatter->progress();
    for (; crossing_ < inFlight_.size() && isScattered(inFlight_[crossing_]); ++crossing_) cross(inFlight_[crossing_]);
    for (; crossing_ > 0 && stages_.between->finished(inFlight_.front().sent); --crossing_, ++handedOn_) {
      stages_.gather->start(std::move(inFlight_.front().tensor), inFlight_.front().op);
      inFlight_.pop_front();
    }
    return stages_.gather->progress() && inFlight_.empty();
  }

  void wait(Ticket ticket) override {
    monitor_.waitUntil([&] { return progress() || handedOn_ > ticket; });
    stages_.gather->wait(ticket);
  }

 private:
  struct Operation {
    at::Tensor tensor;
    Collective op;
    Ticket scattered, sent;  // of the stages; `sent`: the last of its slices
  };

  bool isScattered(const Operation& each) {
    return each.op != Collective::sum || stages_.scatter->finished(each.scattered);
  }

  void cross(Operation& each) {
    const int replica = stages_.gather->replica();
    if (each.op != Collective::sum) {
      const bool ownPart = each.op == Collective::gather;
      each.sent = stages_.between->start(ownPart ? partOf(each.tensor, replicas_, replica) : each.tensor, each.op);
      return;
    }
    for (at::Tensor& slice : hierarchicalSlices(stages_.gather->groups(), replica, each.tensor)) {
      each.sent = stages_.between->start(std::move(slice), each.op);
    }
  }

  Stages stages_;
  const int replicas_;
  Monitor& monitor_;
  std::deque<Operation> inFlight_;  // not yet in the last stage, in order
  size_t crossing_ = 0;             // how many of them, from the first on, are between ranks
  Ticket handedOn_ = 0;             // how many operations the last stage has started
};

}  // namespace

std::vector<std::unique_ptr<Group>> makeHierarchicalGroups(const GroupOptions& options) {
  std::vector<std::unique_ptr<Group>> made;
  if (options.world == nullptr) {
    for (auto& group : makeThreadGroups(options, advanceHierarchical)) made.push_back(std::move(group));
    return made;
  }
  auto scatter = makeThreadGroups(options, advanceHierarchicalScatter);
  auto gather = makeThreadGroups(options, advanceHierarchicalGather);
  const auto replicas = static_cast<int>(options.devices.size());
  for (size_t i = 0; i < scatter.size(); ++i) {
    Stages stages{std::move(scatter[i]), options.world->group(concat("slices of replica ", i), *options.monitor),
                  std::move(gather[i])};
    made.push_back(std::make_unique<SlicedGroup>(std::move(stages), replicas, *options.monitor));
  }
  return made;
}

}  // namespace tandem
