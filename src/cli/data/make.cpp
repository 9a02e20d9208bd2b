#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "data/dataset/dataset.h"
#include "data/transform/working_image.h"
#include "formats/image/encode.h"
#include "formats/io/checksum.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view photographs = "photographs", synthetic = "synthetic";
constexpr int64_t largestEdge = 8192, mostImages = 100'000'000;

constexpr CommandOption options[] = {
    {"--from", "PATH|synthetic", "data set of pixels, whose labels are kept", synthetic},
    {"--images", "N", "images of each split; 0 takes all of --from", "1000"},
    {"--classes", "N", "classes of synthetic images", "10"},
    {"--size", "WxH|photographs", "pixels of each image; photographs draws them, most 500x375 or 375x500", photographs},
    {"--format", "jpeg|png", "of the files", "jpeg"},
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

void writeFile(const fs::path& path, std::span<const uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw StorageError(concat("cannot write ", path.string(), "; is the disk full?"));
}

void makeFolder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw StorageError(concat("cannot make folder '", path.string(), "': ", error.message()));
}

/// With zeros in front, so that names are in the order of their numbers.
std::string digits(int64_t number, size_t width) {
  const std::string text = concat(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

std::string folderOfClass(int64_t label) { return "class" + digits(label, 5); }

/// The images of a split that others are made of, and the class of each.
struct Source {
  std::unique_ptr<Dataset> images;
  std::vector<int64_t> labels;  // of those that are made
};

/// Writes the images of a split. Returns the SHA-256 of those of its files, in order.
std::string writeSplit(const Source& source, const Making& making, const fs::path& folder) {
  for (const int64_t label : std::set(source.labels.begin(), source.labels.end())) {
    makeFolder(folder / folderOfClass(label));
  }
  std::vector<std::string> sums(source.labels.size());
  at::parallel_for(0, std::ssize(source.labels), 1, [&](int64_t first, int64_t end) {
    std::vector<uint8_t> memory, label(sizeof(int64_t));
    for (int64_t i = first; i < end; ++i) {
      const Sample sample = source.images->read(i, memory, label);
      const std::vector<uint8_t> bytes = making.encoding->encode(made(sample, making, i));
      const fs::path ofClass = folder / folderOfClass(source.labels[static_cast<size_t>(i)]);
      writeFile(ofClass / concat(digits(i, 8), making.encoding->ending), bytes);
      sums[static_cast<size_t>(i)] = sha256Of(bytes);
    }
  });
  return sha256Of(asBytes(join(sums, "")));
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
  Source source{syntheticDataset(count, info, seed), {}};
  for (int64_t i = 0; i < count; ++i) source.labels.push_back(i % classes);
  return source;
}

/// The first images of a data set. Classes are told apart by their folders, so none may be without an image.
Source sourceFrom(const DataArguments& arguments, DataSplit split, int64_t asked) {
  Source source{openDataset(arguments.text("--from"), {.split = split}), {}};
  const DatasetInfo& info = source.images->info();
  if (info.encoded()) arguments.refuse("--from", "has image files; give a data set of pixels, or synthetic");
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

/// The path without slashes at its end.
std::string folderOf(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

int makeData(Arguments typed) {
  const DataArguments arguments("make", options, typed);
  const Making making = makingOf(arguments);
  const fs::path out = folderOf(arguments.path()), part = out.string() + ".part";
  std::error_code error;
  for (const fs::path& path : {out, part}) {
    if (!fs::exists(path, error)) continue;
    throw StorageError(concat("'", path.string(), "' is there already; give another path, or remove it"));
  }
  const Source training = sourceOf(arguments, DataSplit::training, making.seed);
  const Source test = sourceOf(arguments, DataSplit::test, making.seed);
  nlohmann::ordered_json manifest{{"format", "tandem-data"},
                                  {"version", 1},
                                  {"from", arguments.text("--from")},
                                  {"size", arguments.text("--size")},
                                  {"encoding", making.encoding->name},
                                  {"grain", making.grain},
                                  {"seed", making.seed}};
  for (const auto& [source, folder] : {std::pair(&training, "train"), {&test, "val"}}) {
    const std::string sum = writeSplit(*source, making, part / folder);
    manifest[folder] = {{"images", source->labels.size()}, {"sha256", sum}};
    std::cout << (out / folder).string() << ": " << source->labels.size() << " images, sha256 of their sums " << sum
              << '\n';
  }
  const std::string text = manifest.dump(1) + '\n';
  writeFile(part / "tandem-data.json", asBytes(text));
  fs::rename(part, out, error);
  if (error) throw StorageError(concat("cannot rename '", part.string(), "': ", error.message()));
  return 0;
}

std::string makeHelp() { return helpOf(options); }

}  // namespace tandem
