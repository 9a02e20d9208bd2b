#include "data/dataset/dataset.h"

#include "base/text.h"

namespace tandem {

std::string Dataset::nameOf(int64_t index) const {
  return concat("image ", index, " (from 0) of data set '", info().name, "'");
}

}  // namespace tandem
