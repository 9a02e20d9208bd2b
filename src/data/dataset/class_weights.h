#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "data/dataset/dataset.h"

namespace tandem {

/// Weights of the classes in a loss, [classes] fp32, by how often the data set's images have them. With one class per
/// image N / (K n), of N images, K classes and n images of this class, as scikit-learn's "balanced". With flags (N - n)
/// / n, the number of images without it over those with it, as for PyTorch's pos_weight. 1 for a class that no image
/// has, and for those of a network that the data set lacks. Reads all labels, and no images. An image whose label
/// cannot be read does not count. Throws DataError for a label that is none of the classes. REQUIRES: no
/// info().labelsInside, and `classes` is at least the data set's.
at::Tensor balancedClassWeights(const Dataset& images, int64_t classes);

/// The weights in a file, one number above 0 a line, in the order of the classes. Throws DataError with the line.
at::Tensor classWeightsIn(const std::string& path, int64_t classes);

}  // namespace tandem
