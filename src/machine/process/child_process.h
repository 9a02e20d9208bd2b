#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tandem {

struct ChildOptions {
  std::string executable;
  std::vector<std::string> arguments;    ///< without the program's name
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string input;                     ///< its standard input; at most 64 KiB, the capacity of a pipe
};

/// The variable of a child's environment that holds the id of its parent, for prepareProcess().
constexpr const char* parentVariable = "TANDEM_PARENT";

/// This process's environment without the variables that would override the placement of a worker's threads
/// (overridesPlacement in machine/cpu/host_facts.h).
std::vector<std::string> workerEnvironment();

/// A child process in its own process group. A child that is this program ends when this process does. It writes to
/// this process through its descriptor 3. Its standard output goes to this process's standard error, so that it does
/// not mix with results.
class ChildProcess {
 public:
  /// Throws UsageError if a limit of this process forbids it, InternalError if the system refuses otherwise.
  explicit ChildProcess(const ChildOptions& options);
  /// Kills the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int output() const { return output_; }  ///< the end of descriptor 3 to read from
  pid_t id() const { return id_; }
  void kill() noexcept;  ///< kills its whole process group

  /// Waits for the child to end, and kills it after `graceSeconds`. Returns the status of waitpid(2).
  int wait(double graceSeconds);

  /// The CPU time that the child took. REQUIRES: it has ended, and wait() returned.
  double cpuSeconds() const { return cpuSeconds_; }

 private:
  pid_t id_ = -1;
  int output_ = -1;
  int status_ = 0;
  double cpuSeconds_ = 0;
};

}  // namespace tandem
