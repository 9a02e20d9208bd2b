#include "comm/listener.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "machine/process/port_owner.h"

namespace tandem {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string placeText(const std::string& host, int port) {
  return concat(host, ", ", port == 0 ? "a free port" : concat("port ", port));
}

Addresses addressesOf(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), concat(port).c_str(), &wanted, &found); error != 0) {
    throw RendezvousError(concat(placeText(host, port), ": the ranks cannot meet there: ", gai_strerror(error),
                                 "; give --master-addr a name or address of rank 0's host"));
  }
  return {found, &freeaddrinfo};
}

}  // namespace

int listenOn(const std::string& host, int port) {
  const Addresses addresses = addressesOf(host, port);
  int error = 0;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    const int listener = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;  // a port that an ended run used a moment ago is free
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(listener, each->ai_addr, each->ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0) {
      return listener;
    }
    error = errno;
    if (listener >= 0) close(listener);
  }
  const std::string owner = error == EADDRINUSE ? portOwner(port) : "";
  throw RendezvousError(
      concat(placeText(host, port), ": cannot listen where the ranks would meet: ", std::strerror(error),
             owner.empty() ? "" : concat(", by ", owner), "; give another --master-addr or --master-port"));
}

int loopbackListener() { return listenOn("127.0.0.1", 0); }

}  // namespace tandem
