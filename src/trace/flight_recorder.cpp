#include "trace/flight_recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 6> stages{
    "starting", "meeting the other ranks", "preparing", "connecting", "training", "ending"};
constexpr uint64_t magic = 0x7461'6e64'666c'7931;  // other programs' descriptors are not taken for this memory
constexpr uint64_t fnvOffset = 0xCBF29CE484222325ULL, fnvPrime = 0x100000001B3ULL;

ReplicaFlight snapshot(const FlightSlot& slot) {
  const uint8_t span = slot.span.load();
  return {.step = slot.step.load(),
          .started = slot.started.load(),
          .finished = slot.finished.load(),
          .before = slot.before.load(),
          .bytes = slot.bytes.load(),
          .span = span == 0 ? "" : std::string(nameOf(static_cast<SpanKind>(span - 1)))};
}

}  // namespace

std::string_view nameOf(Stage stage) { return stages.at(static_cast<size_t>(stage)); }

struct alignas(64) FlightMemory::Header {
  uint64_t magic;
  int64_t replicas;
  std::atomic<Stage> stage;

  FlightSlot* slots() { return reinterpret_cast<FlightSlot*>(this + 1); }
};

bool FlightMemory::map(size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) return false;
  bytes_ = bytes;
  header_ = static_cast<Header*>(memory);
  return true;
}

FlightMemory::FlightMemory(int replicas) : descriptor_(::memfd_create("tandem-flight", MFD_CLOEXEC)) {
  const size_t bytes = sizeof(Header) + static_cast<size_t>(replicas) * sizeof(FlightSlot);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 || !map(bytes)) {
    throw StorageError(concat("no file in memory to share with a run: ", std::strerror(errno)));
  }
  new (header_) Header{.magic = magic, .replicas = replicas, .stage = Stage::starting};
  for (int i = 0; i < replicas; ++i) new (header_->slots() + i) FlightSlot;
}

std::unique_ptr<FlightMemory> FlightMemory::inherited(int descriptor) {
  struct stat facts {};
  const bool isThere = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!isThere || facts.st_size < static_cast<off_t>(sizeof(Header))) return nullptr;
  std::unique_ptr<FlightMemory> memory(new FlightMemory);
  memory->descriptor_ = descriptor;
  const bool fits =
      memory->map(static_cast<size_t>(facts.st_size)) && memory->header_->magic == magic &&
      memory->bytes_ == sizeof(Header) + static_cast<size_t>(memory->header_->replicas) * sizeof(FlightSlot);
  if (fits) return memory;
  memory->descriptor_ = -1;  // somebody else's
  return nullptr;
}

FlightMemory::~FlightMemory() {
  if (header_ != nullptr) ::munmap(header_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

ProcessFlight FlightMemory::read() const {
  ProcessFlight flight{.stage = header_->stage.load(), .replicas = {}};
  for (int64_t i = 0; i < header_->replicas; ++i) flight.replicas.push_back(snapshot(header_->slots()[i]));
  return flight;
}

void FlightMemory::enter(Stage stage) { header_->stage.store(stage); }

FlightSlot* FlightMemory::slot(int replica) {
  return replica < header_->replicas ? header_->slots() + replica : nullptr;
}

// The hash is a sum, which does not know in which order groups took turns.
void FlightLog::startCollective(int64_t bytes, int64_t number) {
  const auto order = std::memory_order_relaxed;
  slot_.bytes.store(bytes, order);
  const uint64_t ofBytes = (fnvOffset ^ static_cast<uint64_t>(bytes)) * fnvPrime;
  const uint64_t mixed = (ofBytes ^ static_cast<uint64_t>(number)) * fnvPrime;
  slot_.sizes.store(slot_.sizes.load(order) + (mixed ^ mixed >> 32U) * fnvPrime, order);
  slot_.started.store(slot_.started.load(order) + 1, order);
  if (fault_) fault_->afterCollective(step_);
}

std::string FlightLog::collectives() const {
  std::ostringstream out;
  out << slot_.started.load() << ' ' << std::hex << slot_.sizes.load();
  return out.str();
}

FlightLogging::FlightLogging(int replica) {
  FlightSlot* const slot = processFlight == nullptr ? nullptr : processFlight->slot(replica);
  if (slot == nullptr) return;
  log_.emplace(*slot, ReplicaFault::of(replica));
  threadFlight = &*log_;
}

}  // namespace tandem
