#pragma once

#include "measure/record/record.h"

namespace tandem {

/// Reads the images of a training's wrong predictions from its data set once more, as PNG. Pixels of at most 128 a side
/// stay as they are; of larger images and of image files the middle is taken, scaled to 128 x 128. An image that cannot
/// be read stays without a picture. Throws DataError where the data set cannot be opened. REQUIRES: a training.
void readWrongPictures(RunRecord& record);

}  // namespace tandem
