#include "train/replica_statistics.h"

#include <ATen/ATen.h>

#include "comm/joined_group.h"
#include "strategy/builtin_strategies.h"
#include "trace/span.h"

namespace tandem {
namespace {

/// Gathers the values of all replicas, which each adds up in their order: one message where a sum takes two, and the
/// same bits on all.
class GatheredStatistics final : public StatisticsExchange {
 public:
  GatheredStatistics(std::unique_ptr<Group> group, JoinedPlace place) : group_(std::move(group)), place_(place) {}

  void sum(at::Tensor values) override {
    const Span exchanging(SpanKind::exchange);
    const int64_t count = values.numel();
    const at::Tensor all = at::empty({place_.size * count}, values.options());
    partOf(all, place_.size, place_.index).copy_(values);
    group_->wait(group_->start(all, Collective::gather));
    at::sum_out(values, all.view({place_.size, count}), 0);
  }

 private:
  std::unique_ptr<Group> group_;
  const JoinedPlace place_;
};

}  // namespace

std::vector<std::unique_ptr<StatisticsExchange>> joinStatistics(const StrategyContext& context) {
  const auto replicas = static_cast<int>(context.devices.size());
  auto groups = joinedGroups(context);
  std::vector<std::unique_ptr<StatisticsExchange>> joined;
  for (int i = 0; i < replicas; ++i) {
    joined.push_back(std::make_unique<GatheredStatistics>(std::move(groups[static_cast<size_t>(i)]),
                                                          joinedPlace(i, replicas, context.world)));
  }
  return joined;
}

// Forward sends two moments a channel and the number of values, backward two sums a channel.
StrategyTraffic statisticsTraffic(const StrategyContext& context, std::span<const int64_t> channels, int64_t parts) {
  const auto gathered = allReplicas(context) * static_cast<int64_t>(sizeof(double));
  StrategyTraffic traffic;
  for (const int64_t count : channels) {
    for (const int64_t values : {2 * count + 1, 2 * count}) {
      traffic += joinedTraffic(context, Collective::gather, values * gathered);
    }
  }
  return traffic *= static_cast<double>(parts);
}

}  // namespace tandem
