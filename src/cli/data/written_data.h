#pragma once

#include "data/writer/write_dataset.h"

namespace tandem {

/// Writes a data set with a progress line on a terminal, and prints what is there then, and what was left out. Throws
/// as writeDataset().
void writeAndShow(const NewDataset& dataset);

}  // namespace tandem
