#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/program.h"

namespace {

/// Errors are one line: of what a library throws (libtorch adds a stack trace) the first.
std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int argc, char** argv) {
  try {
    return tandem::runProgram(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& failure) {
    const auto code = tandem::exitCodeOf(failure);
    tandem::logError(tandem::concat("error[", tandem::nameOf(code), "]: ", firstLine(failure.what())));
    return static_cast<int>(code);
  }
}
