#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "comm/world.h"
#include "strategy/async_server.h"

// How workers and servers on other ranks talk, where no rank waits for all.
//
// In each step a worker asks every server for weights, gets them, sends the gradients of its replicas, each message as
// soon as it is summed, and then its verdict: whether they are numbers, and what they are scaled by. At the end it asks
// for the masters instead.

namespace tandem {

/// A range that travels between a worker and a server. Numbers are the same on all ranks.
struct AsyncMessage {
  int number = 0;
  int replica = 0;    ///< of the worker, which sums it
  int server = 0;     ///< rank
  size_t shard = 0;   ///< index among all shards
  Slice slice;        ///< of the shard's buffers
  size_t pieces = 0;  ///< so many of the replica's pieces must be summed before
};

/// The messages of all replicas of a worker, in the order of replicas and of what completes them. `copies`: of all
/// shards. `buffers`: a replica's.
std::vector<AsyncMessage> planAsyncMessages(std::span<const std::unique_ptr<ServerShard>> copies, int replicas,
                                            const FlatBuffers& buffers, int64_t messageBytes);

/// Messages that were started and are waited for together.
class Letters {
 public:
  void add(std::unique_ptr<RankMessage> message) { open_.push_back(std::move(message)); }
  /// Throws as RankMessage::wait().
  void wait();

 private:
  std::vector<std::unique_ptr<RankMessage>> open_;
};

enum class AsyncRequest { weights, masters };

/// A worker's side. For one thread at a time per replica, which has its own letters.
class AsyncWorkerLink {
 public:
  /// `copies` and mail outlive it.
  AsyncWorkerLink(RankMail& mail, std::span<const std::unique_ptr<ServerShard>> copies)
      : mail_(mail), copies_(copies) {}

  std::unique_ptr<RankMessage> ask(int server, AsyncRequest request);
  std::unique_ptr<RankMessage> fetch(const AsyncMessage& message, AsyncRequest request);
  std::unique_ptr<RankMessage> sendGradient(const AsyncMessage& message);
  std::unique_ptr<RankMessage> sendVerdict(int server, double lossScale, bool overflow);

 private:
  RankMail& mail_;
  std::span<const std::unique_ptr<ServerShard>> copies_;
};

/// A server's side: what one worker on another rank asks for.
class AsyncConnection {
 public:
  /// `messages`: those between them, whose shards are indices of `copies`: the server's shards, as this worker pulls
  /// and pushes them. Server and mail outlive it.
  AsyncConnection(AsyncServer& server, RankMail& mail, int worker, std::vector<AsyncMessage> messages,
                  std::vector<std::unique_ptr<ServerShard>> copies);

  /// Serves until the worker has its masters. Throws as RankMessage::wait() and AsyncServer.
  void serve();

 private:
  void serveStep();
  void sendAll(AsyncRequest request);

  AsyncServer& server_;
  RankMail& mail_;
  const int worker_;
  const std::vector<AsyncMessage> messages_;
  const std::vector<std::unique_ptr<ServerShard>> copies_;
};

}  // namespace tandem
