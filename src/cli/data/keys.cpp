#include <iostream>

#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "data/stream/zmq_socket.h"

namespace tandem {

int makeKeys(Arguments typed) {
  const DataArguments arguments("keys", {}, typed);
  makeZmqKeys(arguments.path());
  std::cout << arguments.path() << ": give the one who waits server.secret and client.public, clients server.public, "
            << "client.public and client.secret\n";
  return 0;
}

std::string keysHelp() { return ""; }

}  // namespace tandem
