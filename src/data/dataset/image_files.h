#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/transform/image_preparation.h"

namespace tandem {

/// Image files as a data set of inputs [crop, crop, 3]; get() reads the file. Labels are -1. get() throws DataError
/// "PATH: REASON" for a file that cannot be read or decoded.
std::unique_ptr<Dataset> imageFiles(std::vector<std::string> paths, const ImagePreparation& preparation,
                                    const Normalization& normalization);

}  // namespace tandem
