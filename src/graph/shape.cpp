#include "graph/shape.h"

#include "base/text.h"

namespace tandem {

std::string shapeText(const ImageShape& shape) {
  return concat("[", shape.channels, ", ", shape.height, ", ", shape.width, "]");
}

}  // namespace tandem
