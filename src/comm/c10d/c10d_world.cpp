#include <c10/util/Logging.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "base/text.h"
#include "comm/c10d/c10d_group.h"
#include "comm/world.h"

namespace tandem {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;
using Gloo = c10d::ProcessGroupGloo;

std::chrono::milliseconds millis(double seconds) { return std::chrono::milliseconds(std::lround(seconds * 1000)); }

std::string addressOf(const RankPlace& place) { return concat(place.host, ':', place.port); }

/// What c10d logs comes as an exception as well.
void quietC10d() { FLAGS_caffe2_log_level = c10::GLOG_FATAL; }

/// The flight recorder takes a stack trace of each collective, and is no place for several threads that start
/// collectives.
void stopFlightRecorder() {
  static const int isOff = setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);
  check(isOff == 0, "setenv");
}

Store connect(const RankPlace& place, double timeoutSeconds) {
  quietC10d();
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.timeout = millis(timeoutSeconds);
  options.waitWorkers = false;  // the ranks that are missing are to be named
  try {
    return c10::make_intrusive<c10d::TCPStore>(place.host, options);
  } catch (const std::exception& failure) {
    throw RendezvousError(concat("rank ", place.rank, " cannot reach the ranks' store at ", addressOf(place),
                                 " within ", secondsText(timeoutSeconds), ": ", lineOf(failure),
                                 "; is rank 0 there, and is that its address?"));
  }
}

/// The backend of collectives between CPUs, through the interface that the place names.
c10::intrusive_ptr<c10d::Backend> gloo(const Store& store, const RankPlace& place, double timeoutSeconds) {
  stopFlightRecorder();
  const auto options = Gloo::Options::create(millis(timeoutSeconds));
  options->devices.push_back(place.interface.empty() ? Gloo::createDeviceForHostname("127.0.0.1")
                                                     : Gloo::createDeviceForInterface(place.interface));
  return c10::make_intrusive<Gloo>(store, place.rank, place.size, options);
}

class C10dWorld final : public World {
 public:
  C10dWorld(const RankPlace& place, double timeoutSeconds)
      : place_(place),
        timeoutSeconds_(timeoutSeconds),
        store_(c10::make_intrusive<c10d::PrefixStore>(place.run, connect(place, timeoutSeconds))) {
    const std::string here = "here";
    say(here, "present");
    const std::string missing = awaitKeys(keysOf(here), timeoutSeconds_);
    if (missing.empty()) return;
    throw RendezvousError(concat("ranks missing after ", secondsText(timeoutSeconds_), ": ", missing, " of ",
                                 place_.size, ", which meet at ", addressOf(place_),
                                 "; start them, or give them more time by --timeout"));
  }

  const RankPlace& place() const override { return place_; }

  std::vector<std::string> exchange(const std::string& text) override {
    const std::string topic = nextTopic();
    say(topic, text);
    return hearAll(topic, timeoutSeconds_);
  }

  std::string fromFirst(const std::string& text, double patienceSeconds) override {
    const std::string topic = nextTopic();
    if (place_.rank == 0) return say(topic, text), text;
    const double patience = patienceOr(patienceSeconds);
    try {
      store_->wait({keyOf(topic, 0)}, millis(patience));
      return store_->get_to_str(keyOf(topic, 0));
    } catch (const std::exception& failure) {
      throw PeerError(concat("rank ", place_.rank, " of ", place_.size, ": nothing heard of rank 0 for ",
                             secondsText(patience), ": ", lineOf(failure)));
    }
  }

  std::vector<std::string> toFirst(const std::string& text, double patienceSeconds) override {
    const std::string topic = nextTopic();
    say(topic, text);
    return place_.rank == 0 ? hearAll(topic, patienceOr(patienceSeconds)) : std::vector<std::string>();
  }

  std::unique_ptr<RankGroup> group(const std::string& name, Monitor& monitor) override {
    try {
      const auto store = c10::make_intrusive<c10d::PrefixStore>(concat(name, " #", groups_[name]++), store_);
      return std::make_unique<C10dGroup>(gloo(store, place_, timeoutSeconds_), monitor);
    } catch (const std::exception& failure) {
      throw RendezvousError(concat("rank ", place_.rank, " of ", place_.size, " cannot connect to the others through ",
                                   place_.interface.empty() ? "loopback" : place_.interface, ": ", lineOf(failure)));
    }
  }

 private:
  double patienceOr(double seconds) const { return seconds > 0 ? seconds : timeoutSeconds_; }

  std::string nextTopic() { return concat("topic", topics_++); }
  static std::string keyOf(const std::string& topic, int rank) { return concat(topic, '/', rank); }

  [[noreturn]] void failWithoutStore(const std::exception& failure) const {
    throw PeerError(concat("rank ", place_.rank, " of ", place_.size, ": the ranks' store at ", addressOf(place_),
                           " is gone: ", lineOf(failure)));
  }

  void say(const std::string& topic, const std::string& text) {
    try {
      store_->set(keyOf(topic, place_.rank), text);
    } catch (const std::exception& failure) {
      failWithoutStore(failure);
    }
  }

  /// What each rank says on a topic. Throws PeerError that names those that say nothing in time.
  std::vector<std::string> hearAll(const std::string& topic, double patience) {
    const std::vector<std::string> keys = keysOf(topic);
    const std::string missing = awaitKeys(keys, patience);
    if (!missing.empty()) {
      throw PeerError(concat("rank ", place_.rank, ": nothing heard for ", secondsText(patience), " of ranks ", missing,
                             " of ", place_.size));
    }
    std::vector<std::string> texts;
    try {
      for (const std::string& key : keys) texts.push_back(store_->get_to_str(key));
    } catch (const std::exception& failure) {
      failWithoutStore(failure);
    }
    return texts;
  }

  std::vector<std::string> keysOf(const std::string& topic) const {
    std::vector<std::string> keys;
    for (int rank = 0; rank < place_.size; ++rank) keys.push_back(keyOf(topic, rank));
    return keys;
  }

  /// Waits for keys. Returns the ranks of those that are missing in the end, as "1, 3".
  std::string awaitKeys(const std::vector<std::string>& keys, double patience) {
    try {
      store_->wait(keys, millis(patience));
      return "";
    } catch (const std::exception& failure) {
      try {
        return missingOf(keys);
      } catch (const std::exception&) {
        failWithoutStore(failure);
      }
    }
  }

  /// "1, 3"
  std::string missingOf(const std::vector<std::string>& keys) {
    std::vector<std::string> missing;
    for (int rank = 0; rank < place_.size; ++rank) {
      if (!store_->check({keys[static_cast<size_t>(rank)]})) missing.push_back(concat(rank));
    }
    return join(missing);
  }

  const RankPlace place_;
  const double timeoutSeconds_;
  Store store_;
  int64_t topics_ = 0;
  std::map<std::string, int> groups_;  // by name, how many there were
};

/// A server of c10d is a client too, which nobody uses.
class ServedStore final : public RankStore {
 public:
  explicit ServedStore(int listener) : store_(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", optionsOf(listener))) {}
  int port() const override { return store_->getPort(); }

 private:
  static c10d::TCPStoreOptions optionsOf(int listener) {
    quietC10d();
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

std::unique_ptr<RankStore> serveRanks(int listener) { return std::make_unique<ServedStore>(listener); }

std::unique_ptr<World> meetRanks(const RankPlace& place, double timeoutSeconds) {
  check(place.size > 1, "ranks meet where there are several");
  return std::make_unique<C10dWorld>(place, timeoutSeconds);
}

}  // namespace tandem
