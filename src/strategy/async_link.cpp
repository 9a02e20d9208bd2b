#include "strategy/async_link.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "strategy/rank_link.h"
#include "strategy/replica_sums.h"

namespace tandem {
namespace {

constexpr double untilTheWorkerComes = 1e6;  // s: its step may take long, and its end is noticed at once

constexpr int requestTag = 0, verdictTag = 1, firstTag = 2, tagsOfMessage = 2;

int gradientTag(const AsyncMessage& message) { return firstTag + tagsOfMessage * message.number; }
int weightsTag(const AsyncMessage& message) { return gradientTag(message) + 1; }

at::Tensor valuesOf(const ServerShard& shard, const AsyncMessage& message, AsyncRequest request) {
  const FlatBuffers& buffers = shard.buffers();
  return request == AsyncRequest::weights ? buffers.weights(message.slice) : buffers.master(message.slice);
}

}  // namespace

std::vector<AsyncMessage> planAsyncMessages(std::span<const std::unique_ptr<ServerShard>> copies, int replicas,
                                            const FlatBuffers& buffers, int64_t messageBytes) {
  std::vector<AsyncMessage> all;
  for (int replica = 0; replica < replicas; ++replica) {
    for (const ShardMessage& message : planMessages(piecesOf(copies, replica, buffers), messageBytes)) {
      const auto shard = std::ranges::find(copies, message.shard, &std::unique_ptr<ServerShard>::get);
      all.push_back({.number = static_cast<int>(all.size()),
                     .replica = replica,
                     .server = message.shard->plan().server,
                     .shard = static_cast<size_t>(shard - copies.begin()),
                     .slice = message.slice,
                     .pieces = message.pieces});
    }
  }
  return all;
}

void Letters::wait() {
  for (const auto& message : open_) message->wait();
  open_.clear();
}

std::unique_ptr<RankMessage> AsyncWorkerLink::ask(int server, AsyncRequest request) {
  return mail_.send(server, requestTag, at::full({1}, static_cast<float>(request)));
}

std::unique_ptr<RankMessage> AsyncWorkerLink::fetch(const AsyncMessage& message, AsyncRequest request) {
  return mail_.receive(message.server, weightsTag(message), valuesOf(*copies_[message.shard], message, request));
}

std::unique_ptr<RankMessage> AsyncWorkerLink::sendGradient(const AsyncMessage& message) {
  return mail_.send(message.server, gradientTag(message), copies_[message.shard]->buffers().gradient(message.slice));
}

std::unique_ptr<RankMessage> AsyncWorkerLink::sendVerdict(int server, double lossScale, bool overflow) {
  return mail_.send(server, verdictTag, at::tensor({static_cast<float>(lossScale), overflow ? 1.0F : 0.0F}));
}

AsyncConnection::AsyncConnection(AsyncServer& server, RankMail& mail, int worker, std::vector<AsyncMessage> messages,
                                 std::vector<std::unique_ptr<ServerShard>> copies)
    : server_(server), mail_(mail), worker_(worker), messages_(std::move(messages)), copies_(std::move(copies)) {}

void AsyncConnection::serve() {
  const at::Tensor request = at::zeros({1});
  for (;;) {
    mail_.receive(worker_, requestTag, request, untilTheWorkerComes)->wait();
    if (request.item<float>() == static_cast<float>(AsyncRequest::masters)) break;
    serveStep();
  }
  server_.pullMasters(worker_, copies_);
  sendAll(AsyncRequest::masters);
}

// The gradients may come at any time after the weights have left.
void AsyncConnection::serveStep() {
  server_.pull(worker_, copies_);
  const at::Tensor verdict = at::zeros({2});
  Letters gradients;
  for (const AsyncMessage& message : messages_) {
    const at::Tensor to = copies_[message.shard]->buffers().gradient(message.slice);
    gradients.add(mail_.receive(worker_, gradientTag(message), to, untilTheWorkerComes));
  }
  gradients.add(mail_.receive(worker_, verdictTag, verdict, untilTheWorkerComes));
  sendAll(AsyncRequest::weights);
  gradients.wait();
  server_.push(worker_, copies_, verdict[0].item<float>(), verdict[1].item<float>() != 0);
}

void AsyncConnection::sendAll(AsyncRequest request) {
  Letters letters;
  for (const AsyncMessage& message : messages_) {
    letters.add(mail_.send(worker_, weightsTag(message), valuesOf(*copies_[message.shard], message, request)));
  }
  letters.wait();
}

}  // namespace tandem
