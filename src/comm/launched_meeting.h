#pragma once

#include <memory>

#include "comm/rank_environment.h"
#include "comm/world.h"

namespace tandem {

/// Where the ranks that a launcher started meet, as one of them sees it.
struct LaunchedMeeting {
  RankPlace place;
  std::unique_ptr<RankStore> store;  ///< on rank 0, unless the launcher serves it; all meetings end before it
};

/// Serves the store where this rank has to. Throws RendezvousError if its address cannot be listened on.
LaunchedMeeting meetingOf(const LaunchedRank& launched);

}  // namespace tandem
