#include "comm/clock_offsets.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int rounds = 8;

/// "MACHINE SAID HEARD": when the rank speaks, and when it had heard all in the exchange before.
struct Word {
  std::string machine;
  Nanos said{}, heardBefore{};
};

Word wordOf(const std::string& text) {
  const auto parts = split(text, " ");
  check(parts.size() == 3, "a word on clocks has three parts");
  return {parts[0], Nanos(numberIn<int64_t>(parts[1]).value()), Nanos(numberIn<int64_t>(parts[2]).value())};
}

/// What all ranks say, by round and rank.
std::vector<std::vector<Word>> talk(World& world, const std::string& machine, const std::function<Nanos()>& clock) {
  std::vector<std::vector<Word>> said;
  Nanos heard{};
  for (int round = 0; round <= rounds; ++round) {
    auto& words = said.emplace_back();
    const auto texts = world.exchange(concat(machine, ' ', clock().count(), ' ', heard.count()));
    heard = clock();
    for (const std::string& text : texts) words.push_back(wordOf(text));
  }
  return said;
}

}  // namespace

ClockOffset offsetOf(std::span<const ClockRound> all) {
  check(!all.empty(), "clocks are compared by a round or more");
  Nanos least = Nanos::min(), most = Nanos::max();
  for (const ClockRound& round : all) {
    least = std::max(least, round.otherSaid - round.heard);
    most = std::min(most, round.otherHeard - round.said);
  }
  return {least + (most - least) / 2, (most - least) / 2};
}

std::vector<ClockOffset> clockOffsets(World& world, const std::string& machine, const std::function<Nanos()>& clock) {
  const auto said = talk(world, machine, clock);
  const auto roundsWith = [&](size_t rank) {
    std::vector<ClockRound> between;
    for (size_t i = 0; i + 1 < said.size(); ++i) {
      between.push_back(
          {said[i][0].said, said[i + 1][0].heardBefore, said[i][rank].said, said[i + 1][rank].heardBefore});
    }
    return between;
  };
  std::map<std::string, ClockOffset> known{{said[0][0].machine, {}}};
  std::vector<ClockOffset> offsets;
  for (size_t rank = 0; rank < said[0].size(); ++rank) {
    const std::string& where = said[0][rank].machine;
    if (!known.contains(where)) known[where] = offsetOf(roundsWith(rank));
    offsets.push_back(known[where]);
  }
  return offsets;
}

}  // namespace tandem
