#include "comm/c10d/store_client.h"

#include <c10/util/Logging.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/process/resource_limits.h"

namespace tandem {
namespace {

constexpr double answerSeconds = 1.2;  // in which a store that is there answers, beside what it was asked to wait
constexpr double shortestTurn = 0.5;   // of waiting, after which the store has to answer

std::chrono::milliseconds millis(double seconds) { return std::chrono::milliseconds(std::lround(seconds * 1000)); }

/// c10d would try to find the host until the timeout.
void requireAddress(const RankPlace& place) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = EAI_AGAIN;
  for (int attempt = 0; attempt < 2 && error == EAI_AGAIN; ++attempt) {
    error = getaddrinfo(place.host.c_str(), nullptr, &wanted, &found);
  }
  if (error == 0) return freeaddrinfo(found);
  throw RendezvousError(concat("rank ", place.rank, ": the host '", place.host,
                               "', where the ranks would meet, has no ", "address here: ", gai_strerror(error),
                               "; give --master-addr a name or address of rank 0's host"));
}

Store connect(const RankPlace& place, double timeoutSeconds, const std::string& address) {
  silenceC10d();
  requireAddress(place);
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.timeout = millis(timeoutSeconds);
  options.waitWorkers = false;  // the ranks that are missing are to be named
  try {
    return c10::make_intrusive<c10d::TCPStore>(place.host, options);
  } catch (const std::exception& failure) {
    throw RendezvousError(concat("rank ", place.rank, " cannot reach the ranks' store at ", address, " within ",
                                 secondsText(timeoutSeconds), ": ", lineOf(failure),
                                 "; is rank 0 there, and is that its address?"));
  }
}

}  // namespace

void silenceC10d() {
  static std::once_flag isSilent;
  std::call_once(isSilent, [] { FLAGS_caffe2_log_level = c10::GLOG_FATAL; });
}

StoreClient::StoreClient(const RankPlace& place, double timeoutSeconds)
    : place_(place),
      timeoutSeconds_(timeoutSeconds),
      all_(connect(place, timeoutSeconds, address())),
      store_(c10::make_intrusive<c10d::PrefixStore>(place.run, all_)) {
  requireServedRun();
}

std::string StoreClient::address() const { return concat(place_.host, ':', place_.port); }

void StoreClient::requireServedRun() {
  const auto served = std::make_shared<std::string>();
  askOrFail([served, all = all_](c10d::Store&) {
    if (all->check({servedRun})) *served = all->get_to_str(servedRun);
  });
  const std::string& run = *served;
  if (run.empty() || place_.run.starts_with(run)) return;
  throw RendezvousError(concat("rank ", place_.rank, " is of run '", place_.run, "', but at ", address(),
                               " ranks of run '", run, "' meet: it comes late, or was started for another run"));
}

void StoreClient::fail(const std::string& why) {
  lost_ = concat("rank ", place_.rank, " of ", place_.size, ": the ranks' store at ", address(),
                 place_.rank == 0 ? "" : concat(", of rank 0", host_.empty() ? "" : concat(" (", host_, ')'), ','),
                 " is gone: ", why);
  throw PeerError(lost_);
}

void StoreClient::ask(const Question& question, double patienceSeconds) {
  if (!lost_.empty()) throw PeerError(lost_);
  const auto task = std::make_shared<std::packaged_task<void()>>([question, store = store_] { question(*store); });
  std::future<void> answer = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error& refused) {
    throw explained(refused);
  }
  const double patience = patienceSeconds + answerSeconds;
  if (answer.wait_for(millis(patience)) != std::future_status::ready) {
    fail(concat("no answer for ", secondsText(patience)));
  }
  answer.get();
}

void StoreClient::askOrFail(const Question& question) {
  try {
    ask(question, 0);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    fail(lineOf(failure));
  }
}

void StoreClient::set(const std::string& key, const std::string& text) {
  askOrFail([key, text](c10d::Store& store) { store.set(key, text); });
}

bool StoreClient::has(const std::vector<std::string>& keys) {
  const auto found = std::make_shared<bool>(false);
  askOrFail([keys, found](c10d::Store& store) { *found = store.check(keys); });
  return *found;
}

// Waiting is cut into turns: at the end of each the store has to answer, or it is gone.
bool StoreClient::await(const std::vector<std::string>& keys, double patienceSeconds) {
  const double longestTurn = std::max(shortestTurn, timeoutSeconds_ / 3);
  for (const Nanos begin = now();;) {
    const double left = patienceSeconds - seconds(now() - begin), turn = std::clamp(left, 0.001, longestTurn);
    try {
      ask([keys, turn](c10d::Store& store) { store.wait(keys, millis(turn)); }, turn);
      return true;
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {  // the time was over, or the store is gone
      if (has(keys)) return true;
    }
    if (left <= turn) return false;
  }
}

std::vector<std::string> StoreClient::get(const std::vector<std::string>& keys) {
  const auto texts = std::make_shared<std::vector<std::string>>();
  askOrFail([keys, texts](c10d::Store& store) {
    for (const auto& bytes : store.multiGet(keys)) texts->emplace_back(bytes.begin(), bytes.end());
  });
  return *texts;
}

void StoreClient::ping() {
  askOrFail([](c10d::Store& store) { store.check({servedRun}); });
}

}  // namespace tandem
