#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"

/// The program, started many times by one process that has loaded the libraries once, which takes a fifth of a second.
/// scripts/verify-robust gives it a socket as standard input. A line asks for a run:
///
///   {"arguments": [[45, 45, ...], ...], "folder": "...", "environment": {...}, "limits": [[resource, value], ...],
///    "closed": [descriptor, ...], "out": "...", "error": "..."}
///
/// Arguments are bytes. The answers are a line with the process id, and one with the status of waitpid(). A child of a
/// run is this program too, without a socket, and then it is the program alone.
namespace {

using nlohmann::json;

void require(bool good) {
  if (!good) ::_exit(99);
}

void redirect(const std::string& path, int to) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  require(file >= 0 && ::dup2(file, to) == to);
  ::close(file);
}

[[noreturn]] void run(const json& asked) {
  for (const auto& [name, value] : asked.at("environment").items()) {
    require(::setenv(name.c_str(), value.get<std::string>().c_str(), 1) == 0);
  }
  require(::chdir(asked.at("folder").get<std::string>().c_str()) == 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  require(nothing >= 0 && ::dup2(nothing, STDIN_FILENO) == STDIN_FILENO);  // the socket is closed with it
  ::close(nothing);
  redirect(asked.at("out"), STDOUT_FILENO);
  redirect(asked.at("error"), STDERR_FILENO);
  for (const json& limit : asked.at("limits")) {
    const auto value = limit.at(1).get<rlim_t>();
    const rlimit both{value, value};
    require(::setrlimit(static_cast<__rlimit_resource>(limit.at(0).get<int>()), &both) == 0);
  }
  for (const json& descriptor : asked.at("closed")) ::close(descriptor.get<int>());
  std::vector<std::string> words{"tandem"};
  for (const json& bytes : asked.at("arguments")) {
    std::string& word = words.emplace_back();
    for (const json& byte : bytes) word += static_cast<char>(byte.get<int>());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ::_exit(tandem::programMain(static_cast<int>(arguments.size()), arguments.data()));
}

bool hasSocket() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!hasSocket()) return tandem::programMain(argc, argv);
  std::string line;
  while (std::getline(std::cin, line)) {
    const json asked = json::parse(line);
    const pid_t child = ::fork();
    if (child == 0) run(asked);
    int status = 0;
    std::cout << child << std::endl;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 1;
    std::cout << status << std::endl;
  }
  return 0;
}
