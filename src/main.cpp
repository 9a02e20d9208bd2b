#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/program.h"
#include "machine/process/prepare_process.h"
#include "machine/process/resource_limits.h"

namespace {

int exitCodeOfProgram(int argc, char** argv) {
  try {
    tandem::prepareProcess();
    return tandem::runProgram(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& failure) {
    const tandem::Error known = tandem::explained(failure);
    tandem::logError(tandem::concat("error[", tandem::nameOf(known.code()), "]: ", known.what()));
    return static_cast<int>(known.code());
  }
}

}  // namespace

/// Ends without the destructors of static objects: those of libtorch take 60 ms, and a sweep starts hundreds of
/// processes. Under a sanitizer main returns, because that is when leaks are reported.
int main(int argc, char** argv) {
  const int code = exitCodeOfProgram(argc, argv);
#ifdef TANDEM_SANITIZED
  return code;
#else
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}
