#include "run/training/wrong_pictures.h"

#include <algorithm>
#include <memory>

#include "base/catalog.h"
#include "data/dataset/dataset.h"
#include "data/writer/sample_converter.h"
#include "formats/image/encode.h"

namespace tandem {
namespace {

constexpr int64_t largestSide = 128;

/// The images of the split that an evaluation read. Their mean and deviation do not matter.
std::shared_ptr<const Dataset> imagesOf(const EvaluationRecord& evaluation, const Config& config) {
  static const Normalization any;
  return openDataset(config.input.data, {.split = find(dataSplits(), evaluation.split, "split").split,
                                         .normalization = &any,
                                         .classes = config.network.classes});
}

SampleConverter pictureMaker(std::shared_ptr<const Dataset> images) {
  const DatasetInfo& info = images->info();
  const bool isSmall = !info.encoded() && std::max(info.height, info.width) <= largestSide;
  return {std::move(images),
          {.side = isSmall ? 0 : largestSide, .encoding = &find(imageEncodings(), "png", "image encoding")}};
}

}  // namespace

void readWrongPictures(RunRecord& record) {
  for (EvaluationRecord& evaluation : record.training->evaluations) {
    if (evaluation.wrong.empty()) continue;
    const auto images = imagesOf(evaluation, record.config);
    const SampleConverter maker = pictureMaker(images);
    for (WrongPrediction& wrong : evaluation.wrong) {
      try {
        if (wrong.index < images->size()) wrong.png = maker.make(wrong.index).bytes;
      } catch (const DataError&) {  // the evaluation has said so
      }
    }
  }
}

}  // namespace tandem
