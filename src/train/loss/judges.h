#pragma once

#include "train/loss/loss.h"

namespace tandem {

/// Of one class per image, whatever loss was trained (as timm evaluates). The loss of an image is
/// -log softmax(outputs)[label].
const Judge& judgeOfClasses();

/// Of binary cross-entropy: any number of classes per image. The loss of an image is the mean over its classes.
const Judge& judgeOfFlags();

}  // namespace tandem
