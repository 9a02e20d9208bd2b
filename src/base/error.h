#pragma once

#include <stdexcept>
#include <string>

namespace tandem {

/// Process exit codes, one for each class of failure (docs/ARCHITECTURE.md, "Errors").
enum class ExitCode {
  ok = 0,
  usage = 2,
  data = 3,
  checkpoint = 4,
  rendezvous = 5,
  peer = 6,
  numeric = 7,
  storage = 8,
  invalidMeasurement = 9,
  internal = 70,
  stoppedAndSaved = 75,
  interrupted = 130,
};

/// A failure. Its text already says what failed, where, which value was given, the rule and the remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

template <ExitCode Code>
class TypedError : public Error {
 public:
  explicit TypedError(const std::string& text) : Error(Code, text) {}
};

using UsageError = TypedError<ExitCode::usage>;
using DataError = TypedError<ExitCode::data>;
using CheckpointError = TypedError<ExitCode::checkpoint>;
using RendezvousError = TypedError<ExitCode::rendezvous>;
using PeerError = TypedError<ExitCode::peer>;
using NumericError = TypedError<ExitCode::numeric>;
using StorageError = TypedError<ExitCode::storage>;
using InvalidMeasurement = TypedError<ExitCode::invalidMeasurement>;
using InternalError = TypedError<ExitCode::internal>;

/// Returns the exit code of an exception. An exception that is not an Error is a bug in Tandem.
ExitCode exitCodeOf(const std::exception& failure) noexcept;

/// What a failure says, in one line: the text of an Error, the first line of others (libtorch's carry a stack trace).
std::string lineOf(const std::exception& failure);

/// Name of the code in records and on stderr: "usage", "data", ..., "internal".
const char* nameOf(ExitCode code) noexcept;

/// Throws InternalError that names the place if `condition` is false. Only a bug can make it false.
void check(bool condition, const char* what);

}  // namespace tandem
