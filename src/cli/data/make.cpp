#include <algorithm>
#include <cstring>
#include <set>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "cli/data/written_data.h"
#include "data/dataset/dataset.h"
#include "data/transform/working_image.h"
#include "formats/image/encode.h"

namespace tandem {
namespace {

constexpr std::string_view photographs = "photographs", synthetic = "synthetic";
constexpr int64_t largestEdge = 8192, mostImages = 100'000'000, shardImages = 4096;

constexpr CommandOption options[] = {
    {"--from", "PATH|synthetic", "data set of pixels, whose labels are kept", synthetic},
    {"--images", "N", "images of each split; 0 takes all of --from", "1000"},
    {"--classes", "N", "classes of synthetic images", "10"},
    {"--size", "WxH|photographs", "pixels of each image; photographs draws them, most 500x375 or 375x500", photographs},
    {"--format", "jpeg|png", "of the files", "jpeg"},
    {"--container", "NAME", "in which they are written, as 'convert --to'", "folder"},
    {"--grain", "N", "amplitude of the noise that is added, which photographs have; 0 adds none", "48"},
    {"--seed", "N", "seed of sizes, noise and synthetic images", "1"},
};

/// What is made of each image.
struct Making {
  ImageSize size;  // 0: drawn
  int64_t grain = 0;
  uint64_t seed = 0;
  const ImageEncoding* encoding = nullptr;
};

/// Seven of ten have 500 x 375 pixels or 375 x 500, as many photographs of ImageNet have; the others differ widely.
ImageSize drawnSize(CounterRandom& random) {
  const uint64_t kind = random.below(10);
  if (kind < 5) return {375, 500, 3};
  if (kind < 7) return {500, 375, 3};
  const auto side = [&] { return static_cast<int64_t>(random.between(160, 800)); };
  const int64_t height = side();
  return {height, side(), 3};
}

/// Scaled, with noise: without it a file has hardly any bytes, and is decoded faster than a photograph.
Image made(const Sample& sample, const Making& making, int64_t index) {
  CounterRandom random(randomKey(RandomUse::making, making.seed, static_cast<uint64_t>(index)));
  const ImageSize size = making.size.height > 0 ? making.size : drawnSize(random);
  WorkingImage image(sample.bytes, {sample.height, sample.width, sample.channels});
  image.resize(size.height, size.width);
  Image out{size.height, size.width, std::vector<uint8_t>(static_cast<size_t>(size.height * size.width * 3))};
  image.write(out.pixels);
  if (making.grain == 0) return out;
  const auto values = static_cast<uint64_t>(2 * making.grain + 1);
  for (uint8_t& value : out.pixels) {
    const int64_t noisy = value + static_cast<int64_t>(random.below(values)) - making.grain;
    value = static_cast<uint8_t>(std::clamp<int64_t>(noisy, 0, 255));
  }
  return out;
}

/// The images of a split that others are made of, and the class of each.
struct Source {
  std::unique_ptr<Dataset> images;
  std::vector<int64_t> labels;  // of those that are made
  int64_t classes = 0;
};

/// The split as it is written. REQUIRES: both outlive it.
NewSplit newSplit(std::string_view name, const Source& source, const Making& making) {
  DatasetInfo info;
  info.classes = source.classes;
  const auto make = [&source, &making](int64_t index) {
    std::vector<uint8_t> memory, label(sizeof(int64_t));
    const Sample sample = source.images->read(index, memory, label);
    WrittenSample written{
        .bytes = making.encoding->encode(made(sample, making, index)), .label = label, .index = index};
    written.format = imageFormatOf(written.bytes).value();
    storeClass(source.labels[static_cast<size_t>(index)], written.label);
    return written;
  };
  return {.name = std::string(name), .images = std::ssize(source.labels), .info = info, .make = make};
}

Making makingOf(const DataArguments& arguments) {
  Making making;
  making.grain = arguments.number("--grain", 0, 127);
  making.seed = static_cast<uint64_t>(arguments.number("--seed", 0, int64_t{1} << 62));
  making.encoding = &find(imageEncodings(), arguments.text("--format"), "--format");
  const std::string size = arguments.text("--size");
  if (size == photographs) return making;
  const auto sides = split(size, "x");
  const auto width = numberWithin(sides.front(), 1, largestEdge), height = numberWithin(sides.back(), 1, largestEdge);
  if (sides.size() > 2 || !width || !height) {
    arguments.refuse("--size", concat("must be ", photographs, ", a side or WxH, each from 1 to ", largestEdge));
  }
  making.size = {*height, *width, 3};
  return making;
}

/// Synthetic images, class after class.
Source syntheticSource(int64_t count, int64_t classes, uint64_t seed) {
  DatasetInfo info;
  info.height = info.width = 32, info.classes = classes;
  Source source{syntheticDataset(count, info, seed), {}, classes};
  for (int64_t i = 0; i < count; ++i) source.labels.push_back(i % classes);
  return source;
}

/// The first images of a data set. Classes are told apart by their folders, so none may be without an image.
Source sourceFrom(const DataArguments& arguments, DataSplit split, int64_t asked) {
  Source source{openDataset(arguments.text("--from"), {.split = split}), {}};
  const DatasetInfo& info = source.images->info();
  source.classes = info.classes;
  if (info.encoded()) arguments.refuse("--from", "has image files; give a data set of pixels, or synthetic");
  if (!info.labels->isOneClass())
    arguments.refuse("--from", concat("has ", info.labels->summary, "; give one with one"));
  const int64_t all = source.images->size(), count = asked == 0 ? all : asked;
  if (count > all) arguments.refuse("--images", concat("--from has ", all, " images of this split"));
  std::vector<uint8_t> memory, label(sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i) {
    source.images->read(i, memory, label);
    std::memcpy(&source.labels.emplace_back(), label.data(), sizeof(int64_t));
  }
  const std::set classes(source.labels.begin(), source.labels.end());
  if (split == DataSplit::training && std::ssize(classes) < info.classes) {
    arguments.refuse("--images", concat("has images of ", classes.size(), " of ", info.classes, " classes; make more"));
  }
  return source;
}

Source sourceOf(const DataArguments& arguments, DataSplit split, uint64_t seed) {
  const int64_t asked = arguments.number("--images", 0, mostImages);
  if (arguments.text("--from") != synthetic) return sourceFrom(arguments, split, asked);
  const int64_t classes = arguments.number("--classes", 2, 1'000'000);
  if (asked < classes) arguments.refuse("--images", concat("must be at least the number of classes, ", classes));
  return syntheticSource(asked, classes, seed + (split == DataSplit::test ? 1 : 0));
}

}  // namespace

int makeData(Arguments typed) {
  const DataArguments arguments("make", options, typed);
  const Making making = makingOf(arguments);
  NewDataset dataset{.path = arguments.path(),
                     .container = &find(containers(), arguments.text("--container"), "--container"),
                     .shardImages = shardImages,
                     .options = arguments.all()};
  const Source training = sourceOf(arguments, DataSplit::training, making.seed);
  const Source test = sourceOf(arguments, DataSplit::test, making.seed);
  dataset.splits = {newSplit(trainingName, training, making), newSplit(testName, test, making)};
  writeAndShow(dataset);
  return 0;
}

std::string makeHelp() { return helpOf(options); }

}  // namespace tandem
