#include "cli/data/flagged_images.h"

#include <algorithm>
#include <numeric>

namespace tandem {
namespace {

/// Flags that an image has, of so many: as in ChestX-ray14 most have none, one or two.
constexpr int64_t oneInFlags = 8;
constexpr int64_t leastCell = 8, patternSide = 8;

int64_t gridFor(int64_t flags) {
  int64_t side = 1;
  while (side * side < flags) ++side;
  return side;
}

/// Black and white squares that are those of the flag in every data set.
std::vector<uint8_t> patternOf(int64_t flag) {
  CounterRandom random(randomKey(RandomUse::pixels, 0, static_cast<uint64_t>(flag)));
  std::vector<uint8_t> squares(patternSide * patternSide);
  for (uint8_t& square : squares) square = random.below(2) == 0 ? 0 : 255;
  return squares;
}

/// A shade that rises from one corner to another.
Image background(const ImageSize& size, CounterRandom& random) {
  Image image;
  image.resize(size.height, size.width);
  const double dark = random.between(24, 72), down = random.between(0, 48), across = random.between(0, 48);
  auto* out = image.pixels.data();
  for (int64_t y = 0; y < size.height; ++y) {
    const double row = dark + down * static_cast<double>(y) / static_cast<double>(size.height);
    for (int64_t x = 0; x < size.width; ++x) {
      const auto value = static_cast<uint8_t>(row + across * static_cast<double>(x) / static_cast<double>(size.width));
      out = std::fill_n(out, 3, value);
    }
  }
  return image;
}

/// A place within a cell that takes seven tenths of its sides, or more.
ImageWindow placeIn(const ImageWindow& cell, CounterRandom& random) {
  const double part = random.between(0.7, 1);
  ImageWindow place{.height = static_cast<int64_t>(part * static_cast<double>(cell.height)),
                    .width = static_cast<int64_t>(part * static_cast<double>(cell.width))};
  place.top = cell.top + static_cast<int64_t>(random.below(static_cast<uint64_t>(cell.height - place.height + 1)));
  place.left = cell.left + static_cast<int64_t>(random.below(static_cast<uint64_t>(cell.width - place.width + 1)));
  return place;
}

}  // namespace

FlaggedImages::FlaggedImages(std::shared_ptr<const Dataset> figures, int64_t flags, const ImageSize& size,
                             uint64_t seed)
    : figures_(std::move(figures)), flags_(flags), grid_(gridFor(flags)), size_(size), seed_(seed) {
  if (!figures_) return;
  const DatasetInfo& info = figures_->info();
  ofClass_.resize(static_cast<size_t>(info.classes));
  std::vector<uint8_t> memory, label(labelBytes(*info.labels, info.classes));
  for (int64_t i = 0; i < figures_->size(); ++i) {
    figures_->read(i, memory, label);
    ofClass_.at(static_cast<size_t>(info.labels->classesIn(label).front())).push_back(i);
  }
}

int64_t FlaggedImages::leastSide(int64_t flags) { return gridFor(flags) * leastCell; }

FlaggedImages::Drawn FlaggedImages::make(int64_t index) const {
  CounterRandom random(randomKey(RandomUse::making, seed_, static_cast<uint64_t>(index), 1));
  Drawn drawn{background(size_, random), std::vector<uint8_t>(static_cast<size_t>(flags_))};
  std::vector<int64_t> cells(static_cast<size_t>(grid_ * grid_));
  std::iota(cells.begin(), cells.end(), 0);
  const int64_t height = size_.height / grid_, width = size_.width / grid_;
  for (int64_t flag = 0; flag < flags_; ++flag) {
    if (random.below(oneInFlags) != 0) continue;
    drawn.flags[static_cast<size_t>(flag)] = 1;
    std::swap(cells[random.below(cells.size())], cells.back());
    const ImageWindow cell{cells.back() / grid_ * height, cells.back() % grid_ * width, height, width};
    cells.pop_back();
    draw(flag, placeIn(cell, random), random, drawn.image);
  }
  return drawn;
}

std::vector<uint8_t> FlaggedImages::figureOf(int64_t flag, const ImageWindow& place, CounterRandom& random) const {
  const auto scaled = [&](std::span<const uint8_t> pixels, const ImageSize& size) {
    WorkingImage image(pixels, size);
    image.resize(place.height, place.width);
    std::vector<uint8_t> out(static_cast<size_t>(place.height * place.width * 3));
    image.write(out);
    return out;
  };
  const auto number = static_cast<size_t>(flag);
  if (number >= ofClass_.size() || ofClass_[number].empty()) {
    return scaled(patternOf(flag), {patternSide, patternSide, 1});
  }
  const auto& own = ofClass_[number];
  std::vector<uint8_t> memory, label(labelBytes(*figures_->info().labels, figures_->info().classes));
  const Sample sample = figures_->read(own[random.below(own.size())], memory, label);
  return scaled(sample.bytes, {sample.height, sample.width, sample.channels});
}

// Light is added, so that nothing black hides the background. Colours are seen by their green.
void FlaggedImages::draw(int64_t flag, const ImageWindow& place, CounterRandom& random, Image& image) const {
  const std::vector<uint8_t> figure = figureOf(flag, place, random);
  const auto* from = figure.data();
  for (int64_t y = place.top; y < place.bottom(); ++y) {
    uint8_t* out = image.pixels.data() + (y * image.width + place.left) * 3;
    for (int64_t x = 0; x < place.width; ++x, from += 3) {
      const int dark = 255 - *out;
      out = std::fill_n(out, 3, static_cast<uint8_t>(*out + dark * from[1] / 255));
    }
  }
}

}  // namespace tandem
