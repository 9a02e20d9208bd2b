#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

/// What was asked of the streams of devices that do not exist (PrivateUse1), each with one that computes and one
/// beside it: events are recorded, waited for by streams, and waited for by the host; what tests enqueue themselves is
/// work. From any thread.
class CapturedStreams {
 public:
  enum class Call { record, block, hostWaits, work };
  struct Entry {
    Call call;
    int stream;         ///< numberOf() it; of hostWaits -1
    int64_t event;      ///< number in order of recording; of a wait for the whole device, and of work, -1
    bool amid = false;  ///< recorded work, on its thread
    std::thread::id thread = std::this_thread::get_id();
    bool operator==(const Entry&) const = default;
  };

  static constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;

  static constexpr int devices = 8, streams = 2 * devices;

  static c10::Device device(int index) { return {type, static_cast<c10::DeviceIndex>(index)}; }

  /// A device's own stream has its number; those beside follow.
  static int numberOf(const c10::Stream& stream) {
    return stream.device_index() + devices * static_cast<int>(stream.id());
  }
  static bool isBeside(int stream) { return stream >= devices; }

  /// Of the device, on this thread.
  static c10::Stream current(c10::Device device) {
    return c10::Stream(c10::Stream::UNSAFE, device, ids.at(static_cast<size_t>(device.index())));
  }
  static c10::Stream exchange(c10::Stream stream) {
    const c10::Stream before = current(stream.device());
    ids.at(static_cast<size_t>(stream.device_index())) = stream.id();
    return before;
  }
  /// The stream beside that is current on this thread, of whatever device; -1: none.
  static int currentBeside() {
    for (int i = 0; i < devices; ++i) {
      const int stream = numberOf(current(device(i)));
      if (isBeside(stream)) return stream;
    }
    return -1;
  }

  /// Everything since the last call.
  static std::vector<Entry> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(entries, {});
  }

  static void add(Entry entry) {
    entry.amid = isAmid;
    const std::lock_guard lock(mutex);
    entries.push_back(entry);
    if (observer) observer(entry);
  }

  /// Sees each entry, one at a time; set while nobody adds any.
  static inline std::function<void(const Entry&)> observer;

  /// Whether the thread is amid recorded work.
  static inline thread_local bool isAmid = false;

  /// How long the host's wait for an event takes.
  static inline std::chrono::milliseconds waitTakes{0};

  /// Milliseconds that devices have computed, as their events tell. Tests advance it.
  static inline std::atomic<double> clock{0};

  /// Events that never happen: those of work that waits for a replica that failed.
  static inline std::atomic<bool> stuck{false};

  static int64_t nextEvent() {
    const std::lock_guard lock(mutex);
    return events++;
  }

 private:
  static inline std::mutex mutex;
  static inline std::vector<Entry> entries;
  static inline int64_t events = 0;
  static inline thread_local std::array<c10::StreamId, devices> ids{};
};

/// libtorch's view of those streams.
class RecordedStreamsGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  using Call = CapturedStreams::Call;
  // NOLINTNEXTLINE(readability-identifier-naming): libtorch looks for this name
  static constexpr c10::DeviceType static_type = CapturedStreams::type;

  c10::DeviceType type() const override { return static_type; }
  c10::Device exchangeDevice(c10::Device) const override { return CapturedStreams::device(0); }
  c10::Device getDevice() const override { return CapturedStreams::device(0); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override { return CapturedStreams::current(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, 1);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return CapturedStreams::exchange(stream); }
  c10::DeviceIndex deviceCount() const noexcept override { return CapturedStreams::devices; }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Recorded;
    *of(*event) = {CapturedStreams::nextEvent(), CapturedStreams::clock};
    CapturedStreams::add({Call::record, CapturedStreams::numberOf(stream), of(*event)->number});
  }
  void block(void* event, const c10::Stream& stream) const override {
    CapturedStreams::add({Call::block, CapturedStreams::numberOf(stream), of(event)->number});
  }
  bool queryEvent(void* event) const override {
    if (CapturedStreams::stuck) return false;
    synchronizeEvent(event);
    return true;
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete of(event); }
  void synchronizeEvent(void* event) const override {
    CapturedStreams::add({Call::hostWaits, -1, of(event)->number});
    std::this_thread::sleep_for(CapturedStreams::waitTakes);
  }
  double elapsedTime(void* from, void* to, const c10::DeviceIndex) const override { return of(to)->at - of(from)->at; }
  void synchronizeDevice(const c10::DeviceIndex) const override { CapturedStreams::add({Call::hostWaits, -1, -1}); }

 private:
  struct Recorded {
    int64_t number;
    double at;  // by the clock
  };
  static Recorded* of(void* event) { return static_cast<Recorded*>(event); }
};

}  // namespace tandem
