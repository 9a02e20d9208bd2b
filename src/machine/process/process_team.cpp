#include "machine/process/process_team.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/output_relay.h"
#include "machine/process/signals.h"

namespace tandem {
namespace {

constexpr Nanos never = Nanos::max();
/// A scheduler may send several signals at once, to a process and to its group. They are one request.
constexpr double oneRequest = 0.3;
/// What members started may keep their pipes open.
constexpr double lastLines = 0.5;

Nanos after(double time) { return now() + std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(time)); }

int millisUntil(Nanos time) {
  if (time == never) return -1;
  return static_cast<int>(std::ceil(std::max(0.0, 1000 * seconds(time - now()))));
}

class Team {
 public:
  explicit Team(const TeamOptions& options) : options_(options) {
    check(options.prefixes.size() == options.members.size(), "a prefix for each member of a team");
    for (size_t i = 0; i < options.members.size(); ++i) start(i);
  }

  TeamEnd run() {
    while (std::ranges::any_of(members_, [](const Member& each) { return each.running; })) {
      sleepUntil(std::min(terminateAt_, killAt_));
      hearSignals();
      relay_.move();
      noteEnds();
      actOnTime();
    }
    copyLastLines();
    return std::move(end_);
  }

 private:
  struct Member {
    std::unique_ptr<ChildProcess> process;
    pid_t id;
    bool running = true;
  };

  void start(size_t number) {
    const ChildOptions& options = options_.members[number];
    auto process = std::make_unique<ChildProcess>(options);
    if (options.output == ChildOutput::captured) relay_.add(process->output(), options_.prefixes[number]);
    const pid_t id = process->id();
    members_.push_back({.process = std::move(process), .id = id});
  }

  void sleepUntil(Nanos time) const {
    std::vector<pollfd> waited{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
    relay_.addAwaited(waited);
    poll(waited.data(), waited.size(), millisUntil(time));
  }

  void hearSignals() {
    for (const int signal : signals_.take()) {
      if (signal == SIGCHLD) continue;
      if (end_.signal == 0) end_.signal = signal;
      if (!tellAt_) {
        tell(signal, options_.times.afterSignal);
      } else if (seconds(now() - *tellAt_) > oneRequest) {
        killAt_ = now();
      }
    }
  }

  void noteEnds() {
    for (size_t i = 0; i < members_.size(); ++i) {
      Member& member = members_[i];
      if (!member.running || !member.process->ended()) continue;
      member.running = false;
      noteEnd({.member = i, .id = member.id, .status = member.process->status()});
    }
  }

  void noteEnd(const MemberEnd& end) {
    end_.ends.push_back(end);
    if (end.status == 0 || tellAt_) return;
    const bool blames = options_.blamesAnother(end.status);
    if (!end_.cause || (causeBlames_ && !blames)) {
      end_.cause = end;
      causeBlames_ = blames;
    }
    terminateAt_ = std::min(terminateAt_, blames ? after(options_.times.patience) : now());
  }

  void actOnTime() {
    if (now() >= terminateAt_) {
      terminateAt_ = never;
      if (!tellAt_) tell(SIGTERM, options_.times.afterFailure);
    }
    if (now() >= killAt_) {
      killAt_ = never;
      for (const Member& member : members_) member.process->kill();
    }
  }

  /// Tells all to end. A member that is stopped hears only SIGKILL.
  void tell(int signal, double grace) {
    for (size_t i = 0; i < members_.size(); ++i) {
      const Member& member = members_[i];
      if (!member.running) continue;
      if (isStopped(member.id)) end_.stopped.push_back({.member = i, .id = member.id});
      member.process->signal(signal);
    }
    tellAt_ = now();
    killAt_ = after(grace);
  }

  void copyLastLines() {
    const Nanos end = after(lastLines);
    while (!relay_.ended() && now() < end) {
      sleepUntil(end);
      signals_.take();
      relay_.move();
    }
    relay_.finish();
  }

  const TeamOptions& options_;
  SignalPipe signals_;  // before the members, so that no end is missed
  OutputRelay relay_{STDERR_FILENO};
  std::vector<Member> members_;
  TeamEnd end_;
  bool causeBlames_ = false;
  std::optional<Nanos> tellAt_;
  Nanos terminateAt_ = never, killAt_ = never;
};

}  // namespace

TeamEnd superviseTeam(const TeamOptions& options) { return Team(options).run(); }

}  // namespace tandem
