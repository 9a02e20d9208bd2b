#pragma once

#include <cstdint>
#include <string>

namespace tandem {

inline constexpr const char* loopback = "127.0.0.1";
inline constexpr int64_t lastPort = 65535;

inline bool isLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Where a process of a run, a rank, stands among all of them, and where they meet.
struct RankPlace {
  int rank = 0, size = 1;            ///< among all processes of the run
  int localRank = 0, localSize = 1;  ///< among those of this host
  std::string host = loopback;       ///< of the store of keys by which ranks meet
  int port = 0;
  std::string run = "run";   ///< the same on all ranks of a run, and on none of another
  std::string interface {};  ///< network interface through which ranks exchange; empty: loopback

  bool operator==(const RankPlace&) const = default;
};

/// The place of a rank of a run that is on one host alone.
inline RankPlace placeOnOneHost(int rank, int size, int port, const std::string& run = RankPlace().run) {
  return {.rank = rank, .size = size, .localRank = rank, .localSize = size, .port = port, .run = run};
}

}  // namespace tandem
