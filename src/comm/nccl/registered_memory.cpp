#include "comm/nccl/registered_memory.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"

namespace tandem {

struct RegisteredMemory::Blocks {
  struct Block {
    void* memory;
    void* handle;
    bool dropped = false;  // its tensor is gone
  };

  explicit Blocks(std::unique_ptr<CommunicatorMemory> from) : library(std::move(from)) {}

  void add(void* memory, void* handle) {
    const MutexLock lock(mutex);
    blocks.push_back({memory, handle});
  }

  // Called by the deleter of a tensor, on any thread. The memory stays while its communicator lives, because a
  // collective may still use it.
  void drop(void* memory) {
    const MutexLock lock(mutex);
    std::ranges::find(blocks, memory, &Block::memory)->dropped = true;
    if (ended) releaseDropped();
  }

  /// REQUIRES: the communicator has ended.
  void releaseDropped() TANDEM_REQUIRES(mutex) {
    std::erase_if(blocks, [this](const Block& block) {
      if (block.dropped) library->release(block.memory);
      return block.dropped;
    });
  }

  Mutex mutex;
  const std::unique_ptr<CommunicatorMemory> library;
  std::vector<Block> blocks TANDEM_GUARDED_BY(mutex);
  bool ended TANDEM_GUARDED_BY(mutex) = false;  // whether the communicator has
};

RegisteredMemory::RegisteredMemory(std::unique_ptr<CommunicatorMemory> library)
    : blocks_(std::make_shared<Blocks>(std::move(library))) {}

RegisteredMemory::~RegisteredMemory() = default;

// A refusal is not an error: the gradients then stay in memory of libtorch's allocator, and NCCL copies them.
at::Tensor RegisteredMemory::allocate(int64_t count, at::ScalarType type) {
  asked_ = true;
  if (refusal_) return {};
  CommunicatorMemory& library = *blocks_->library;
  const auto bytes = count * static_cast<int64_t>(c10::elementSize(type));
  void* memory = nullptr;
  try {
    memory = library.allocate(bytes);
    blocks_->add(memory, library.enroll(memory, bytes));
  } catch (const CommunicatorMemory::Refused& refused) {
    if (memory != nullptr) library.release(memory);
    refusal_ = refused.what();
    return {};
  }
  // The deleter shares the list, so a tensor may outlive this object.
  const auto drop = [blocks = blocks_](void* dropped) { blocks->drop(dropped); };
  return at::from_blob(memory, {count}, drop, at::TensorOptions(type).device(library.device()), library.device());
}

std::string RegisteredMemory::text(std::string_view library) const {
  if (!asked_) return {};
  return refusal_ ? concat("libtorch's memory: ", *refusal_) : concat("registered with ", library);
}

void RegisteredMemory::withdrawAll() {
  const MutexLock lock(blocks_->mutex);
  for (const Blocks::Block& block : blocks_->blocks) blocks_->library->withdraw(block.handle);
}

void RegisteredMemory::releaseUnused() {
  const MutexLock lock(blocks_->mutex);
  blocks_->ended = true;
  blocks_->releaseDropped();
}

}  // namespace tandem
