#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace tandem {

/// Exit codes (docs/ARCHITECTURE.md).
inline constexpr int usage = 2, data = 3, checkpoint = 4, rendezvous = 5, peer = 6, numeric = 7, storage = 8,
                     internal = 70, stoppedAndSaved = 75, interrupted = 130;

struct Finished {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out, err;
  /// Lines of standard error that start with "error[".
  std::vector<std::string> errors() const;
};

/// The built program, started with arguments in an empty folder of its own.
class Tandem {
 public:
  explicit Tandem(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables = {},
                  const char* program = TANDEM_BINARY_DIR "/tandem");
  ~Tandem();
  Tandem(const Tandem&) = delete;
  Tandem& operator=(const Tandem&) = delete;

  pid_t id() const { return id_; }
  std::string outSoFar() const;
  Finished wait();

  bool ended() const;

  /// Its child process that runs a point, once there is one; else -1.
  pid_t worker() const;

 private:
  std::string out_, err_;
  pid_t id_ = -1;
};

/// An empty folder of its own for the running test.
std::string ownFolder();

/// A file for results in it.
inline std::string resultsPath() { return ownFolder() + "/results.jsonl"; }

Finished runTandem(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables = {});

/// The same, but by a fork of the tests' program, which has the commands too: the libraries' start, which takes a fifth
/// of a second, is spared. For commands that start no processes of the program. The environment and limits are those
/// that the tests began with.
Finished runForked(const std::vector<std::string>& arguments);

}  // namespace tandem
