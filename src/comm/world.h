#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/group.h"
#include "comm/rank_place.h"

namespace tandem {

/// Serves the store of keys by which ranks meet, on a thread of its own. It outlives the runs that meet there.
class RankStore {
 public:
  virtual ~RankStore() = default;
  virtual int port() const = 0;
};

/// `listener`: a socket that listens, which the store takes over: on an address that only the ranks can reach. `run`:
/// how the runs of all that may meet there begin; ranks of others are refused. Empty: any may.
std::unique_ptr<RankStore> serveRanks(int listener, const std::string& run = {});

/// A handle of a group between ranks.
class RankGroup : public Group {
 public:
  /// Whether the operation has finished here. Throws PeerError if it failed. When one finishes, the monitor is
  /// notified.
  virtual bool finished(Ticket ticket) = 0;

  /// Start operations as start() does, with a rank that all others send to, or receive from.
  /// The first: `all`, [ranks * n], of rank `root` gets `own`, [n], of every rank, in their order. Others' `all` does
  /// not count.
  virtual Ticket gatherTo(int root, at::Tensor own, at::Tensor all) = 0;
  virtual Ticket broadcastFrom(int root, at::Tensor tensor) = 0;
};

/// A message on its way between two ranks. Its tensor must not be touched until wait() has returned.
class RankMessage {
 public:
  virtual ~RankMessage() = default;
  /// Returns when the tensor has been received, or may be used again by its sender. Throws PeerError if the other rank
  /// is gone or does not come in time, and when the run is aborted or the mail closed.
  virtual void wait() = 0;
};

/// Messages from one rank to another, for threads that wait for them. Any number of threads may use a mail, each for
/// other messages. It outlives them.
class RankMail {
 public:
  virtual ~RankMail() = default;
  /// Start to send and to receive a tensor, 1-D and contiguous. Messages of one tag from one rank to another come in
  /// their order. `patienceSeconds`: how long to wait for the sender; 0: for the timeout.
  virtual std::unique_ptr<RankMessage> send(int to, int tag, at::Tensor tensor) = 0;
  virtual std::unique_ptr<RankMessage> receive(int from, int tag, at::Tensor tensor, double patienceSeconds = 0) = 0;
  /// Ends all waits, those to come too.
  virtual void close() noexcept = 0;
};

/// The ranks of a run, as one of them sees them. All methods are collective: each rank makes the same calls in the same
/// order. They throw PeerError where another rank does not come within the timeout.
class World {
 public:
  virtual ~World() = default;
  virtual const RankPlace& place() const = 0;
  virtual const std::vector<std::string>& hosts() const = 0;  ///< their names, by rank

  /// Throws PeerError if the store of keys does not answer within a second or so. Not collective.
  virtual void requireStore() = 0;

  /// What each rank says, by rank. Any thread may call this and the next two, one at a time.
  virtual std::vector<std::string> exchange(const std::string& text) = 0;

  /// What rank 0 says, whose text alone counts. It does not wait; the others do for `patienceSeconds`; 0: for the
  /// timeout.
  virtual std::string fromFirst(const std::string& text, double patienceSeconds = 0) = 0;

  /// On rank 0 what each rank says, by rank; it waits as the others do there. Nothing on the others, which do not wait.
  virtual std::vector<std::string> toFirst(const std::string& text, double patienceSeconds = 0) = 0;

  /// A handle for exchange with the threads of other ranks that hold a handle of the same name. The n-th of a name
  /// exchanges with the n-th there. Its collectives run on threads of their own. `monitor` outlives it. `members`: the
  /// ranks that take part, rising, which alone make this call, and whose ranks in the group are their places here;
  /// empty: all.
  virtual std::unique_ptr<RankGroup> group(const std::string& name, Monitor& monitor,
                                           const std::vector<int>& members = {}) = 0;

  /// Connects for messages between each two ranks. `monitor` outlives it; an abort closes it.
  virtual std::unique_ptr<RankMail> mail(const std::string& name, Monitor& monitor) = 0;
};

/// Whether this process is the first of the run; true where it is the only one.
inline bool isFirst(const World* world) { return world == nullptr || world->place().rank == 0; }

/// The number of processes of the run.
inline int ranksOf(const World* world) { return world == nullptr ? 1 : world->place().size; }

/// Meets the other ranks by c10d: a TCPStore, and Gloo between hosts' CPUs. Throws RendezvousError if the store cannot
/// be reached within `timeoutSeconds`, names the ranks that are missing then, or an interface that this host lacks. The
/// world's waits have this timeout. `checkCollectives`: groups compare each collective between ranks before it runs, so
/// Group::start() waits for all ranks there, and throws InternalError if they start different ones. REQUIRES:
/// place.size > 1.
std::unique_ptr<World> meetRanks(const RankPlace& place, double timeoutSeconds, bool checkCollectives = false);

}  // namespace tandem
