#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "cli/data/written_data.h"
#include "data/dataset/dataset.h"
#include "data/writer/sample_converter.h"
#include "formats/io/checksum.h"

namespace tandem {
namespace {

constexpr std::string_view allSplits = "all", fails = "fail", skips = "skip";
constexpr int64_t largestSide = 8192, mostClasses = 100'000'000;

constexpr CommandOption optionRows[] = {
    {"--to", "NAME", "container that is written", "packed"},
    {"--samples", "NAME", "what the images become", "same"},
    {"--size", "N", "the shorter side is scaled to so many pixels, and the middle cropped; 0: images keep their size",
     "0"},
    {"--data-split", "NAME", "training, validation, test, or all as far as they are there", allSplits},
    {"--shard", "N", "images in a file at most; in a folder, between two that are brought to disk", "4096"},
    {"--classes", "N", "number of classes, where the data set does not say it", "0"},
    {"--bad-image", "fail|skip", "what one that cannot be read does: ends the command, or is left out", fails},
};

/// A row of what images become.
struct SampleForm {
  std::string_view name, summary;
  bool pixels;                ///< whether they must be pixels
  std::string_view encoding;  ///< of imageEncodings(); empty: files stay as they are
  bool grey = false;          ///< whether pixels have one channel
};

constexpr SampleForm forms[] = {
    {"same", "image files byte by byte; pixels as they are, or as PNG where the container holds files alone", false,
     ""},
    {"pixels", "decoded to the size of --size, as in training: no decoder runs later", true, ""},
    {"grey", "as pixels, with one channel", true, "", true},
    {"png", "encoded without loss", false, "png"},
    {"jpeg", "encoded with quality 90", false, "jpeg"},
};

/// A split that is converted, and what tells its images from others.
struct OpenSplit {
  std::string name, identity;
  std::shared_ptr<const Dataset> images;
};

std::array<int64_t, 3> someOf(const Dataset& images) { return {0, images.size() / 2, images.size() - 1}; }

/// Number of images, and a checksum over three of them.
std::string identityOf(const Dataset& images) {
  Sha256 sum;
  std::vector<uint8_t> memory, label(labelBytes(*images.info().labels, images.info().classes));
  for (const int64_t index : someOf(images)) {
    try {
      sum.add(images.read(index, memory, label).bytes);
      sum.add(label);
    } catch (const DataError& failure) {
      sum.add(asBytes(failure.what()));
    }
  }
  return concat(images.size(), " images, sha256 of three ", sum.text());
}

std::span<const DataSplitEntry> askedSplits(const DataArguments& arguments) {
  constexpr std::string_view option = "--data-split";
  const std::string asked = arguments.text(option);
  const auto rows = dataSplits();
  if (asked == allSplits) return rows;
  const auto row = std::ranges::find(rows, asked, &DataSplitEntry::name);
  if (row != rows.end()) return {row, 1};
  std::vector<std::string> valid = namesOf(rows);
  valid.emplace_back(allSplits);
  throw UsageError(unknownName(option, asked, valid));
}

/// Those that are asked for, each by the word of the images that it really has. A data set without splits is written
/// once.
std::vector<OpenSplit> openSplits(const DataArguments& arguments) {
  const auto asked = askedSplits(arguments);
  const int64_t classes = arguments.number("--classes", 0, mostClasses);
  std::vector<OpenSplit> splits;
  std::optional<MissingSplit> missing;
  for (const DataSplitEntry& row : asked) {
    try {
      std::shared_ptr<const Dataset> images = openDataset(arguments.path(), {.split = row.split, .classes = classes});
      const auto given = images->info().split;
      const bool hasItsTurn = asked.size() > 1 && given && given != row.split;
      if (hasItsTurn) continue;
      splits.push_back({std::string(rowOf(given.value_or(row.split)).written), identityOf(*images), std::move(images)});
      if (!given) break;
    } catch (const MissingSplit& failure) {
      missing = failure;
    }
  }
  if (splits.empty()) throw MissingSplit(*missing);
  return splits;
}

const ContainerEntry& containerFor(const DataArguments& arguments, const DatasetInfo& info) {
  const ContainerEntry& container = find(containers(), arguments.text("--to"), "--to");
  if (container.needsClasses && info.classes == 0) {
    arguments.refuse("--classes", concat(arguments.path(), " does not say how many classes it has; give their number"));
  }
  return container;
}

/// Refuses a form that the container has no place for.
void checkForm(const DataArguments& arguments, const SampleForm& form, const ContainerEntry& container, bool encoded) {
  const bool becomesFiles = form.pixels ? false : encoded || !form.encoding.empty();
  if (form.pixels && !container.pixels) {
    arguments.refuse("--samples", concat("--to=", container.name, " holds image files alone; use --to=",
                                         containersThat([](const ContainerEntry& other) { return other.pixels; }),
                                         ", or --samples=png or jpeg"));
  }
  if (becomesFiles && !container.files) {
    arguments.refuse("--samples",
                     concat("--to=", container.name, " holds pixels alone; use --samples=pixels or grey, with --size"));
  }
  if (!form.encoding.empty() && !container.encoding.empty() && form.encoding != container.encoding) {
    arguments.refuse("--samples", concat("--to=", container.name, " holds ", container.encoding,
                                         " files alone; use --samples=", container.encoding));
  }
}

Conversion conversionFor(const DataArguments& arguments, const ContainerEntry& container, const DatasetInfo& info) {
  const SampleForm& form = find(std::span<const SampleForm>(forms), arguments.text("--samples"), "--samples");
  checkForm(arguments, form, container, info.encoded());
  Conversion conversion{
      .side = arguments.number("--size", 0, largestSide), .grey = form.grey, .onlyFiles = container.encoding};
  const bool isSame = !form.pixels && form.encoding.empty();
  if (info.encoded() && isSame && conversion.side > 0) {
    arguments.refuse("--size", "image files stay as they are; give --samples=pixels, png or jpeg");
  }
  if (info.encoded() && !isSame && conversion.side == 0) {
    arguments.refuse("--samples", "image files have sizes of their own; give one for all by --size");
  }
  const bool becomePng = isSame && !info.encoded() && !container.pixels;
  const std::string_view encoding = becomePng ? "png" : form.encoding;
  if (!encoding.empty()) conversion.encoding = &find(imageEncodings(), encoding, "encoding");
  return conversion;
}

/// Refuses image files that the container has no place for, as far as some of them tell.
void checkFiles(const DataArguments& arguments, const OpenSplit& split, const Conversion& conversion) {
  if (!split.images->info().encoded() || conversion.encoding != nullptr || conversion.onlyFiles.empty()) return;
  std::vector<uint8_t> memory, label(labelBytes(*split.images->info().labels, split.images->info().classes));
  for (const int64_t index : someOf(*split.images)) {
    try {
      const auto format = imageFormatOf(split.images->read(index, memory, label).bytes);
      const std::string breach = format ? fileBreach(conversion, *format.value()) : "";
      if (!breach.empty()) arguments.refuse("--samples", concat(split.images->nameOf(index), ": ", breach));
    } catch (const DataError&) {
      continue;  // what --bad-image says happens when it is written
    }
  }
}

NewSplit newSplit(const OpenSplit& split, const Conversion& conversion) {
  const auto converter = std::make_shared<const SampleConverter>(split.images, conversion);
  return {.name = split.name,
          .images = split.images->size(),
          .info = converter->info(),
          .make = [converter](int64_t index) { return converter->make(index); }};
}

bool skipsBad(const DataArguments& arguments) {
  const std::string text = arguments.text("--bad-image");
  if (text != fails && text != skips) arguments.refuse("--bad-image", "must be fail or skip");
  return text == skips;
}

template <class Row>
std::string linesOf(std::string_view option, std::span<const Row> rows) {
  std::string lines;
  for (const Row& row : rows) {
    std::string left = concat("  ", option, '=', row.name);
    left.resize(26, ' ');
    lines += concat(left, row.summary, '\n');
  }
  return lines;
}

}  // namespace

int convertData(Arguments typed) {
  const DataArguments arguments("convert", optionRows, typed, 2);
  NewDataset dataset{.path = arguments.path(1),
                     .shardImages = arguments.number("--shard", 1, 1 << 24),
                     .skipBad = skipsBad(arguments),
                     .options = arguments.all()};
  // What is there may have been made before one that cannot be read was to be left out.
  std::erase_if(dataset.options, [](const auto& option) { return option.first == "bad-image"; });
  const std::vector<OpenSplit> splits = openSplits(arguments);
  const DatasetInfo& info = splits.front().images->info();
  dataset.container = &containerFor(arguments, info);
  const Conversion conversion = conversionFor(arguments, *dataset.container, info);
  for (const OpenSplit& split : splits) {
    checkFiles(arguments, split, conversion);
    dataset.options.emplace_back(split.name, split.identity);
    dataset.splits.push_back(newSplit(split, conversion));
  }
  if (const auto breach = containerBreach(*dataset.container, dataset.splits); !breach.empty()) {
    arguments.refuse("--to", breach);
  }
  writeAndShow(dataset);
  return 0;
}

std::string convertHelp() {
  return concat(helpOf(optionRows), '\n', linesOf("--to", containers()), '\n',
                linesOf("--samples", std::span<const SampleForm>(forms)));
}

}  // namespace tandem
