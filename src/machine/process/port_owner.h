#pragma once

#include <string>

namespace tandem {

/// Which process of this host listens on a TCP port: "pid 77 (python3)". Empty if none does, or if the system does not
/// say, as of other users' processes.
std::string portOwner(int port);

}  // namespace tandem
