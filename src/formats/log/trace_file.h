#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "formats/io/atomic_file.h"

namespace tandem {

/// Writes a trace in Perfetto's native format (perfetto.dev/docs/reference/trace-packet-proto), which ui.perfetto.dev
/// opens. All members throw StorageError. Without commit() there is no file.
class TraceFile {
 public:
  using Track = uint64_t;
  static constexpr Track top = 0;

  explicit TraceFile(std::string path) : file_(std::move(path)) {}

  /// Adds a track. Tracks hold slices and child tracks.
  Track addTrack(std::string_view name, Track below = top);
  Track addCounter(std::string_view name, std::string_view unit, Track below = top);

  /// Begins a slice. Slices of one track nest, and its events must come in time order. `step` is shown with the slice.
  void begin(Track track, Nanos time, std::string_view name, std::optional<int64_t> step = {});
  void end(Track track, Nanos time);
  void value(Track counter, Nanos time, double value);

  void commit();

 private:
  struct Packet;
  void append(Packet& packet);
  void flush();

  AtomicFile file_;
  std::string buffer_;
  Track last_ = top;
};

}  // namespace tandem
