#include "fork_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "cli/program.h"

namespace tandem {
namespace {

constexpr std::string_view betweenParts("\0", 1);

std::string messageOf(const StartedAs& process) {
  std::vector<std::string> parts{process.folder, process.out, process.err};
  parts.insert(parts.end(), process.arguments.begin(), process.arguments.end());
  return join(parts, betweenParts);
}

StartedAs processIn(std::string_view message) {
  const std::vector<std::string> parts = split(message, betweenParts);
  return {parts.at(0), parts.at(1), parts.at(2), {parts.begin() + 3, parts.end()}};
}

[[noreturn]] void runCommand(StartedAs process) {
  takePlace(process);
  std::vector<char*> argv = argvOf(process);
  std::_Exit(programMain(static_cast<int>(process.arguments.size()), argv.data()));
}

/// Until the tests' process closes its end.
[[noreturn]] void serve(int socket) {
  std::string message(1 << 20, '\0');
  for (;;) {
    const ssize_t bytes = recv(socket, message.data(), message.size(), 0);
    if (bytes <= 0) std::_Exit(0);
    const pid_t child = fork();
    if (child == 0) runCommand(processIn({message.data(), static_cast<size_t>(bytes)}));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (send(socket, &status, sizeof status, MSG_NOSIGNAL) < 0) std::_Exit(0);
  }
}

/// A process that forks when it is asked to. It was forked before the first test, so it has the libraries of the
/// program and none of the threads that tests start: a fork of those would wait for threads that it does not have.
class ForkServer : public testing::Environment {
 public:
  void SetUp() override {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const pid_t server = fork();
    if (server == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      serve(ends[1]);
    }
    close(ends[1]);
    connection = ends[0];
  }

  static int run(const StartedAs& process) {
    const std::string message = messageOf(process);
    int status = 0;
    if (send(connection, message.data(), message.size(), MSG_NOSIGNAL) < 0 ||
        recv(connection, &status, sizeof status, 0) != sizeof status) {
      ADD_FAILURE() << "the fork server has ended";
    }
    return status;
  }

 private:
  static inline int connection = -1;
};

[[maybe_unused]] const testing::Environment* const registered =
    testing::AddGlobalTestEnvironment(new ForkServer);  // gtest deletes it

}  // namespace

void takePlace(const StartedAs& process) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  dup2(open(process.out.c_str(), flags, 0600), STDOUT_FILENO);
  dup2(open(process.err.c_str(), flags, 0600), STDERR_FILENO);
  if (chdir(process.folder.c_str()) != 0) std::_Exit(99);
}

std::vector<char*> argvOf(StartedAs& process) {
  std::vector<char*> argv;
  for (std::string& argument : process.arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return argv;
}

int runInFork(const StartedAs& process) { return ForkServer::run(process); }

}  // namespace tandem
