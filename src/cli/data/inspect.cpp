#include <ATen/Parallel.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <ranges>

#include "base/clock.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "cli/table.h"
#include "data/dataset/dataset.h"
#include "formats/image/image.h"
#include "formats/io/checksum.h"

namespace tandem {
namespace {

constexpr CommandOption optionRows[] = {
    {"--data-split", "NAME", "training, validation or test", "training"},
    {"--bad", "N", "images that cannot be read, of which so many are listed", "10"},
};

/// What is known of one image.
struct Seen {
  int64_t height = 0, width = 0, bytes = 0;
  std::string sha256;  // of the bytes as they are kept, and of the label
  std::string fault;   // empty: it can be read
};

Seen see(const Dataset& images, int64_t index, std::vector<uint8_t>& label) {
  Seen seen;
  std::vector<uint8_t> memory;
  try {
    const Sample sample = images.read(index, memory, label);
    seen.bytes = std::ssize(sample.bytes), seen.height = sample.height, seen.width = sample.width;
    std::vector<uint8_t> all(sample.bytes.begin(), sample.bytes.end());
    all.insert(all.end(), label.begin(), label.end());
    seen.sha256 = sha256Of(all);
    if (!sample.encoded()) return seen;
    const auto decoded = decodeImage(sample.bytes);
    if (!decoded) throw DataError(concat(images.nameOf(index), ": ", decoded.error().text));
    seen.height = decoded.value().height, seen.width = decoded.value().width;
  } catch (const DataError& failure) {
    seen.fault = failure.what();
  }
  return seen;
}

/// All images, and how many there are of each class, or for flags with each class.
struct Content {
  std::vector<Seen> images;
  std::map<int64_t, int64_t> ofClass;  // by class, those without an image too where their number is known
  double seconds = 0;
};

Content contentOf(const Dataset& dataset) {
  const DatasetInfo& info = dataset.info();
  Content content;
  content.images.resize(static_cast<size_t>(dataset.size()));
  for (int64_t i = 0; i < info.classes; ++i) content.ofClass[i] = 0;
  Mutex mutex;
  const Nanos begin = now();
  at::parallel_for(0, dataset.size(), 1, [&](int64_t first, int64_t end) {
    std::vector<uint8_t> label(labelBytes(*info.labels, info.classes));
    for (int64_t i = first; i < end; ++i) {
      content.images[static_cast<size_t>(i)] = see(dataset, i, label);
      const MutexLock lock(mutex);
      for (const int64_t each : info.labels->classesIn(label)) ++content.ofClass[each];
    }
  });
  content.seconds = seconds(now() - begin);
  return content;
}

/// "least to most, median": of the images that can be read.
std::string rangeText(const std::vector<Seen>& images, int64_t Seen::*member) {
  std::vector<int64_t> values;
  for (const Seen& seen : images) {
    if (seen.fault.empty()) values.push_back(seen.*member);
  }
  if (values.empty()) return "no image can be read";
  std::ranges::sort(values);
  if (values.front() == values.back()) return concat(values.front());
  return concat(values.front(), " to ", values.back(), ", median ", values[values.size() / 2]);
}

std::string classesText(const DatasetInfo& info, const std::map<int64_t, int64_t>& ofClass) {
  if (ofClass.empty()) return "no class";
  const auto [fewest, most] = std::ranges::minmax(std::views::values(ofClass));
  return concat(ofClass.size(), ", ", info.labels->summary, "; ", fewest, " to ", most, " images each");
}

std::string checksumOf(const std::vector<Seen>& images) {
  std::string all;
  for (const Seen& seen : images) all += seen.sha256;
  return sha256Of(asBytes(all));
}

/// What of a data set the images are.
std::string splitText(const DataSplitEntry& asked, const DatasetInfo& info) {
  const std::string other = standInText(asked.split, info.split);
  return other.empty() ? std::string(asked.name) : other;
}

void print(const Dataset& dataset, const DataSplitEntry& asked, const Content& content) {
  const DatasetInfo& info = dataset.info();
  int64_t bytes = 0;
  for (const Seen& seen : content.images) bytes += seen.bytes;
  const auto images = std::ssize(content.images);
  const std::vector<std::vector<std::string>> rows{
      {"data set", info.name},
      {"split", splitText(asked, info)},
      {"images", concat(images)},
      {"classes", classesText(info, content.ofClass)},
      {"height", rangeText(content.images, &Seen::height)},
      {"width", rangeText(content.images, &Seen::width)},
      {"bytes", concat(bytesText(static_cast<double>(bytes)), "; each ", rangeText(content.images, &Seen::bytes))},
      {"sha256", checksumOf(content.images)},
      {"read", concat(fixed(static_cast<double>(images) / content.seconds, 1), " images/s, decoded, on ",
                      at::get_num_threads(), " threads")},
  };
  printTable(rows, 2);
}

}  // namespace

int inspectData(Arguments typed) {
  const DataArguments arguments("inspect", optionRows, typed);
  const int64_t listed = arguments.number("--bad", 0, 1'000'000);
  const DataSplitEntry& asked = dataSplitOf(arguments);
  const auto dataset = openDataset(arguments.path(), {.split = asked.split});
  const Content content = contentOf(*dataset);
  print(*dataset, asked, content);
  int64_t bad = 0;
  for (const Seen& seen : content.images) {
    if (seen.fault.empty()) continue;
    if (bad++ < listed) std::cout << "bad: " << seen.fault << '\n';
  }
  if (bad == 0) return 0;
  throw DataError(concat(arguments.path(), ": ", bad, " of ", content.images.size(),
                         " images cannot be read; train with --bad-image=skip, or mend them"));
}

std::string inspectHelp() { return helpOf(optionRows); }

}  // namespace tandem
