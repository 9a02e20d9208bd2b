#include "formats/io/temporary_name.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>

namespace tandem {
namespace {

constexpr int noSlot = -1;

/// A name that a signal handler can read. While `folder` is below 0 the name is not to be read.
struct Slot {
  static constexpr int isFree = -1, isBeingFilled = -2;
  std::atomic<int> folder{isFree};
  std::array<char, 32> name{};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, 64> slots;

std::string randomName() {
  std::random_device random;
  std::array<char, 32> name;
  std::snprintf(name.data(), name.size(), ".tandem-%08x%08x", random(), random());
  return name.data();
}

int occupySlot(int folder, const std::string& name) {
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::isFree;
    if (!slots[i].folder.compare_exchange_strong(expected, Slot::isBeingFilled)) continue;
    name.copy(slots[i].name.data(), slots[i].name.size() - 1);
    slots[i].folder.store(folder);
    return static_cast<int>(i);
  }
  return noSlot;
}

}  // namespace

TemporaryName::TemporaryName(int folder) : folder_(folder), name_(randomName()), slot_(occupySlot(folder, name_)) {}

TemporaryName::~TemporaryName() {
  ::unlinkat(folder_, name_.c_str(), 0);
  if (slot_ != noSlot) slots[static_cast<size_t>(slot_)].folder.store(Slot::isFree);
}

void removeTemporaryFiles() noexcept {
  for (const Slot& slot : slots) {
    const int folder = slot.folder.load();
    if (folder >= 0) ::unlinkat(folder, slot.name.data(), 0);
  }
}

}  // namespace tandem
