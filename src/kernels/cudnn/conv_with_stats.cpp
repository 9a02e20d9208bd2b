#include "kernels/cudnn/conv_with_stats.h"

#include <ATen/ATen.h>

#include <optional>

#include "base/text.h"
#include "kernels/cudnn/built_plan.h"

namespace tandem {
namespace {

void runApart(const StatsSubject& s) {
  NormActSaved saved;
  normAct(s.convolution->forward(s.tensors.x), s.residual, s.parameters, s.options, saved);
}

/// The rest of normAct() once the statistics are known.
void runRest(const StatsSubject& s) {
  NormActSaved saved;
  normActStatistics(s.tensors.y, s.tensors.sums, s.parameters, s.options, saved);
  normActAgain(s.tensors.y, s.residual, s.options, saved);
}

bool isRight(const StatsSubject& s, const at::Tensor& y) {
  const auto [variance, mean] = at::var_mean(y.to(at::kFloat), {0, 2, 3}, /*unbiased=*/false);
  const ChannelMoments found = momentsOf(s.tensors.sums, y.numel() / y.size(1));
  return isNear(s.tensors.y, y) && isNear(found.mean.to(at::kFloat), mean) &&
         isNear(found.variance.to(at::kFloat), variance);
}

}  // namespace

std::vector<TuningCandidate> statsCandidates(const StatsSubject& s, const std::shared_ptr<ExecutionPlans>& engines) {
  std::vector<TuningCandidate> candidates;
  candidates.push_back(
      {concat("apart, by ", atenName), [] { return std::optional<int64_t>(0); }, [=] { runApart(s); }});
  const std::vector<at::Tensor> tensors = inOrder(s.tensors);
  if (!areAligned(tensors)) return candidates;
  const auto expected = std::make_shared<at::Tensor>();
  const auto right = [=] {
    if (!expected->defined()) *expected = s.convolution->forward(s.tensors.x);
    return isRight(s, *expected);
  };
  addPlans(
      candidates, engines, [=]() -> std::span<const at::Tensor> { return tensors; }, right);
  for (size_t i = 1; i < candidates.size(); ++i) {
    candidates[i].run = [=, engine = candidates[i].run] {
      engine();
      runRest(s);
    };
  }
  return candidates;
}

}  // namespace tandem
