#pragma once

#include <string>

namespace tandem {

/// A socket that listens on a port of an address of this host, for serveRanks(). Port 0: one that is free. Children do
/// not inherit it. Throws RendezvousError if the name has no address, if it is none of this host, or if the port is in
/// use.
int listenOn(const std::string& host, int port);

/// On a free port of loopback, which no other host reaches.
int loopbackListener();

}  // namespace tandem
