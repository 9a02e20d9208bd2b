#include "comm/launched_meeting.h"

#include "comm/listener.h"

namespace tandem {
namespace {

/// Where all ranks are on one host and serve the store themselves, no other host needs to reach it.
RankPlace placeOf(const LaunchedRank& launched) {
  RankPlace place = launched.place;
  if (!launched.launcherServes && place.localSize == place.size) place.host = loopback;
  return place;
}

}  // namespace

LaunchedMeeting meetingOf(const LaunchedRank& launched) {
  LaunchedMeeting meeting{placeOf(launched), nullptr};
  const RankPlace& place = meeting.place;
  if (place.rank == 0 && !launched.launcherServes) meeting.store = serveRanks(listenOn(place.host, place.port));
  return meeting;
}

}  // namespace tandem
