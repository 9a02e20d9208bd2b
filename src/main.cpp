#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/program.h"
#include "machine/process/prepare_process.h"

int main(int argc, char** argv) {
  try {
    tandem::prepareProcess();
    return tandem::runProgram(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& failure) {
    const auto code = tandem::exitCodeOf(failure);
    tandem::logError(tandem::concat("error[", tandem::nameOf(code), "]: ", tandem::lineOf(failure)));
    return static_cast<int>(code);
  }
}
