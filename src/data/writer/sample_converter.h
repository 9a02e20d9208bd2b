#pragma once

#include <memory>

#include "data/loader/input_maker.h"
#include "data/writer/container.h"
#include "formats/image/encode.h"

namespace tandem {

/// What becomes of a data set's samples.
struct Conversion {
  /// The shorter side is scaled to so many pixels, and the middle cropped; 0: images keep their sizes.
  int64_t side = 0;
  /// In which pixels are written as files; null: they stay pixels.
  const ImageEncoding* encoding = nullptr;
  bool grey = false;                ///< whether pixels that stay pixels get one channel
  std::string_view onlyFiles = {};  ///< row of imageEncodings() that files which stay as they are must have; empty: any
};

/// Why a file may not stay as it is, and what to do; empty: it may.
std::string fileBreach(const Conversion& conversion, const ImageFormat& format);

/// Makes the samples of a container from those of a data set. Thread-safe.
class SampleConverter {
 public:
  /// Without a side, an encoding and grey, samples stay as they are. REQUIRES: a side, where the data set has image
  /// files that do not.
  SampleConverter(std::shared_ptr<const Dataset> images, const Conversion& conversion);

  /// Throws DataError that names the sample, for one that cannot be read, and for a label that cannot be.
  WrittenSample make(int64_t index) const;

  /// Describes what make() gives.
  DatasetInfo info() const;
  const Dataset& images() const { return *images_; }

 private:
  bool keepsSamples() const { return conversion_.side == 0 && conversion_.encoding == nullptr && !conversion_.grey; }
  /// A sample as the data set has it.
  void copy(int64_t index, WrittenSample& sample) const;
  /// A sample whose pixels pass through the transforms of training.
  void transform(int64_t index, WrittenSample& sample) const;
  void checkLabel(const WrittenSample& sample) const;

  const std::shared_ptr<const Dataset> images_;
  const Conversion conversion_;
  const InputMaker pixels_;
};

}  // namespace tandem
