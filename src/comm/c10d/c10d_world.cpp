#include <net/if.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "base/text.h"
#include "comm/c10d/c10d_group.h"
#include "comm/c10d/c10d_mail.h"
#include "comm/c10d/store_client.h"
#include "comm/world.h"
#include "machine/cpu/host_facts.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

using Gloo = c10d::ProcessGroupGloo;

std::chrono::milliseconds millis(double seconds) { return std::chrono::milliseconds(std::lround(seconds * 1000)); }

/// The flight recorder of c10d takes a stack trace of each collective, and is no place for several threads that start
/// collectives.
void stopFlightRecorder() {
  static const int isOff = setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);
  check(isOff == 0, "setenv");
}

/// Gloo writes to connections in a way that ends the process when the peer has closed its end. Without the signal the
/// write fails, and Gloo reports that.
void ignoreClosedConnections() { check(::signal(SIGPIPE, SIG_IGN) != SIG_ERR, "signal"); }

/// Throws RendezvousError if the interface is none of this host.
void requireInterface(const RankPlace& place) {
  if (place.interface.empty() || if_nametoindex(place.interface.c_str()) != 0) return;
  std::vector<std::string> names;
  struct if_nameindex* const all = ::if_nameindex();
  for (const struct if_nameindex* each = all; each != nullptr && each->if_index != 0; ++each)
    names.emplace_back(each->if_name);
  if (all != nullptr) if_freenameindex(all);
  throw RendezvousError(concat("rank ", place.rank, ": ", hostName(), " has no network interface '", place.interface,
                               "'; it has ", join(names), "; give one of these as --interface"));
}

/// The backend of collectives between CPUs, through the interface that the place names.
c10::intrusive_ptr<c10d::Backend> gloo(const Store& store, const RankPlace& place, double timeoutSeconds) {
  stopFlightRecorder();
  ignoreClosedConnections();
  const auto options = Gloo::Options::create(millis(timeoutSeconds));
  options->devices.push_back(place.interface.empty() ? Gloo::createDeviceForHostname("127.0.0.1")
                                                     : Gloo::createDeviceForInterface(place.interface));
  return c10::make_intrusive<Gloo>(store, place.rank, place.size, options);
}

/// One that compares each collective between ranks before it runs.
c10::intrusive_ptr<c10d::Backend> comparing(const Store& store, const RankPlace& place, double timeoutSeconds) {
  const auto own = c10::make_intrusive<c10d::PrefixStore>("comparing", store);
  return c10::make_intrusive<c10d::ProcessGroupWrapper>(gloo(store, place, timeoutSeconds),
                                                        gloo(own, place, timeoutSeconds));
}

class C10dWorld final : public World {
 public:
  C10dWorld(const RankPlace& place, double timeoutSeconds, bool checkCollectives)
      : place_(place),
        timeoutSeconds_(timeoutSeconds),
        checkCollectives_(checkCollectives),
        client_(place, timeoutSeconds) {
    requireInterface(place);
    const std::string here = "here";
    client_.set(keyOf(here, place.rank), hostName());
    const std::vector<std::string> keys = keysOf(here);
    if (client_.await(keys, timeoutSeconds)) {
      hosts_ = client_.get(keys);
      client_.setHost(hosts_.front());
      return;
    }
    throw RendezvousError(concat("ranks missing after ", secondsText(timeoutSeconds), ": ", missingOf(keys), " of ",
                                 place_.size, ", which meet at ", client_.address(),
                                 "; start them, or give them more time by --timeout"));
  }

  const RankPlace& place() const override { return place_; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  void requireStore() override { client_.ping(); }

  std::vector<std::string> exchange(const std::string& text) override {
    const std::string topic = nextTopic();
    client_.set(keyOf(topic, place_.rank), text);
    return hearAll(topic, timeoutSeconds_);
  }

  std::string fromFirst(const std::string& text, double patienceSeconds) override {
    const std::string topic = nextTopic(), key = keyOf(topic, 0);
    if (place_.rank == 0) return client_.set(key, text), text;
    const double patience = patienceOr(patienceSeconds);
    if (client_.await({key}, patience)) return client_.get({key}).front();
    throw PeerError(concat("rank ", place_.rank, " of ", place_.size, ": nothing heard of rank ", nameOf(0), " for ",
                           secondsText(patience)));
  }

  std::vector<std::string> toFirst(const std::string& text, double patienceSeconds) override {
    const std::string topic = nextTopic();
    client_.set(keyOf(topic, place_.rank), text);
    return place_.rank == 0 ? hearAll(topic, patienceOr(patienceSeconds)) : std::vector<std::string>();
  }

  std::unique_ptr<RankGroup> group(const std::string& name, Monitor& monitor,
                                   const std::vector<int>& members) override {
    const auto backend = connected(name, checkCollectives_, placeAmong(members));
    return std::make_unique<C10dGroup>(backend, place_, monitor, checkCollectives_);
  }

  std::unique_ptr<RankMail> mail(const std::string& name, Monitor& monitor) override {
    return std::make_unique<C10dMail>(connected(name, /*compares=*/false, place_), monitor);
  }

 private:
  /// The place of this rank in a group of some.
  RankPlace placeAmong(const std::vector<int>& members) const {
    if (members.empty()) return place_;
    RankPlace place = place_;
    const auto own = std::ranges::find(members, place_.rank);
    check(own != members.end(), "a rank joins the groups that it is a member of");
    place.rank = static_cast<int>(own - members.begin());
    place.size = static_cast<int>(std::ssize(members));
    return place;
  }

  /// A backend of its own, between those who ask for this name.
  c10::intrusive_ptr<c10d::Backend> connected(const std::string& name, bool compares, const RankPlace& place) {
    enterStage(Stage::connecting);
    try {
      const auto store = c10::make_intrusive<c10d::PrefixStore>(concat(name, " #", groups_[name]++), client_.store());
      auto backend = compares ? comparing(store, place, timeoutSeconds_) : gloo(store, place, timeoutSeconds_);
      enterStage(Stage::preparing);
      return backend;
    } catch (const std::exception& failure) {
      throw RendezvousError(concat("rank ", place_.rank, " of ", place_.size, " cannot connect to the others through ",
                                   place_.interface.empty() ? "loopback" : place_.interface, ": ", lineOf(failure)));
    }
  }

  double patienceOr(double seconds) const { return seconds > 0 ? seconds : timeoutSeconds_; }

  std::string nextTopic() { return concat("topic", topics_++); }
  static std::string keyOf(const std::string& topic, int rank) { return concat(topic, '/', rank); }

  /// What each rank says on a topic. Throws PeerError that names those that say nothing in time.
  std::vector<std::string> hearAll(const std::string& topic, double patience) {
    const std::vector<std::string> keys = keysOf(topic);
    if (client_.await(keys, patience)) return client_.get(keys);
    throw PeerError(concat("rank ", place_.rank, ": nothing heard for ", secondsText(patience), " of ranks ",
                           missingOf(keys), " of ", place_.size));
  }

  std::vector<std::string> keysOf(const std::string& topic) const {
    std::vector<std::string> keys;
    for (int rank = 0; rank < place_.size; ++rank) keys.push_back(keyOf(topic, rank));
    return keys;
  }

  /// "1, 3 (node2)": the ranks whose keys are not there.
  std::string missingOf(const std::vector<std::string>& keys) {
    std::vector<std::string> missing;
    for (int rank = 0; rank < place_.size; ++rank) {
      if (!client_.has({keys[static_cast<size_t>(rank)]})) missing.push_back(nameOf(rank));
    }
    return join(missing);
  }

  /// A rank, with its host if that is another one.
  std::string nameOf(int rank) const {
    const auto index = static_cast<size_t>(rank);
    const bool elsewhere = index < hosts_.size() && hosts_[index] != hosts_[static_cast<size_t>(place_.rank)];
    return elsewhere ? concat(rank, " (", hosts_[index], ')') : concat(rank);
  }

  const RankPlace place_;
  const double timeoutSeconds_;
  const bool checkCollectives_;
  StoreClient client_;
  std::vector<std::string> hosts_;
  int64_t topics_ = 0;
  std::map<std::string, int> groups_;  // by name, how many there were
};

/// The numeric address that a socket listens on.
std::string addressOf(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = {};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool known = getsockname(listener, generic, &size) == 0 &&
                     getnameinfo(generic, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) == 0;
  check(known, "the address of a socket that listens");
  return host;
}

/// A server of c10d is a client too, which nobody uses. It must reach the server all the same.
class ServedStore final : public RankStore {
 public:
  ServedStore(int listener, const std::string& run)
      : store_(c10::make_intrusive<c10d::TCPStore>(addressOf(listener), optionsOf(listener))) {
    if (!run.empty()) store_->set(servedRun, std::vector<uint8_t>(run.begin(), run.end()));
  }
  int port() const override { return store_->getPort(); }

 private:
  static c10d::TCPStoreOptions optionsOf(int listener) {
    silenceC10d();
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    options.masterListenFd = listener;
    return options;
  }
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

}  // namespace

std::unique_ptr<RankStore> serveRanks(int listener, const std::string& run) {
  return std::make_unique<ServedStore>(listener, run);
}

std::unique_ptr<World> meetRanks(const RankPlace& place, double timeoutSeconds, bool checkCollectives) {
  check(place.size > 1, "ranks meet where there are several");
  return std::make_unique<C10dWorld>(place, timeoutSeconds, checkCollectives);
}

}  // namespace tandem
