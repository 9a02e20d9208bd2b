#pragma once

// Limits of the processes that a user may have.

#include <unistd.h>

#include "bash_lines.h"

namespace tandem {

/// Runs the program where a user may have so many processes and threads. The limit does not hold for root, so another
/// user runs it, who may read what root may. Each test process has a user of its own: others' processes would count.
inline Finished withProcesses(int most, const std::string& arguments) {
  const int user = 60000 + getpid() % 5000;
  return shell(concat("chmod 777 . && ulimit -u ", most, " && exec setpriv --reuid=", user, " --clear-groups ",
                      "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search $T ", arguments));
}

/// Commands that need threads or processes. Makes the weights that they name.
inline std::vector<std::string> commandsWithThreads() {
  EXPECT_EQ(shell("exec $T " + tiny() + "--save-weights=w.safetensors").code, 0);
  return {"predict --model=trivial --classes=10 --image-size=32 --weights=w.safetensors none.png",
          "features --model=trivial --classes=10 --image-size=32 --weights=w.safetensors --out=f.npy n.png",
          "links --budget=0.1 --sizes=4", "plan show --model=lenet5"};
}

inline void expectTooFewProcesses(int most, const std::string& command) {
  SCOPED_TRACE(concat(most, ": ", command));
  expectOneLine(withProcesses(most, command), usage, "of a user are the most here (ulimit -u); raise it");
}

}  // namespace tandem
