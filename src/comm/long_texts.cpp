#include "comm/long_texts.h"

#include <algorithm>

#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr size_t pieceBytes = 4 << 20;  // half of what c10d's TCPStore takes

}  // namespace

std::vector<std::string> longTextsToFirst(World& world, const std::string& text) {
  size_t longest = 0;
  for (const std::string& bytes : world.exchange(concat(text.size()))) {
    longest = std::max(longest, static_cast<size_t>(numberIn<int64_t>(bytes).value()));
  }
  std::vector<std::string> whole(world.place().rank == 0 ? static_cast<size_t>(world.place().size) : 0);
  for (size_t begin = 0; begin < longest; begin += pieceBytes) {
    const auto pieces = world.toFirst(begin < text.size() ? text.substr(begin, pieceBytes) : "");
    for (size_t rank = 0; rank < pieces.size(); ++rank) whole[rank] += pieces[rank];
  }
  return whole;
}

}  // namespace tandem
