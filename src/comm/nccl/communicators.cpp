#include "comm/nccl/communicators.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace tandem {

Communicators::Communicators(std::vector<std::unique_ptr<Communicator>> all) : seats_(all.size()) {
  for (size_t rank = 0; rank < all.size(); ++rank) seats_[rank].communicator = std::move(all[rank]);
}

// Registrations are withdrawn while every communicator is still alive; memory is released when all have ended.
Communicators::~Communicators() {
  if (ender_.joinable()) ender_.join();
  if (!aborted_) withdrawAll();
  endAll();
  for (const Seat& seat : seats_) seat.communicator->memory().releaseUnused();
}

void Communicators::abort() noexcept {
  if (aborted_.exchange(true)) return;
  try {
    ender_ = std::thread([this] { endAll(); });
  } catch (const std::system_error&) {  // the destructor ends them
  }
}

void Communicators::requireAlive() const {
  if (aborted_) throw PeerError("another replica has failed");
}

// Deregistering may wait for the communicator's work, which after a failure may never end. Then abort() ends both.
void Communicators::withdrawAll() {
  const auto hasWork = [](const Seat& seat) { return seat.communicator->hasWork(); };
  if (std::ranges::any_of(seats_, hasWork)) return;
  for (const Seat& seat : seats_) seat.communicator->memory().withdrawAll();
}

// First the communicators that no thread uses: a thread inside a call may be waiting for one of these to end.
void Communicators::endAll() noexcept {
  for (Seat& seat : seats_) {
    if (!seat.inUse.tryLock()) continue;
    seat.end();
    seat.inUse.unlock();
  }
  for (Seat& seat : seats_) {
    const MutexLock lock(seat.inUse);
    seat.end();
  }
}

}  // namespace tandem
