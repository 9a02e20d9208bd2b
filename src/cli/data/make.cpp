#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "cli/data/flagged_images.h"
#include "cli/data/written_data.h"
#include "data/dataset/dataset.h"
#include "data/transform/working_image.h"
#include "formats/image/encode.h"

namespace tandem {
namespace {

constexpr std::string_view photographs = "photographs", synthetic = "synthetic", automatic = "auto";
constexpr int64_t largestEdge = 8192, mostImages = 100'000'000, shardImages = 4096, mostFlags = 1024;

constexpr CommandOption optionRows[] = {
    {"--from", "PATH|synthetic", "data set of pixels, whose labels are kept, or whose images are drawn for flags",
     synthetic},
    {"--images", "N[+N[+N]]",
     "training images, and as many for validation; or N+N+N of training, validation and test; 0 takes all of --from",
     "1000"},
    {"--classes", "N", "classes of synthetic images", "10"},
    {"--labels", "N|auto", "flags, any of which an image has; 0: one class per image; auto: what --container needs",
     automatic},
    {"--size", "WxH|photographs",
     "pixels of each image; photographs draws them, most 500x375 or 375x500; auto: photographs, with flags 1024",
     automatic},
    {"--format", "jpeg|png", "of the files; auto: jpeg, with flags png", automatic},
    {"--container", "NAME", "in which they are written, as 'convert --to'", "folder"},
    {"--grain", "N",
     "amplitude of the noise that is added, which photographs have; 0 adds none; auto: 48, with flags 2", automatic},
    {"--seed", "N", "seed of sizes, noise, flags and synthetic images", "1"},
};

/// What `auto` stands for.
struct Automatic {
  std::string_view size, format;
  int64_t grain;
};
constexpr Automatic ofClasses{photographs, "jpeg", 48}, ofFlags{"1024", "png", 2};

/// What is made of each image.
struct Making {
  int64_t flags = 0;  // 0: one class per image
  ImageSize size;     // 0: drawn
  int64_t grain = 0;
  uint64_t seed = 0;
  const ImageEncoding* encoding = nullptr;
  const ContainerEntry* container = nullptr;
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

/// Adds the same noise to so many values next to each other: without it a file has hardly any bytes, and is decoded
/// faster than a photograph.
void addGrain(const Making& making, size_t alike, CounterRandom& random, std::span<uint8_t> pixels) {
  if (making.grain == 0) return;
  const auto values = static_cast<uint64_t>(2 * making.grain + 1);
  for (size_t at = 0; at < pixels.size(); at += alike) {
    const int64_t noise = static_cast<int64_t>(random.below(values)) - making.grain;
    for (uint8_t& value : pixels.subspan(at, alike)) {
      value = static_cast<uint8_t>(std::clamp<int64_t>(value + noise, 0, 255));
    }
  }
}

Image made(const Sample& sample, const Making& making, CounterRandom& random) {
  const ImageSize size = making.size.height > 0 ? making.size : drawnSize(random);
  WorkingImage image(sample.bytes, {sample.height, sample.width, sample.channels});
  image.resize(size.height, size.width);
  Image out{size.height, size.width, std::vector<uint8_t>(static_cast<size_t>(size.height * size.width * 3))};
  image.write(out.pixels);
  addGrain(making, 1, random, out.pixels);
  return out;
}

/// The images of a split that others are made of.
struct Source {
  std::shared_ptr<const Dataset> images;  // null, for flags alone: none
  std::vector<int64_t> labels = {};       // of those that are made; empty for flags
  int64_t classes = 0;
  int64_t first = 0;  // index of the first one
};

WrittenSample encoded(const Making& making, const Image& image, std::vector<uint8_t> label, int64_t index) {
  WrittenSample written{.bytes = making.encoding->encode(image), .label = std::move(label), .index = index};
  written.format = imageFormatOf(written.bytes).value();
  return written;
}

/// A split of images with one class.
NewSplit classSplit(const Source& source, const Making& making) {
  const auto make = [source, making](int64_t index) {
    std::vector<uint8_t> memory, label(sizeof(int64_t));
    CounterRandom random(randomKey(RandomUse::making, making.seed, static_cast<uint64_t>(index)));
    const Image image = made(source.images->read(source.first + index, memory, label), making, random);
    storeClass(source.labels[static_cast<size_t>(index)], label);
    return encoded(making, image, std::move(label), index);
  };
  NewSplit split{.name = {}, .images = std::ssize(source.labels), .make = make};
  split.info.classes = source.classes;
  return split;
}

/// A split of so many images with flags, and a seed of its own.
NewSplit flagSplit(std::shared_ptr<const Dataset> figures, int64_t count, const Making& making, uint64_t seed) {
  const auto images = std::make_shared<const FlaggedImages>(std::move(figures), making.flags, making.size, seed);
  const auto make = [images, making, seed](int64_t index) {
    CounterRandom random(randomKey(RandomUse::making, seed, static_cast<uint64_t>(index)));
    auto [image, flags] = images->make(index);
    addGrain(making, 3, random, image.pixels);
    return encoded(making, image, std::move(flags), index);
  };
  NewSplit split{.name = {}, .images = count, .make = make};
  split.info.labels = &find(labelKinds(), "flags", "labels"), split.info.classes = making.flags;
  split.info.classNames = {making.container->classes.begin(), making.container->classes.end()};
  return split;
}

ImageSize sizeOf(const DataArguments& arguments, const std::string& size) {
  if (size == photographs) return {};
  const auto sides = split(size, "x");
  const auto width = numberWithin(sides.front(), 1, largestEdge), height = numberWithin(sides.back(), 1, largestEdge);
  if (sides.size() > 2 || !width || !height) {
    arguments.refuse("--size", concat("must be ", photographs, ", a side or WxH, each from 1 to ", largestEdge));
  }
  return {*height, *width, 3};
}

int64_t flagsOf(const DataArguments& arguments, const ContainerEntry& container) {
  const auto needed = std::ssize(container.classes);
  if (arguments.text("--labels") == automatic) return needed;
  const int64_t flags = arguments.number("--labels", 0, mostFlags);
  if (needed == 0 || flags == needed) return flags;
  arguments.refuse("--labels", concat("--container=", container.name, " has ", needed, " flags; leave it out"));
}

Making makingOf(const DataArguments& arguments) {
  Making making;
  making.container = &find(containers(), arguments.text("--container"), "--container");
  making.flags = flagsOf(arguments, *making.container);
  const Automatic& usual = making.flags > 0 ? ofFlags : ofClasses;
  const auto textOr = [&](std::string_view option, std::string_view standard) {
    const std::string text = arguments.text(option);
    return text == automatic ? std::string(standard) : text;
  };
  making.grain = arguments.text("--grain") == automatic ? usual.grain : arguments.number("--grain", 0, 127);
  making.seed = static_cast<uint64_t>(arguments.number("--seed", 0, int64_t{1} << 62));
  making.encoding = &find(imageEncodings(), textOr("--format", usual.format), "--format");
  making.size = sizeOf(arguments, textOr("--size", usual.size));
  const int64_t least = FlaggedImages::leastSide(making.flags);
  if (making.flags > 0 && std::min(making.size.height, making.size.width) < least) {
    arguments.refuse("--size", concat("must be at least ", least, " pixels for ", making.flags, " flags"));
  }
  return making;
}

/// What --images asks of a split.
struct AskedSplit {
  DataSplit split = DataSplit::training;
  int64_t images = 0;  // 0: all of --from
  uint64_t seed = 0;
};

std::vector<AskedSplit> askedSplits(const DataArguments& arguments, const Making& making) {
  constexpr DataSplit order[] = {DataSplit::training, DataSplit::validation, DataSplit::test};
  std::vector<std::string> counts = split(arguments.text("--images"), "+");
  if (counts.size() == 1) counts.push_back(counts.front());
  std::vector<AskedSplit> asked;
  for (const std::string& text : counts) {
    const auto count = numberWithin(text, 0, mostImages);
    if (!count || asked.size() == std::size(order)) {
      arguments.refuse("--images", concat("must be N, N+N or N+N+N, each from 0 to ", mostImages));
    }
    asked.push_back({order[asked.size()], *count, making.seed + asked.size()});
  }
  return asked;
}

/// Synthetic images, class after class.
Source syntheticSource(int64_t count, int64_t classes, uint64_t seed) {
  DatasetInfo info;
  info.height = info.width = 32, info.classes = classes;
  Source source{.images = syntheticDataset(count, info, seed), .classes = classes};
  for (int64_t i = 0; i < count; ++i) source.labels.push_back(i % classes);
  return source;
}

/// A data set of pixels with one class each.
std::shared_ptr<const Dataset> pixelsFrom(const DataArguments& arguments, DataSplit split) {
  std::shared_ptr<const Dataset> images = openDataset(arguments.text("--from"), {.split = split});
  const DatasetInfo& info = images->info();
  if (info.encoded()) arguments.refuse("--from", "has image files; give a data set of pixels, or synthetic");
  if (!info.labels->isOneClass())
    arguments.refuse("--from", concat("has ", info.labels->summary, "; give one with one"));
  return images;
}

/// Images of a data set that no split before has taken: where --from has no images of its own for a split, those of
/// another are shared out.
class SourceImages {
 public:
  explicit SourceImages(const DataArguments& arguments) : arguments_(arguments) {}

  /// Classes are told apart by their folders, so none may be without a training image.
  Source next(const AskedSplit& asked) {
    Source source{.images = pixelsFrom(arguments_, asked.split)};
    const DatasetInfo& info = source.images->info();
    source.classes = info.classes;
    int64_t& taken = taken_[info.split];
    source.first = taken;
    const int64_t left = source.images->size() - taken, count = asked.images == 0 ? left : asked.images;
    if (count > left) arguments_.refuse("--images", concat("--from has ", left, " images for this split"));
    taken += count;
    std::vector<uint8_t> memory, label(sizeof(int64_t));
    for (int64_t i = 0; i < count; ++i) {
      source.images->read(source.first + i, memory, label);
      std::memcpy(&source.labels.emplace_back(), label.data(), sizeof(int64_t));
    }
    const std::set classes(source.labels.begin(), source.labels.end());
    if (asked.split == DataSplit::training && std::ssize(classes) < info.classes) {
      arguments_.refuse("--images",
                        concat("has images of ", classes.size(), " of ", info.classes, " classes; make more"));
    }
    return source;
  }

 private:
  const DataArguments& arguments_;
  std::map<std::optional<DataSplit>, int64_t> taken_;
};

Source syntheticSource(const DataArguments& arguments, const AskedSplit& asked) {
  const int64_t classes = arguments.number("--classes", 2, 1'000'000);
  if (asked.images < classes) arguments.refuse("--images", concat("must be at least the number of classes, ", classes));
  return syntheticSource(asked.images, classes, asked.seed);
}

NewSplit flagSplit(const DataArguments& arguments, const AskedSplit& asked, const Making& making) {
  const bool hasFigures = arguments.text("--from") != synthetic;
  const auto figures = hasFigures ? pixelsFrom(arguments, asked.split) : nullptr;
  if (asked.images == 0 && !hasFigures) arguments.refuse("--images", "must be at least 1 for synthetic images");
  return flagSplit(figures, asked.images == 0 ? figures->size() : asked.images, making, asked.seed);
}

/// Refuses images that the container has no place for.
void checkContainer(const DataArguments& arguments, const Making& making, std::span<const NewSplit> splits) {
  const ContainerEntry& container = *making.container;
  if (!container.files) {
    arguments.refuse("--container",
                     "holds pixels alone, and image files are made; make them in another container, "
                     "and convert these");
  }
  if (!container.encoding.empty() && making.encoding->name != container.encoding) {
    arguments.refuse("--format", concat("--container=", container.name, " holds ", container.encoding, " files alone"));
  }
  const std::string breach = containerBreach(container, splits);
  if (!breach.empty()) arguments.refuse("--container", breach);
}

}  // namespace

int makeData(Arguments typed) {
  const DataArguments arguments("make", optionRows, typed);
  const Making making = makingOf(arguments);
  NewDataset dataset{
      .path = arguments.path(), .container = making.container, .shardImages = shardImages, .options = arguments.all()};
  SourceImages sources(arguments);
  const bool isSynthetic = arguments.text("--from") == synthetic;
  for (const AskedSplit& asked : askedSplits(arguments, making)) {
    const auto source = [&] { return isSynthetic ? syntheticSource(arguments, asked) : sources.next(asked); };
    dataset.splits.push_back(making.flags > 0 ? flagSplit(arguments, asked, making) : classSplit(source(), making));
    dataset.splits.back().name = rowOf(asked.split).written;
  }
  checkContainer(arguments, making, dataset.splits);
  writeAndShow(dataset);
  return 0;
}

std::string makeHelp() { return helpOf(optionRows); }

}  // namespace tandem
