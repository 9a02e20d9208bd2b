#include "machine/process/process_team.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int blame = 6;  // exit code of a member that says that another failed

/// A line of sh, as a member whose output is captured.
ChildOptions sh(const std::string& line) {
  return {.executable = "/bin/sh",
          .arguments = {"-c", line},
          .environment = processEnvironment(),
          .input = {},
          .output = ChildOutput::captured};
}

TeamOptions teamOf(const std::vector<std::string>& lines) {
  TeamOptions options{.blamesAnother = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) == blame; }};
  for (size_t i = 0; i < lines.size(); ++i) {
    options.members.push_back(sh(lines[i]));
    options.prefixes.push_back(concat('<', i, "> "));
  }
  return options;
}

struct Supervised {
  TeamEnd end;
  std::string output;
  double took;
};

Supervised supervise(const TeamOptions& options) {
  testing::internal::CaptureStderr();
  const Nanos begin = now();
  TeamEnd end = superviseTeam(options);
  return {std::move(end), testing::internal::GetCapturedStderr(), seconds(now() - begin)};
}
Supervised supervise(const std::vector<std::string>& lines) { return supervise(teamOf(lines)); }

bool isThere(pid_t process) { return ::kill(process, 0) == 0; }

/// Sends signals to this process when a member has made the file, which lasts as long as the object does.
class SignalsOnceThereIs {
 public:
  SignalsOnceThereIs(std::string path, std::vector<int> signals)
      : thread_([path = std::move(path), signals = std::move(signals)] {
          while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          for (const int signal : signals) {
            ::kill(getpid(), signal);
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
          }
        }) {}
  ~SignalsOnceThereIs() { thread_.join(); }

 private:
  std::thread thread_;
};

/// A path that does not exist yet.
std::string freshPath() {
  static int number = 0;
  return concat(testing::TempDir(), "process_team_", getpid(), '_', ++number);
}

TEST(ProcessTeam, EndsWhenAllHaveEnded) {
  const auto run = supervise({"exit 0", "sleep 0.3; exit 0", "exit 0"});
  EXPECT_FALSE(run.end.cause.has_value());
  EXPECT_EQ(run.end.signal, 0);
  ASSERT_EQ(run.end.ends.size(), 3U);
  EXPECT_EQ(run.end.ends.back().member, 1U) << "in their order in time";
}

TEST(ProcessTeam, LinesOfMembersHaveTheirPrefixWhole) {
  const auto run = supervise({"echo a; echo b >&2; printf end", "printf 'c'; sleep 0.2; echo d"});
  for (const char* const line : {"<0> a\n", "<0> b\n", "<0> end\n", "<1> cd\n"}) {
    EXPECT_NE(run.output.find(line), std::string::npos) << run.output;
  }
  EXPECT_EQ(run.output.size(), std::string("<0> a\n<0> b\n<0> end\n<1> cd\n").size()) << run.output;
}

TEST(ProcessTeam, MuchOutputArrivesWhole) {
  const auto run = supervise({"i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done"});
  EXPECT_EQ(run.output.size(), 20000 * std::string("<0> 0123456789\n").size());
}

TEST(ProcessTeam, AMemberThatIsKilledIsTheCauseAndTheOthersEnd) {
  const auto run = supervise({"sleep 60", "sleep 0.5; kill -9 $$", "trap '' TERM; sleep 60; sleep 60"});
  ASSERT_TRUE(run.end.cause.has_value());
  EXPECT_EQ(run.end.cause->member, 1U);
  EXPECT_TRUE(WIFSIGNALED(run.end.cause->status) && WTERMSIG(run.end.cause->status) == SIGKILL);
  EXPECT_EQ(run.end.ends.size(), 3U);
  EXPECT_EQ(run.end.ends.back().member, 2U) << "the one that ignores SIGTERM is killed";
  EXPECT_LT(run.took, 9) << "three times what the times allow";
  for (const MemberEnd& end : run.end.ends) EXPECT_FALSE(isThere(end.id));
}

TEST(ProcessTeam, NothingThatAMemberStartedIsLeft) {
  const std::string path = freshPath();
  const auto run = supervise({concat("sleep 60 & echo $! > ", path, "; exit 3")});
  EXPECT_EQ(WEXITSTATUS(run.end.cause.value().status), 3);
  pid_t left = -1;
  std::ifstream(path) >> left;
  ASSERT_GT(left, 0);
  const Nanos begin = now();
  const auto state = [&] {  // a zombie, until the system's first process has looked after it, is gone
    std::ifstream stat(concat("/proc/", left, "/stat"));
    std::string id, name, letter;
    stat >> id >> name >> letter;
    return letter;
  };
  while (!state().empty() && state() != "Z" && seconds(now() - begin) < 5) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(state().empty() || state() == "Z") << state();
}

TEST(ProcessTeam, OfSeveralThatFailTheFirstIsTheCause) {
  const auto run = supervise({"sleep 0.4; exit 4", "exit 3", "sleep 60"});
  EXPECT_EQ(run.end.cause.value().member, 1U);
}

TEST(ProcessTeam, AMemberThatBlamesAnotherIsNotTheCauseWhereThatOneFailsToo) {
  const auto blamed = supervise({"exit 6", "sleep 0.2; exit 3", "sleep 60"});
  EXPECT_EQ(blamed.end.cause.value().member, 1U);
  EXPECT_EQ(WEXITSTATUS(blamed.end.cause->status), 3);
  const auto alone = supervise({"sleep 60", "exit 6"});
  EXPECT_EQ(alone.end.cause.value().member, 1U);
  EXPECT_EQ(WEXITSTATUS(alone.end.cause->status), blame);
}

TEST(ProcessTeam, HowTheOthersEndWhenToldToIsNoCause) {
  const auto run = supervise({"trap 'exit 5' TERM; sleep 60 & wait", "sleep 0.3; exit 2"});
  EXPECT_EQ(run.end.cause.value().member, 1U);
  ASSERT_EQ(run.end.ends.size(), 2U);
  EXPECT_EQ(WEXITSTATUS(run.end.ends.back().status), 5) << "it had time to end by itself";
}

TEST(ProcessTeam, AMemberThatIsStoppedIsNamedAndKilled) {
  const auto run = supervise({"kill -STOP $$", "sleep 0.3; exit 6"});
  ASSERT_EQ(run.end.stopped.size(), 1U);
  EXPECT_EQ(run.end.stopped.front().member, 0U);
  EXPECT_EQ(run.end.ends.size(), 2U);
  EXPECT_LT(run.took, 10);
}

TEST(ProcessTeam, ASignalIsHandedOnAndItsAnswerAwaited) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string path = freshPath();
    const auto member = concat("trap 'sleep 0.5; echo done; exit 9' ", signal, "; touch ", path, "; sleep 60 & wait");
    const SignalsOnceThereIs sent(path, {signal});
    const auto run = supervise({member});
    EXPECT_EQ(run.end.signal, signal);
    EXPECT_FALSE(run.end.cause.has_value());
    EXPECT_EQ(run.output, "<0> done\n");
    EXPECT_EQ(WEXITSTATUS(run.end.ends.front().status), 9);
  }
}

TEST(ProcessTeam, ASecondSignalKills) {
  const std::string path = freshPath();
  const SignalsOnceThereIs sent(path, {SIGINT, SIGTERM});
  TeamOptions options = teamOf({concat("trap '' INT TERM; touch ", path, "; sleep 20; exit 0")});
  options.times.afterSignal = 60;
  const auto run = supervise(options);
  EXPECT_EQ(run.end.signal, SIGINT);
  const int status = run.end.ends.front().status;
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

TEST(ProcessTeam, MembersThatDoNotHeedASignalAreKilled) {
  const std::string path = freshPath();
  TeamOptions options = teamOf({concat("trap '' INT; touch ", path, "; sleep 60; sleep 60")});
  options.times.afterSignal = 0.2;
  const SignalsOnceThereIs sent(path, {SIGINT});
  EXPECT_EQ(WTERMSIG(supervise(options).end.ends.front().status), SIGKILL);
}

TEST(ProcessTeam, SignalsDoAsBeforeWhenItHasEnded) {
  supervise({"exit 0"});
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << signal;
  }
}

TEST(ChildProcess, VariablesTakeThePlaceOfOthers) {
  const std::vector<std::string> expected{"AB=1", "C=3", "A=new"};
  EXPECT_EQ(withVariables({"A=old", "AB=1", "C=3"}, {{"A", "new"}}), expected);
}

TEST(ChildProcess, OfAChildHasOneParent) {
  ChildOptions options = sh(concat("env | grep ", parentVariable));
  options.environment.emplace_back(concat(parentVariable, "=1"));
  ChildProcess child(options);
  std::string text(100, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(child.output(), text.data(), text.size()))));
  EXPECT_EQ(text, concat(parentVariable, '=', getpid(), '\n'));
  EXPECT_EQ(child.wait(10), 0);
}

}  // namespace
}  // namespace tandem
