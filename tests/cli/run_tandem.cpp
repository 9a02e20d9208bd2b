#include "run_tandem.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/text.h"
#include "fork_server.h"
#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string freshPath(const std::string& name) {
  static int number = 0;
  return concat(ownFolder(), '/', name, ++number);
}

std::vector<std::string> withName(const char* program, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

[[noreturn]] void become(StartedAs process) {
  takePlace(process);
  std::vector<char*> argv = argvOf(process);
  execv(argv[0], argv.data());
  std::_Exit(99);
}

Finished finished(int status, const std::string& out, const std::string& err) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {.code = code, .out = contents(out), .err = contents(err)};
}

}  // namespace

std::string ownFolder() {
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  const testing::TestInfo* test = unit.current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) / concat("tandem_cli_", getpid(), '_',
                                                                         unit.current_test_suite()->name(), '_',
                                                                         test == nullptr ? "suite" : test->name());
  std::filesystem::create_directories(folder);
  return folder.string();
}

std::vector<std::string> Finished::errors() const {
  std::vector<std::string> found;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("error[")) found.push_back(line);
  }
  return found;
}

Tandem::Tandem(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables,
               const char* program)
    : out_(freshPath("out")), err_(freshPath("err")) {
  const auto folder = ownFolder();
  id_ = fork();
  if (id_ != 0) return;
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  become({folder, out_, err_, withName(program, arguments)});
}

Tandem::~Tandem() {
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

std::string Tandem::outSoFar() const { return contents(out_); }

Finished Tandem::wait() {
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  return finished(status, out_, err_);
}

bool Tandem::ended() const {
  siginfo_t state{};
  return waitid(P_PID, static_cast<id_t>(id_), &state, WEXITED | WNOHANG | WNOWAIT) != 0 || state.si_pid == id_;
}

pid_t Tandem::worker() const {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string folder = entry.path().string(), stat = textOf(folder + "/stat");
    const auto name = stat.rfind(')');  // then: the state, the parent
    if (name == std::string::npos || !stat.substr(name + 3).starts_with(concat(' ', id_, ' '))) continue;
    const auto words = split(textOf(folder + "/cmdline"), std::string_view("\0", 1));
    if (words.size() > 1 && words[1] == "worker") return static_cast<pid_t>(std::stol(entry.path().filename()));
  }
  return -1;
}

Finished runTandem(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables) {
  return Tandem(arguments, variables).wait();
}

Finished runForked(const std::vector<std::string>& arguments) {
  const StartedAs process{ownFolder(), freshPath("out"), freshPath("err"), withName("tandem", arguments)};
  return finished(runInFork(process), process.out, process.err);
}

}  // namespace tandem
