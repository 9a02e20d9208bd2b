#include "formats/log/trace_file.h"

#include "base/text.h"
#include "formats/log/perfetto_trace.pb.h"

namespace tandem {
namespace {

using perfetto::Trace;
using perfetto::TracePacket;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

constexpr uint32_t sequence = 1;  // id of the one writer, in Perfetto's terms
constexpr size_t bufferBytes = size_t{1} << 20;

TrackDescriptor& describe(TracePacket& packet, uint64_t track, std::string_view name, uint64_t below) {
  TrackDescriptor& descriptor = *packet.mutable_track_descriptor();
  descriptor.set_uuid(track);
  descriptor.set_name(std::string(name));
  if (below != TraceFile::top) descriptor.set_parent_uuid(below);
  return descriptor;
}

TrackEvent& event(TracePacket& packet, uint64_t track, Nanos time, TrackEvent::Type type) {
  packet.set_timestamp(static_cast<uint64_t>(time.count()));
  TrackEvent& event = *packet.mutable_track_event();
  event.set_track_uuid(track);
  event.set_type(type);
  return event;
}

}  // namespace

/// A trace file is a concatenation of packets, so each packet may be a message of its own.
struct TraceFile::Packet {
  Trace trace;
  TracePacket& packet = *trace.add_packet();
};

void TraceFile::append(Packet& packet) {
  packet.packet.set_trusted_packet_sequence_id(sequence);
  packet.trace.AppendToString(&buffer_);
  if (buffer_.size() >= bufferBytes) flush();
}

void TraceFile::flush() {
  file_.append(asBytes(buffer_));
  buffer_.clear();
}

TraceFile::Track TraceFile::addTrack(std::string_view name, Track below) {
  Packet packet;
  describe(packet.packet, ++last_, name, below);
  append(packet);
  return last_;
}

TraceFile::Track TraceFile::addCounter(std::string_view name, std::string_view unit, Track below) {
  Packet packet;
  describe(packet.packet, ++last_, name, below).mutable_counter()->set_unit_name(std::string(unit));
  append(packet);
  return last_;
}

void TraceFile::begin(Track track, Nanos time, std::string_view name, std::optional<int64_t> step) {
  Packet packet;
  TrackEvent& slice = event(packet.packet, track, time, TrackEvent::TYPE_SLICE_BEGIN);
  slice.set_name(std::string(name));
  if (step) {
    auto& annotation = *slice.add_debug_annotations();
    annotation.set_name("step");
    annotation.set_int_value(*step);
  }
  append(packet);
}

void TraceFile::end(Track track, Nanos time) {
  Packet packet;
  event(packet.packet, track, time, TrackEvent::TYPE_SLICE_END);
  append(packet);
}

void TraceFile::value(Track counter, Nanos time, double value) {
  Packet packet;
  event(packet.packet, counter, time, TrackEvent::TYPE_COUNTER).set_double_counter_value(value);
  append(packet);
}

void TraceFile::commit() {
  flush();
  file_.commit();
}

}  // namespace tandem
