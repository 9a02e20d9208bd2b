#include "machine/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/child_output.h"
#include "machine/process/resource_limits.h"

namespace tandem {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  const std::string limit = limitText(error);
  if (!limit.empty()) throw UsageError(concat("cannot start a process for a run: ", limit));
  throw InternalError(concat("cannot start a process for a run: ", what, ": ", std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

struct Pipe {
  Descriptor read, write;
};

Pipe makePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor pipeHolding(const std::string& text) {
  Pipe pipe = makePipe();
  // Nobody reads this pipe yet. A text that exceeds its capacity must fail instead of block.
  fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  if (write(pipe.write.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("write", errno);
  return std::move(pipe.read);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

double inSeconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  /// `shared`: above childShared, which another descriptor may be until it has been handed on; -1: none.
  SpawnSettings(int input, int output, ChildOutput kind, int shared) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (kind == ChildOutput::reports) {
      posix_spawn_file_actions_adddup2(&actions, output, childOutput);
      posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    } else if (kind == ChildOutput::captured) {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
      posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    }
    if (shared >= 0) posix_spawn_file_actions_adddup2(&actions, shared, childShared);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::string_view nameIn(std::string_view entry) { return entry.substr(0, entry.find('=')); }

}  // namespace

std::vector<std::string> processEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::vector<std::string> workerEnvironment() {
  auto kept = processEnvironment();
  std::erase_if(kept, [](const std::string& entry) { return overridesPlacement(nameIn(entry)); });
  return kept;
}

std::vector<std::string> withVariables(std::vector<std::string> environment,
                                       const std::map<std::string, std::string>& variables) {
  std::erase_if(environment, [&](const auto& entry) { return variables.contains(std::string(nameIn(entry))); });
  for (const auto& [name, value] : variables) environment.push_back(concat(name, '=', value));
  return environment;
}

// Behind the name, which may contain anything, stands the state.
bool isStopped(pid_t process) {
  const std::string stat = textOf(concat("/proc/", process, "/stat"));
  const size_t name = stat.rfind(") ");
  return name != std::string::npos && name + 2 < stat.size() && lowered(stat.substr(name + 2, 1)) == "t";
}

ChildProcess::ChildProcess(const ChildOptions& options) {
  const Descriptor input = pipeHolding(options.input);
  Pipe output = makePipe();
  const Descriptor shared(options.shared < 0 ? -1 : fcntl(options.shared, F_DUPFD_CLOEXEC, childShared + 1));
  const SpawnSettings settings(input.get(), output.write.get(), options.output, shared.get());
  std::vector<std::string> arguments{options.executable};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  // A child of a child would else find the id of its grandparent first.
  auto environment = withVariables(options.environment, {{parentVariable, std::to_string(getpid())}});
  const int error = posix_spawn(&id_, options.executable.c_str(), &settings.actions, &settings.attributes,
                                pointers(arguments).data(), pointers(environment).data());
  if (error != 0) {
    id_ = -1;
    fail(options.executable.c_str(), error);
  }
  output_ = output.read.release();
}

ChildProcess::~ChildProcess() {
  kill();
  wait(0);
  if (output_ >= 0) close(output_);
}

void ChildProcess::signal(int number) noexcept {
  // The negative id addresses the whole process group.
  if (id_ > 0) ::kill(-id_, number);
}

// What is left of its group is killed while the child, a zombie, still keeps the id of the group from others.
bool ChildProcess::ended() {
  if (id_ <= 0) return true;
  siginfo_t state{};
  const bool known = waitid(P_PID, static_cast<id_t>(id_), &state, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (known ? state.si_pid != id_ : errno == EINTR) return false;
  if (known) kill();
  rusage use{};
  if (wait4(id_, &status_, WNOHANG, &use) == id_) cpuSeconds_ = inSeconds(use.ru_utime) + inSeconds(use.ru_stime);
  id_ = -1;
  return true;
}

int ChildProcess::wait(double graceSeconds) {
  const Nanos begin = now();
  while (!ended()) {
    if (seconds(now() - begin) >= graceSeconds) kill();
    poll(nullptr, 0, 5);
  }
  return status_;
}

}  // namespace tandem
