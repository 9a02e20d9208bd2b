#include "machine/gpu/cupti.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "machine/gpu/demangle.h"

namespace tandem {
namespace {

using Status = int;  // CUptiResult
constexpr Status success = 0, insufficientPrivileges = 35;

// CUpti_ActivityKind
constexpr uint32_t copied = 1, filled = 2, kernelRan = 3, driverCalled = 4, runtimeCalled = 5, kernelsRanAtOnce = 10,
                   copiedToPeer = 22, marked = 39;
// Driver and runtime calls are enabled because CUPTI reports marks with calls. Marks are enabled first, so that no call
// lacks them.
constexpr std::array enabledKinds{marked, driverCalled, runtimeCalled, copied, filled, copiedToPeer, kernelsRanAtOnce};
constexpr uint32_t incompleteToo = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

// The leading fields of CUpti_ActivityKernel, -Memcpy and -Memset, -MemcpyPtoP, -ExternalCorrelation. Times in ns.
struct Record {
  uint32_t kind;
};
struct KernelRecord {
  uint32_t kind, ignored1[3];
  uint64_t begin, end, completed;
  uint32_t device, context, stream, ignored2[10], call;
  int64_t grid;
  const char* symbol;
  uint64_t ignored3[4], graphNode;
};
struct CopyRecord {
  uint32_t kind;
  uint8_t way, ignored1[3];
  uint64_t bytes, begin, end;
  uint32_t device, context, stream, call;
  uint64_t ignored2[2], graphNode;
};
struct PeerCopyRecord {
  uint32_t kind, ignored1;
  uint64_t bytes, begin, end;
  uint32_t device, context, stream, ignored2[4], call;
  uint64_t ignored3, graphNode;
};
struct MarkRecord {
  uint32_t kind, tag;
  uint64_t value;
  uint32_t call;
};
static_assert(offsetof(KernelRecord, begin) == 16 && offsetof(KernelRecord, stream) == 48);
static_assert(offsetof(KernelRecord, call) == 92 && offsetof(KernelRecord, symbol) == 104 &&
              offsetof(KernelRecord, graphNode) == 144);
static_assert(offsetof(CopyRecord, bytes) == 8 && offsetof(CopyRecord, stream) == 40 &&
              offsetof(CopyRecord, call) == 44 && offsetof(CopyRecord, graphNode) == 64);
static_assert(offsetof(PeerCopyRecord, stream) == 40 && offsetof(PeerCopyRecord, call) == 60 &&
              offsetof(PeerCopyRecord, graphNode) == 72);
static_assert(offsetof(MarkRecord, value) == 8 && offsetof(MarkRecord, call) == 16);

constexpr size_t bufferBytes = size_t{4} << 20;
constexpr size_t bufferAlignment = 8;

const char* nameOfCopy(uint8_t way) {  // CUpti_ActivityMemcpyKind
  switch (way) {
    case 1:
      return "copy from host to device";
    case 2:
      return "copy from device to host";
    case 8:
      return "copy within the device";
    default:
      return "copy";
  }
}

template <class Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Activities as CUPTI delivers them; the id of a call connects them with its marks.
struct Received {
  struct Activity {
    DeviceActivity activity;  // `name` of a kernel is its symbol
    bool kernel = false;
    uint32_t call = 0;
  };
  std::vector<Activity> activities;
  std::unordered_map<uint32_t, int64_t> steps, operations;  // by id of the call
  int64_t lost = 0;
};

/// CUPTI calls back on threads of its own, and without a context, so these are global and locked.
Mutex receiving;
Received received TANDEM_GUARDED_BY(receiving);

using NextRecord = Status (*)(uint8_t*, size_t, Record**);
NextRecord nextRecord TANDEM_GUARDED_BY(receiving) = nullptr;  // set before any kind is enabled

template <class Raw>
void keep(const Raw& raw, const std::string& name, int64_t bytes, bool kernel) TANDEM_REQUIRES(receiving) {
  if (raw.begin == 0 || raw.end < raw.begin) {
    ++received.lost;
    return;
  }
  DeviceActivity activity{.name = name, .device = static_cast<int>(raw.device), .stream = raw.stream};
  activity.begin = Nanos(static_cast<int64_t>(raw.begin)), activity.end = Nanos(static_cast<int64_t>(raw.end));
  activity.bytes = bytes;
  activity.inGraph = raw.graphNode != 0;
  received.activities.push_back({std::move(activity), kernel, raw.call});
}

template <class Raw>
const Raw& as(const Record* record) {
  return *reinterpret_cast<const Raw*>(record);
}

void receive(const Record* record) TANDEM_REQUIRES(receiving) {
  switch (record->kind) {
    case kernelRan:
    case kernelsRanAtOnce: {
      const auto& kernel = as<KernelRecord>(record);
      return keep(kernel, kernel.symbol == nullptr ? "unknown" : kernel.symbol, 0, /*kernel=*/true);
    }
    case copied:
    case filled: {
      const auto& copy = as<CopyRecord>(record);
      return keep(copy, record->kind == filled ? "fill" : nameOfCopy(copy.way), static_cast<int64_t>(copy.bytes),
                  false);
    }
    case copiedToPeer: {
      const auto& copy = as<PeerCopyRecord>(record);
      return keep(copy, "copy from device to device", static_cast<int64_t>(copy.bytes), false);
    }
    case marked: {
      const auto& mark = as<MarkRecord>(record);
      auto& values = mark.tag == static_cast<uint32_t>(Cupti::Tag::step) ? received.steps : received.operations;
      values[mark.call] = static_cast<int64_t>(mark.value);
      return;
    }
    default:
      return;  // a record of a call is not kept
  }
}

void giveBuffer(uint8_t** buffer, size_t* size, size_t* mostRecords) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(bufferAlignment, bufferBytes));
  *size = *buffer == nullptr ? 0 : bufferBytes;
  *mostRecords = 0;  // 0: as many as fit
}

void takeBuffer(void*, uint32_t, uint8_t* buffer, size_t, size_t filledBytes) {
  {
    const MutexLock lock(receiving);
    for (Record* record = nullptr; nextRecord(buffer, filledBytes, &record) == success;) receive(record);
  }
  std::free(buffer);
}

uint64_t timestamp() { return static_cast<uint64_t>(now().count()); }

int64_t valueOf(const std::unordered_map<uint32_t, int64_t>& values, uint32_t call) {
  const auto found = values.find(call);
  return found == values.end() ? -1 : found->second;
}

}  // namespace

struct Cupti::Functions {
  Status (*registerCallbacks)(decltype(&giveBuffer), decltype(&takeBuffer));
  Status (*registerTimestamp)(decltype(&timestamp));
  Status (*enable)(uint32_t);
  Status (*disable)(uint32_t);
  Status (*flush)(uint32_t);
  NextRecord next;
  Status (*dropped)(void*, uint32_t, size_t*);
  Status (*push)(uint32_t, uint64_t);
  Status (*pop)(uint32_t, uint64_t*);
  Status (*text)(Status, const char**);

  bool loadFrom(void* library) {
    return load(library, "cuptiActivityRegisterCallbacks", registerCallbacks) &&
           load(library, "cuptiActivityRegisterTimestampCallback", registerTimestamp) &&
           load(library, "cuptiActivityEnable", enable) && load(library, "cuptiActivityDisable", disable) &&
           load(library, "cuptiActivityFlushAll", flush) && load(library, "cuptiActivityGetNextRecord", next) &&
           load(library, "cuptiActivityGetNumDroppedRecords", dropped) &&
           load(library, "cuptiActivityPushExternalCorrelationId", push) &&
           load(library, "cuptiActivityPopExternalCorrelationId", pop) && load(library, "cuptiGetResultString", text);
  }

  void expect(Status status, const char* call) const {
    if (status == success) return;
    const char* name = nullptr;
    const bool named = text(status, &name) == success && name != nullptr;
    const char* remedy =
        status == insufficientPrivileges
            ? "; the driver lets administrators alone profile (NVreg_RestrictProfilingToAdminUsers): run "
              "as root, in a container with --cap-add=SYS_ADMIN"
            : "";
    throw TracingFailed(
        concat(call, " of CUPTI fails: ", named ? name : "", named ? "" : concat("error ", status), remedy));
  }
};

std::unique_ptr<Cupti> Cupti::open(std::span<const char* const> libraries) {
  void* library = nullptr;
  // First a copy that is already loaded, such as libtorch's: CUPTI supports one client per process.
  for (const int how : {RTLD_NOLOAD, 0}) {
    for (const char* name : libraries) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL | how);
    }
  }
  const std::vector<std::string> names(libraries.begin(), libraries.end());
  if (library == nullptr) throw TracingFailed(concat("CUPTI cannot be loaded (", join(names, " or "), ")"));
  Functions functions{};
  if (!functions.loadFrom(library)) throw TracingFailed("this CUPTI is too old: it must be of CUDA 11.6 or newer");
  functions.expect(functions.registerCallbacks(giveBuffer, takeBuffer), "cuptiActivityRegisterCallbacks");
  functions.expect(functions.registerTimestamp(timestamp), "cuptiActivityRegisterTimestampCallback");
  return std::unique_ptr<Cupti>(new Cupti(functions));
}

// The library is never unloaded, because it may run threads of its own.
Cupti::Cupti(const Functions& functions) : functions_(std::make_unique<Functions>(functions)) {
  const MutexLock lock(receiving);
  nextRecord = functions.next;
}

Cupti::~Cupti() { stopAll(); }

void Cupti::stopAll() const noexcept {
  for (const uint32_t kind : enabledKinds) functions_->disable(kind);
  functions_->flush(incompleteToo);
}

void Cupti::start() {
  {
    const MutexLock lock(receiving);
    received = {};
  }
  try {
    for (const uint32_t kind : enabledKinds) functions_->expect(functions_->enable(kind), "cuptiActivityEnable");
  } catch (const TracingFailed&) {
    stopAll();
    throw;
  }
}

std::vector<DeviceActivity> Cupti::stop() {
  stopAll();
  size_t dropped = 0;
  functions_->dropped(nullptr, 0, &dropped);
  const MutexLock lock(receiving);
  lost_ = received.lost + static_cast<int64_t>(dropped);
  std::map<std::string, std::string> names;  // by symbol
  std::vector<DeviceActivity> activities;
  for (Received::Activity& one : received.activities) {
    if (one.kernel) {
      std::string& name = names[one.activity.name];
      if (name.empty()) name = kernelName(one.activity.name);
      one.activity.name = name;
    }
    one.activity.step = valueOf(received.steps, one.call);
    one.activity.operation = valueOf(received.operations, one.call);
    activities.push_back(std::move(one.activity));
  }
  received = {};
  return activities;
}

void Cupti::push(Tag tag, int64_t value) const noexcept {
  functions_->push(static_cast<uint32_t>(tag), static_cast<uint64_t>(value));
}

void Cupti::pop(Tag tag) const noexcept {
  uint64_t last = 0;
  functions_->pop(static_cast<uint32_t>(tag), &last);
}

}  // namespace tandem
