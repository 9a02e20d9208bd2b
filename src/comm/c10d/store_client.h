#pragma once

#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "comm/rank_place.h"

namespace tandem {

using Store = c10::intrusive_ptr<c10d::Store>;

/// The key, outside of all runs, that names the run for which a store is served now.
inline constexpr const char* servedRun = "tandem run";

/// What c10d logs comes as an exception as well, so only that is told. Any thread may call it, any number of times.
void silenceC10d();

/// The ranks' store of keys as one rank reaches it.
///
/// No call lasts longer than its patience and some 1.2 s, even if the store's host has vanished from the network.
/// c10d itself would wait as long as TCP does, a quarter of an hour. Calls throw PeerError if the store is gone, and at
/// once from then on. One call at a time; any thread may make it.
class StoreClient {
 public:
  /// Throws RendezvousError if the host has no address, if the store cannot be reached within `timeoutSeconds`, or if
  /// it is served for another run.
  StoreClient(const RankPlace& place, double timeoutSeconds);

  void set(const std::string& key, const std::string& text);
  /// Whether all keys are there.
  bool has(const std::vector<std::string>& keys);
  /// Whether all keys are there within `patienceSeconds`.
  bool await(const std::vector<std::string>& keys, double patienceSeconds);
  /// REQUIRES: all keys are there.
  std::vector<std::string> get(const std::vector<std::string>& keys);
  /// Throws PeerError if the store does not answer.
  void ping();

  const Store& store() const { return store_; }  ///< of this run
  std::string address() const;
  /// The name of rank 0's host, once it is known, for error texts.
  void setHost(const std::string& host) { host_ = host; }

 private:
  using Question = std::function<void(c10d::Store&)>;
  /// Asks on a thread of its own, which is left behind if no answer comes.
  void ask(const Question& question, double patienceSeconds);
  /// The same for a question without a wait. Every failure means that the store is gone.
  void askOrFail(const Question& question);
  [[noreturn]] void fail(const std::string& why);
  void requireServedRun();

  const RankPlace place_;
  const double timeoutSeconds_;
  Store all_, store_;
  std::string host_;
  std::string lost_;  // why the store is gone; empty: it is not
};

}  // namespace tandem
