#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace tandem {

/// Where a child writes.
enum class ChildOutput {
  reports,   ///< its descriptor 3 is ChildProcess::output(); its standard output is this process's standard error
  captured,  ///< its standard output and standard error are both ChildProcess::output()
  passed,    ///< its standard output and standard error are those of this process; output() ends at once
};

struct ChildOptions {
  std::string executable;
  std::vector<std::string> arguments;    ///< without the program's name
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string input;                     ///< its standard input; at most 64 KiB, the capacity of a pipe
  ChildOutput output = ChildOutput::reports;
  int shared = -1;  ///< a descriptor of this process that becomes the child's childShared; -1: none
};

/// The path of this program, for children that run it too.
constexpr const char* ownExecutable = "/proc/self/exe";

/// The variable of a child's environment that holds the id of its parent, for prepareProcess().
constexpr const char* parentVariable = "TANDEM_PARENT";

/// This process's environment without the variables that would override the placement of a worker's threads
/// (overridesPlacement in machine/cpu/host_facts.h).
std::vector<std::string> workerEnvironment();

/// This process's environment.
std::vector<std::string> processEnvironment();

/// An environment with `variables` in place of those of equal name.
std::vector<std::string> withVariables(std::vector<std::string> environment,
                                       const std::map<std::string, std::string>& variables);

/// Whether a process does not run, by SIGSTOP or a debugger.
bool isStopped(pid_t process);

/// A child process in its own process group, of which nothing is left once it has ended. A child that is this program
/// ends when this process does.
class ChildProcess {
 public:
  /// Throws UsageError if a limit of this process forbids it, InternalError if the system refuses otherwise.
  explicit ChildProcess(const ChildOptions& options);
  /// Kills the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int output() const { return output_; }  ///< the end to read from
  pid_t id() const { return id_; }        ///< -1 once it has ended
  void kill() noexcept { signal(SIGKILL); }
  void signal(int number) noexcept;  ///< to its whole process group; nothing happens once it has ended

  /// Looks whether the child has ended, without waiting.
  bool ended();
  /// Of waitpid(2). REQUIRES: it has ended.
  int status() const { return status_; }

  /// Waits for the child to end, and kills it after `graceSeconds`. Returns the status of waitpid(2).
  int wait(double graceSeconds);

  /// The CPU time that the child took. REQUIRES: it has ended.
  double cpuSeconds() const { return cpuSeconds_; }

 private:
  pid_t id_ = -1;
  int output_ = -1;
  int status_ = 0;
  double cpuSeconds_ = 0;
};

}  // namespace tandem
