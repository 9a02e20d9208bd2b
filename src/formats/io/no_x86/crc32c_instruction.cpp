#include "formats/io/crc32c_instruction.h"

namespace tandem {

Crc32cUpdate crc32cInstruction() { return nullptr; }

}  // namespace tandem
