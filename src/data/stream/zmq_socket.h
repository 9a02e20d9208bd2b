#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <zmq.hpp>

namespace tandem {

/// Where a socket of ZeroMQ is, and what it takes.
struct ZmqOptions {
  std::string address;  ///< "ipc://testpipe", "tcp://127.0.0.1:5555"
  std::string title;    ///< for messages: "--input=zmq-consume:tcp://127.0.0.1:5555"
  zmq::socket_type type = zmq::socket_type::pull;
  bool connects = false;   ///< to the address; else it waits there
  bool mayBeOpen = false;  ///< whether it may wait, without keys, where other hosts reach it
  std::string keys = {};   ///< folder of makeZmqKeys(); empty: connections are plain
  int lingerMs = 0;        ///< that an end waits for messages to leave
  int64_t waiting = 1;     ///< messages that may wait
  int64_t mostBytes = -1;  ///< of a message that comes; -1: any
};

/// A socket with its context, and, where it waits with keys, who is let in.
class ZmqSocket {
 public:
  /// Throws UsageError for an address or keys that cannot be used.
  explicit ZmqSocket(const ZmqOptions& options);
  ~ZmqSocket();
  zmq::socket_t& socket() { return socket_; }

 private:
  class Gate;
  zmq::context_t context_;
  std::unique_ptr<Gate> gate_;  // lets clients in; null: all of this host, or of the address
  zmq::socket_t socket_;        // closed first
};

/// Writes the keys of an encrypted connection (CURVE) to a new folder. One who waits needs server.secret and
/// client.public; clients need server.public and client.secret. Throws StorageError.
void makeZmqKeys(const std::string& folder);

}  // namespace tandem
