// A library with the functions of CUPTI that Tandem loads, whose records lie as cupti_activity.h says; what a GPU does
// comes from the test. Built with FORBIDDEN_CUPTI it may not trace kernels, with OLD_CUPTI it lacks a function that
// came later. NOLINTBEGIN(readability-identifier-naming)
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int ok = 0, invalidParameter = 1, maxLimitReached = 12, queueEmpty = 13, insufficientPrivileges = 35;
constexpr uint32_t memcpyKind = 1, driverKind = 4, runtimeKind = 5, concurrentKernelKind = 10, memcpy2Kind = 22,
                   externalKind = 39;
constexpr size_t recordBytes = 256, fewRecords = 3;  // of a buffer: there shall be several

struct Raw {
  alignas(8) uint8_t bytes[recordBytes] = {};
  template <class Value>
  Raw& put(size_t offset, Value value) {
    std::memcpy(bytes + offset, &value, sizeof value);
    return *this;
  }
};

std::mutex mutex;
std::vector<Raw> waiting;
std::set<uint32_t> enabled;
size_t dropped = 0;
uint32_t lastCall = 0;
bool automatic = false;
thread_local std::vector<std::pair<uint32_t, uint64_t>> marks;
thread_local uint64_t automaticBegin = 0;
thread_local uint64_t graphNode = 0;

void (*request)(uint8_t**, size_t*, size_t*) = nullptr;
void (*complete)(void*, uint32_t, uint8_t*, size_t, size_t) = nullptr;
uint64_t (*timestamp)() = nullptr;

bool on(uint32_t kind) { return enabled.contains(kind); }

}  // namespace

extern "C" {

int cuptiActivityRegisterCallbacks(decltype(request) requested, decltype(complete) completed) {
  request = requested, complete = completed;
  return ok;
}

#ifndef OLD_CUPTI
int cuptiActivityRegisterTimestampCallback(decltype(timestamp) function) {
  if (!enabled.empty()) return invalidParameter;
  timestamp = function;
  return ok;
}
#endif

int cuptiActivityEnable(uint32_t kind) {
#ifdef FORBIDDEN_CUPTI
  if (kind == concurrentKernelKind) return insufficientPrivileges;
#endif
  const std::lock_guard lock(mutex);
  enabled.insert(kind);
  return ok;
}

int cuptiActivityDisable(uint32_t kind) {
  const std::lock_guard lock(mutex);
  enabled.erase(kind);
  return ok;
}

int cuptiActivityFlushAll(uint32_t) {
  std::vector<Raw> records;
  {
    const std::lock_guard lock(mutex);
    records.swap(waiting);
  }
  for (size_t at = 0; at < records.size(); at += fewRecords) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    request(&buffer, &size, &most);
    const size_t count = records.size() - at < fewRecords ? records.size() - at : fewRecords;
    const bool aligned = reinterpret_cast<uintptr_t>(buffer) % 8 == 0;
    if (buffer == nullptr || !aligned || size < count * recordBytes) {
      dropped += count;
      continue;
    }
    for (size_t i = 0; i < count; ++i) std::memcpy(buffer + i * recordBytes, records[at + i].bytes, recordBytes);
    complete(nullptr, 0, buffer, size, count * recordBytes);
  }
  return ok;
}

int cuptiActivityGetNextRecord(uint8_t* buffer, size_t validBytes, uint8_t** record) {
  uint8_t* const next = *record == nullptr ? buffer : *record + recordBytes;
  if (next >= buffer + validBytes) return maxLimitReached;
  *record = next;
  return ok;
}

int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  *count = std::exchange(dropped, 0);
  return ok;
}

int cuptiGetResultString(int status, const char** text) {
  if (status != insufficientPrivileges) return invalidParameter;
  *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
  return ok;
}

/// A call that enqueues work, with the marks of this thread. Its number; 0: it is not recorded.
uint32_t fakeCall() {
  const std::lock_guard lock(mutex);
  if (!on(concurrentKernelKind) || !on(driverKind) || !on(runtimeKind)) return 0;
  ++lastCall;
  std::set<uint32_t> told;
  for (size_t i = marks.size(); i-- > 0;) {  // of each kind the innermost
    const auto [kind, value] = marks[i];
    if (!on(externalKind) || !told.insert(kind).second) continue;
    waiting.push_back(Raw().put(0, externalKind).put(4, kind).put(8, value).put(16, lastCall));
  }
  waiting.push_back(Raw().put(0, driverKind));
  return lastCall;
}

void fakeKernel(uint32_t call, const char* symbol, uint32_t device, uint32_t stream,
                const std::pair<uint64_t, uint64_t>& time) {
  const std::lock_guard lock(mutex);
  if (call == 0) return;
  Raw record;
  record.put(0, concurrentKernelKind).put(16, time.first).put(24, time.second).put(40, device).put(48, stream);
  waiting.push_back(record.put(92, call).put(104, symbol).put(144, graphNode));
}

void fakeCopy(uint32_t call, uint8_t way, uint64_t bytes, uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex);
  if (call == 0 || !on(memcpyKind)) return;
  Raw record;
  record.put(0, memcpyKind).put(4, way).put(8, bytes).put(16, begin).put(24, end).put(32, uint32_t{2});
  waiting.push_back(record.put(40, uint32_t{7}).put(44, call).put(64, graphNode));
}

void fakePeerCopy(uint32_t call, uint64_t bytes, uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex);
  if (call == 0 || !on(memcpy2Kind)) return;
  Raw record;
  record.put(0, memcpy2Kind).put(8, bytes).put(16, begin).put(24, end).put(32, uint32_t{2}).put(40, uint32_t{7});
  waiting.push_back(record.put(60, call).put(72, graphNode));
}

void fakeDrop(size_t count) { dropped += count; }

/// From here on what this thread has a GPU do is in a launched graph.
void fakeGraph(int whether) { graphNode = whether != 0 ? 5 : 0; }

/// From here on every operation that is marked is a kernel from the mark's push to its pop.
void fakeAutomatic(int whether) { automatic = whether != 0; }

int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t value) {
  marks.emplace_back(kind, value);
  automaticBegin = timestamp();
  return ok;
}

int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  if (marks.empty() || marks.back().first != kind) return queueEmpty;
  *last = marks.back().second;
  if (automatic && kind == 4) {
    fakeKernel(fakeCall(), *last % 2 == 0 ? "forward" : "backward", 0, 0, {automaticBegin, timestamp()});
  }
  marks.pop_back();
  return ok;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
