#include "formats/log/event_file.h"

#include <unistd.h>

#include <atomic>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/atomic_file.h"
#include "formats/log/tensorboard.pb.h"
#include "formats/log/tfrecord.h"

namespace tandem {
namespace {

constexpr const char* version = "brain.Event:2";
constexpr int stringType = 7;  // DT_STRING

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string recordOf(const tensorboard::Event& event) { return tfrecordOf(event.SerializeAsString()); }

}  // namespace

EventFile::EventFile(double time) : seconds_(static_cast<int64_t>(time)) {
  tensorboard::Event event;
  event.set_wall_time(time);
  event.set_file_version(version);
  bytes_ = recordOf(event);
}

void EventFile::scalar(const std::string& tag, int64_t step, double time, double value) {
  tensorboard::Event event;
  event.set_wall_time(time);
  event.set_step(step);
  auto& entry = *event.mutable_summary()->add_value();
  entry.set_tag(tag);
  entry.set_simple_value(static_cast<float>(value));
  bytes_ += recordOf(event);
}

// A PNG begins with its signature, 8 bytes, and its header, of which length and name are 8 bytes more: width, height, a
// byte for the depth and one for the kind of colours.
void EventFile::image(const std::string& tag, int64_t step, double time, std::span<const uint8_t> png) {
  constexpr size_t width = 16, height = 20, colours = 25;
  constexpr uint8_t grey = 0;
  check(png.size() > colours, "EventFile::image: a PNG has a header");
  const auto number = [&](size_t at) { return png[at] << 24 | png[at + 1] << 16 | png[at + 2] << 8 | png[at + 3]; };
  tensorboard::Event event;
  event.set_wall_time(time);
  event.set_step(step);
  auto& entry = *event.mutable_summary()->add_value();
  entry.set_tag(tag);
  entry.mutable_image()->set_height(number(height));
  entry.mutable_image()->set_width(number(width));
  entry.mutable_image()->set_colorspace(png[colours] == grey ? 1 : 3);
  entry.mutable_image()->set_encoded_image_string(png.data(), png.size());
  bytes_ += recordOf(event);
}

void EventFile::text(const std::string& tag, double time, const std::string& markdown) {
  tensorboard::Event event;
  event.set_wall_time(time);
  auto& entry = *event.mutable_summary()->add_value();
  entry.set_tag(tag);
  entry.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  entry.mutable_tensor()->set_dtype(stringType);
  entry.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
  entry.mutable_tensor()->add_string_val(markdown);
  bytes_ += recordOf(event);
}

std::string EventFile::write(const std::string& folder) const {
  static std::atomic<int> number{0};  // two files must not share a name: TensorBoard knows files by their names
  makeFolder(folder);
  std::string path = concat(folder, "/events.out.tfevents.", seconds_, '.', hostName(), '.', getpid(), '.', number++);
  writeAtomically(path, asBytes(bytes_));
  return path;
}

}  // namespace tandem
