#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/mutex.h"

namespace tandem {

/// Where a socket of ZeroMQ is, and what it takes.
struct ZmqOptions {
  std::string address;  ///< "ipc://testpipe", "tcp://127.0.0.1:5555"
  std::string title;    ///< for messages: "--input=zmq-consume:tcp://127.0.0.1:5555"
  zmq::socket_type type = zmq::socket_type::pull;
  bool connects = false;   ///< to the address; else it waits there
  bool mayBeOpen = false;  ///< whether it may wait, without keys, where other hosts reach it
  std::string keys = {};   ///< folder of makeZmqKeys(); empty: connections are plain
  int timeoutMs = 0;       ///< for send() and drain(): that nobody takes a message; -1: without end
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

  /// Sends a message. While `waiting` messages wait, it waits. Throws PeerError if nobody takes one for the timeout.
  void send(std::vector<uint8_t> bytes);
  /// Waits until the last message has left and receivers have read it, as for send(). An end without it waits as long,
  /// but loses without a word what is left or unread then.
  void drain();

 private:
  class Gate;
  class Connections;

  /// Counts the messages that ZeroMQ holds. Its thread frees them, some when the context ends.
  class Held {
   public:
    void add();
    void remove();
    int64_t count() const;
    /// Returns whether fewer than `before` are left. Waits for that, -1 ms: without end.
    bool waitForFewer(int64_t before, int ms);

   private:
    mutable Mutex mutex_;
    std::condition_variable_any changed_;
    int64_t count_ TANDEM_GUARDED_BY(mutex_) = 0;
  };

  [[noreturn]] void refuseToWait();

  const std::string title_;
  const int timeoutMs_;
  int64_t sent_ = 0;
  Held held_;  // ends after the context
  zmq::context_t context_;
  std::unique_ptr<Gate> gate_;                // lets clients in; null: all of this host, or of the address
  zmq::socket_t socket_;                      // closed before them
  std::unique_ptr<Connections> connections_;  // of a socket that sends
};

/// Writes the keys of an encrypted connection (CURVE) to a new folder. One who waits needs server.secret and
/// client.public; clients need server.public and client.secret. Throws StorageError.
void makeZmqKeys(const std::string& folder);

}  // namespace tandem
