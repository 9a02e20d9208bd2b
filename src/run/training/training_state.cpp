#include "run/training/training_state.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/long_texts.h"
#include "formats/weights/safetensors.h"
#include "train/checkpoint/torch_tensors.h"

namespace tandem {
namespace {

at::Tensor onHost(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  return host.is_same(tensor) ? host.clone() : host;
}

StateTensors onHost(StateTensors tensors) {
  for (auto& [name, tensor] : tensors) tensor = onHost(tensor);
  return tensors;
}

/// The tensor called so, in the shape of `like`.
at::Tensor tensorFor(const StateTensors& tensors, const std::string& name, const at::Tensor& like) {
  const auto found = std::ranges::find(tensors, name, &StateTensors::value_type::first);
  if (found == tensors.end()) throw CheckpointError(concat("tensor '", name, "' is missing"));
  if (found->second.numel() == like.numel()) return found->second.view(like.sizes());
  throw CheckpointError(
      concat("tensor '", name, "' has ", found->second.numel(), " values, and must have ", like.numel()));
}

}  // namespace

std::string packed(const StateTensors& tensors) {
  std::vector<FileTensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(fileTensorOf(name, tensor));
  all = inSafetensorsOrder(std::move(all));
  std::string bytes = safetensorsHeader(all, {});
  for (const FileTensor& tensor : all) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return bytes;
}

StateTensors unpacked(std::span<const uint8_t> bytes, const std::string& what) {
  auto parsed = parseSafetensors(bytes);
  if (!parsed.ok()) throw CheckpointError(concat(what, ": byte ", parsed.error().offset, ": ", parsed.error().text));
  StateTensors tensors;
  for (const FileTensor& tensor : parsed.value().tensors) {
    const auto type = scalarTypeOf(*tensor.type);
    if (!type) throw CheckpointError(concat(what, ": tensor '", tensor.name, "' has type ", tensor.type->name));
    at::Tensor values = at::empty(tensor.shape, at::TensorOptions().dtype(*type));
    std::ranges::copy(tensor.bytes, static_cast<uint8_t*>(values.mutable_data_ptr()));
    tensors.emplace_back(tensor.name, std::move(values));
  }
  return tensors;
}

void StateExchange::takeShared(ReplicaSet::Member& member) {
  FlatBuffers& buffers = member.buffers();
  taken_.parameters.clear();
  taken_.optimizer.assign(static_cast<size_t>(buffers.states()), {});
  for (const Parameter& parameter : graph_.parameters()) {
    const int index = buffers.indexOf(parameter.name);
    taken_.parameters.emplace_back(parameter.name, onHost(buffers.masterView(index).reshape(parameter.shape)));
    for (int which = 0; which < buffers.states(); ++which) {
      const at::Tensor state = onHost(buffers.stateView(which, index).reshape(parameter.shape));
      taken_.optimizer[static_cast<size_t>(which)].emplace_back(parameter.name, state);
    }
  }
}

void StateExchange::gatherOwn() {
  taken_.replicas = own_;
  if (world_ == nullptr) return;
  StateTensors here;
  for (size_t i = 0; i < own_.size(); ++i) {
    for (const auto& [name, tensor] : own_[i]) here.emplace_back(concat(i, '.', name), tensor);
  }
  const auto said = longTextsToFirst(*world_, packed(here));
  taken_.replicas.clear();
  for (size_t rank = 0; rank < said.size(); ++rank) {
    const auto tensors = unpacked(asBytes(said[rank]), concat("rank ", rank));
    const size_t first = taken_.replicas.size();
    taken_.replicas.resize(first + own_.size());
    for (const auto& [name, tensor] : tensors) {
      const size_t dot = name.find('.');
      taken_.replicas.at(first + static_cast<size_t>(numberIn<int64_t>(name.substr(0, dot)).value()))
          .emplace_back(name.substr(dot + 1), tensor);
    }
  }
}

void StateExchange::take(ReplicaSet::Member& member, int64_t step) {
  const at::NoGradGuard noGradients;
  own_[static_cast<size_t>(member.index())] = onHost(member.ownState());
  member.barrier();
  member.gatherState();
  if (member.index() == 0) {
    taken_.step = step;
    gatherOwn();
    if (isFirst(world_)) takeShared(member);
  }
  member.barrier();
}

void StateExchange::giveShared(FlatBuffers& buffers, const TrainingState& state) const {
  buffers.allocateState(static_cast<int>(state.optimizer.size()));
  for (const Parameter& parameter : graph_.parameters()) {
    const int index = buffers.indexOf(parameter.name);
    at::Tensor master = buffers.masterView(index);
    master.copy_(tensorFor(state.parameters, parameter.name, master));
    for (size_t which = 0; which < state.optimizer.size(); ++which) {
      at::Tensor values = buffers.stateView(static_cast<int>(which), index);
      values.copy_(tensorFor(state.optimizer[which], parameter.name, values));
    }
  }
  buffers.refreshWeights();
}

bool StateExchange::isFirstWithItsMemory(ReplicaSet::Member& member) {
  const auto index = static_cast<int64_t>(member.index());
  memory_[static_cast<size_t>(index)] = member.buffers().master(member.buffers().whole(0)).const_data_ptr();
  member.barrier();
  const auto own = memory_.begin() + index;
  return std::find(memory_.begin(), own, *own) == own;
}

// Replicas may share memory: then the first of them writes it.
void StateExchange::give(ReplicaSet::Member& member, const TrainingState& state) {
  const at::NoGradGuard noGradients;
  const auto index = static_cast<size_t>(member.index());
  if (isFirstWithItsMemory(member)) giveShared(member.buffers(), state);
  member.synchronize();
  member.barrier();
  const size_t ranks = static_cast<size_t>(ranksOf(world_)), rank = isFirst(world_) ? 0 : world_->place().rank;
  const size_t replica = rank * own_.size() + index;
  if (state.replicas.size() == ranks * own_.size()) {
    member.setOwnState(state.replicas[replica]);
  } else if (!state.replicas.empty()) {
    member.setStatistics(state.replicas[replica % state.replicas.size()]);
  }
  member.adoptState();
}

}  // namespace tandem
