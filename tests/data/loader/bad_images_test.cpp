#include "data/loader/bad_images.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/loader/batch_maker.h"

namespace tandem {
namespace {

TEST(BadImages, AreCountedOnceAndNamed) {
  BadImages bad({.blackened = false, .most = 4});
  EXPECT_EQ(bad.text(), "");
  for (const int64_t index : {3, 1, 3}) bad.note(index, DataError(concat("image ", index)));
  EXPECT_EQ(bad.text(), "2 images could not be read, the next ones took their place: image 1; image 3");
  for (const int64_t index : {5, 4}) bad.note(index, DataError(concat("image ", index)));
  EXPECT_EQ(bad.text(), "4 images could not be read, the next ones took their place: image 1; image 3; image 4; ...");
  EXPECT_THROW(bad.note(9, DataError("image 9")), DataError);
}

TEST(BadImages, TellOfEachOnceAlsoOfTheOneTooMany) {
  BadImages bad({.blackened = false, .most = 1});
  std::string told;
  bad.tell([&](int64_t index, const std::string& reason) { told += concat(index, ' ', reason, '\n'); });
  bad.note(3, DataError("torn")), bad.note(3, DataError("torn"));
  EXPECT_THROW(bad.note(1, DataError("cut")), DataError);
  EXPECT_EQ(told, "3 torn\n1 cut\n");
}

/// Images of one colour, their index + 1. Some cannot be read; the labels of some are wrong.
class TornDataset final : public Dataset {
 public:
  TornDataset(std::set<int64_t> torn, std::set<int64_t> mislabelled = {})
      : torn_(std::move(torn)), mislabelled_(std::move(mislabelled)) {
    info_.name = "torn", info_.height = info_.width = 2, info_.channels = 3, info_.classes = 6;
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return 6; }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    storeClass(mislabelled_.contains(index) ? 6 : index, label);
    if (torn_.contains(index)) throw DataError(concat("image ", index, " is torn"));
    memory.assign(12, static_cast<uint8_t>(index + 1));
    return {.bytes = memory, .height = 2, .width = 2, .channels = 3};
  }

 private:
  DatasetInfo info_;
  std::set<int64_t> torn_, mislabelled_;
};

/// The colours and the labels of the data set's images in order.
std::pair<std::vector<int64_t>, std::vector<int64_t>> made(std::shared_ptr<const Dataset> dataset,
                                                           std::shared_ptr<BadImages> bad) {
  const BatchMaker maker(std::move(dataset), {.globalBatch = 6,
                                              .first = 0,
                                              .count = 6,
                                              .height = 2,
                                              .width = 2,
                                              .seed = 1,
                                              .shuffle = false,
                                              .augment = nullptr,
                                              .badImages = std::move(bad)});
  const HostBatch batch = maker.make(0);
  const auto values = [](const at::Tensor& tensor) {
    const at::Tensor whole = tensor.to(at::kLong).contiguous();
    return std::vector<int64_t>(whole.const_data_ptr<int64_t>(), whole.const_data_ptr<int64_t>() + whole.numel());
  };
  return {values(batch.images.select(1, 0).select(1, 0).select(1, 0)), values(batch.labels)};
}

std::shared_ptr<BadImages> bears(int64_t most, bool blackened) {
  return std::make_shared<BadImages>(BadImages::Policy{.blackened = blackened, .most = most});
}

using Numbers = std::vector<int64_t>;

TEST(BatchMaker, LetsTheNextGoodImageTakeThePlaceOfABadOne) {
  const auto bad = bears(3, false);
  const auto [colours, labels] = made(std::make_shared<TornDataset>(std::set<int64_t>{1, 2, 5}), bad);
  EXPECT_EQ(colours, (Numbers{1, 4, 4, 4, 5, 1}));
  EXPECT_EQ(labels, (Numbers{0, 3, 3, 3, 4, 0}));
  EXPECT_NE(bad->text(), "");
}

TEST(BatchMaker, CanBlackenABadImage) {
  const auto [colours, labels] = made(std::make_shared<TornDataset>(std::set<int64_t>{1, 2}), bears(2, true));
  EXPECT_EQ(colours, (Numbers{1, 0, 0, 4, 5, 6}));
  EXPECT_EQ(labels, (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST(BatchMaker, EndsAtABadImageOrAtTooManyOfThem) {
  const auto torn = std::make_shared<TornDataset>(std::set<int64_t>{1, 2});
  EXPECT_THROW(made(torn, nullptr), DataError);
  EXPECT_THROW(made(torn, bears(1, false)), DataError);
  EXPECT_THROW(made(torn, bears(1, true)), DataError);
  EXPECT_THROW(made(std::make_shared<TornDataset>(std::set<int64_t>{0, 1, 2, 3, 4, 5}), bears(9, false)), DataError);
}

TEST(BatchMaker, BearsNoWrongLabel) {
  const auto mislabelled = std::make_shared<TornDataset>(std::set<int64_t>{}, std::set<int64_t>{2});
  EXPECT_THROW(made(mislabelled, bears(6, false)), DataError);
}

TEST(BatchMaker, LetsTheNextImageTakeThePlaceOfOneWithoutALabel) {
  const std::set<int64_t> damaged{2, 5};
  for (const bool blackened : {false, true}) {
    const auto bad = bears(2, blackened);
    const auto [colours, labels] = made(std::make_shared<TornDataset>(damaged, damaged), bad);
    EXPECT_EQ(colours, (Numbers{1, 2, 4, 4, 5, 1}));
    EXPECT_EQ(labels, (Numbers{0, 1, 3, 3, 4, 0}));
    const bool said = bad->text().find("image 2 is torn; it has no valid label, so the next") != std::string::npos;
    EXPECT_EQ(said, blackened) << bad->text();
  }
  EXPECT_THROW(made(std::make_shared<TornDataset>(damaged, damaged), bears(1, true)), DataError);
}

TEST(BatchMaker, BlackensThoseThatHaveALabelBesideThoseThatHaveNone) {
  const auto torn = std::make_shared<TornDataset>(std::set<int64_t>{1, 2}, std::set<int64_t>{1});
  const auto [colours, labels] = made(torn, bears(2, true));
  EXPECT_EQ(colours, (Numbers{1, 0, 0, 4, 5, 6}));
  EXPECT_EQ(labels, (Numbers{0, 2, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace tandem
