#include "kernels/cudnn/batch_norm.h"

#include <ATen/ATen.h>

#include <array>
#include <optional>

#include "base/text.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

at::Tensor perChannel(const at::Tensor& x) { return at::empty({x.size(1)}, x.options().dtype(at::kFloat)); }

bool areLike(const at::Tensor& x, const at::Tensor& other) {
  return other.sizes() == x.sizes() && other.scalar_type() == x.scalar_type() && other.is_contiguous(channelsLast);
}

TuningCandidate byKernels(std::function<void()> run) {
  return {std::string(ownKernels), [] { return std::optional<int64_t>(0); }, std::move(run)};
}

NormParameters withOwnStatistics(const NormParameters& p) {
  return {p.scale, p.shift, p.runningMean.clone(), p.runningVar.clone()};
}

}  // namespace

std::string NormProblem::text() const {
  constexpr std::array<std::string_view, 3> typeNames{"fp32", "bf16", "fp16"};
  return concat("batch-norm", residual ? " + add" : "", " + relu, ", backward ? "backward" : "forward", ", ", images,
                " x ", channels, 'x', height, 'x', width, " epsilon ", epsilon, " momentum ", momentum, " nhwc ",
                typeNames.at(static_cast<size_t>(type)));
}

NormProblem normProblemOf(bool backward, const at::Tensor& x, bool hasResidual, const NormActOptions& options) {
  return {.backward = backward,
          .type = elementOf(x, "normAct"),
          .images = x.size(0),
          .channels = x.size(1),
          .height = x.size(2),
          .width = x.size(3),
          .residual = hasResidual,
          .epsilon = options.epsilon,
          .momentum = options.momentum};
}

NormCall normForwardCall(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& y, NormActSaved& saved) {
  const NormParameters& p = saved.parameters;
  saved.x = x;
  saved.mean = perChannel(x), saved.inverseDeviation = perChannel(x);
  saved.mask = at::empty({(x.numel() + 7) / 8}, x.options().dtype(at::kByte));
  const at::Tensor mean = perChannel(x), variance = perChannel(x);
  return {{x, p.scale, p.shift, p.runningMean, p.runningVar, residual, y, saved.mean, saved.inverseDeviation, mean,
           variance, saved.mask},
          mean,
          variance};
}

NormCall normBackwardCall(const at::Tensor& dy, const NormActSaved& saved, bool hasResidual, NormActGradients& result) {
  result.x = at::empty_like(saved.x);
  result.scale = perChannel(saved.x), result.shift = perChannel(saved.x);
  if (hasResidual) result.residual = at::empty_like(saved.x);
  return {{dy, saved.mask, saved.x, saved.parameters.scale, saved.mean, saved.inverseDeviation, result.x, result.scale,
           result.shift, result.residual},
          {},
          {}};
}

// Both plans of a shape are built together: forward leaves a mask that only a plan of backward understands.
const CudnnBatchNorm::Pair& CudnnBatchNorm::pairFor(NormProblem problem) {
  auto [place, isNew] = made_.try_emplace(
      {problem.images, problem.channels, problem.height, problem.width, static_cast<int64_t>(problem.residual)});
  if (isNew) {
    const auto ready = [&](const std::string& name) {
      return buildPlan(enginesOf_(problem), name, problem.text(), std::string(ownKernels));
    };
    place->second.first = ready(chosen_.forward);
    problem.backward = true;
    place->second.second = ready(chosen_.backward);
  }
  return place->second;
}

// Every condition under which a plan computes something else than normAct(): then the kernels run.
bool CudnnBatchNorm::serves(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                            const NormActOptions& options) {
  if (x.dim() != 4 || x.size(0) != chosen_.images || options.activation != Activation::relu || !options.training)
    return false;
  if (options.exchange != nullptr) return false;
  if (!isElement(x.scalar_type()) || !x.is_contiguous(channelsLast)) return false;
  if (residual.defined() && !areLike(x, residual)) return false;
  const NormParameters& p = parameters;
  const std::array tensors{x, residual, p.scale, p.shift, p.runningMean, p.runningVar};
  if (!areAligned(tensors)) return false;
  const Pair& pair = pairFor(normProblemOf(false, x, residual.defined(), options));
  return pair.first.engines && pair.second.engines;
}

at::Tensor CudnnBatchNorm::forward(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                                   const NormActOptions& options, NormActSaved& saved) {
  saved = {};
  saved.parameters = parameters;
  at::Tensor y = at::empty_like(x);
  const NormCall call = normForwardCall(x, residual, y, saved);
  pairFor(normProblemOf(false, x, residual.defined(), options)).first.run(call.tensors);
  parameters.runningMean.copy_(call.runningMean);
  parameters.runningVar.copy_(call.runningVar);
  return y;
}

NormActGradients CudnnBatchNorm::backward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                          bool hasResidual, const NormActOptions& options) {
  // A plan reads aligned memory only, but a gradient may be a view that begins anywhere.
  at::Tensor dy = addGradients(std::move(outputGradients)).contiguous(channelsLast);
  if (!areAligned({&dy, 1})) dy = dy.clone();
  NormActGradients result;
  const NormCall call = normBackwardCall(dy, saved, hasResidual, result);
  pairFor(normProblemOf(false, saved.x, hasResidual, options)).second.run(call.tensors);
  return result;
}

std::vector<TuningCandidate> normForwardCandidates(const NormSubject& s, std::shared_ptr<ExecutionPlans> engines) {
  struct Trial {
    NormActSaved saved;
    at::Tensor y;
    NormCall call;
  };
  const auto trial = std::make_shared<Trial>();
  const NormParameters ownParameters = withOwnStatistics(s.parameters);
  std::vector<TuningCandidate> candidates{byKernels([=] {
    NormActSaved saved;
    normAct(s.x, s.residual, ownParameters, s.options, saved);
  })};
  const auto tensors = [=]() -> std::span<const at::Tensor> {
    if (!trial->y.defined()) {
      trial->y = at::empty_like(s.x);
      trial->saved.parameters = s.parameters;
      trial->call = normForwardCall(s.x, s.residual, trial->y, trial->saved);
    }
    return trial->call.tensors;
  };
  const auto isRight = [=] {
    const NormParameters right = withOwnStatistics(s.parameters);
    NormActSaved saved;
    const at::Tensor y = normAct(s.x, s.residual, right, s.options, saved);
    return isNear(trial->y, y) && isNear(trial->saved.mean, saved.mean) &&
           isNear(trial->saved.inverseDeviation, saved.inverseDeviation) &&
           isNear(trial->call.runningMean, right.runningMean) && isNear(trial->call.runningVar, right.runningVar);
  };
  addPlans(candidates, engines, tensors, isRight);
  return candidates;
}

std::vector<TuningCandidate> normBackwardCandidates(const NormSubject& s, const RunForward& forward,
                                                    std::shared_ptr<ExecutionPlans> engines) {
  struct Trial {
    NormActSaved byKernels, byEngines;
    NormActGradients gradients;
    NormCall call;
    bool made = false;
  };
  const bool hasResidual = s.residual.defined();
  const auto made = [=, trial = std::make_shared<Trial>()] {
    if (!trial->made) {
      normAct(s.x, s.residual, withOwnStatistics(s.parameters), s.options, trial->byKernels);
      trial->byEngines.parameters = s.parameters;
      forward(normForwardCall(s.x, s.residual, at::empty_like(s.x), trial->byEngines).tensors);
      trial->call = normBackwardCall({}, trial->byEngines, hasResidual, trial->gradients);
      trial->made = true;
    }
    return trial;
  };
  const auto kernels = [=] { return normActBackward(s.outputGradients, made()->byKernels, hasResidual, s.options); };
  std::vector<TuningCandidate> candidates{byKernels([=] { kernels(); })};
  const auto tensors = [=]() -> std::span<const at::Tensor> {
    std::vector<at::Tensor>& all = made()->call.tensors;
    all.front() = addGradients(s.outputGradients);  // in each run, as CudnnBatchNorm::backward() does
    return all;
  };
  const auto isRight = [=] {
    const NormActGradients right = kernels(), &found = made()->gradients;
    return isNear(found.x, right.x) && isNear(found.scale, right.scale) && isNear(found.shift, right.shift) &&
           (!hasResidual || isNear(found.residual, right.residual));
  };
  addPlans(candidates, engines, tensors, isRight);
  return candidates;
}

}  // namespace tandem
