#pragma once

// The two ends of a ZeroMQ stream.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "data/stream/frame_stream.h"
#include "data/stream/zmq_socket.h"

namespace tandem {

class ZmqTest : public ::testing::Test {
 protected:
  ZmqTest() { std::filesystem::create_directories(folder_); }
  ~ZmqTest() override { std::filesystem::remove_all(folder_); }

  std::string path(std::string_view name) const { return concat(folder_, '/', name); }
  std::string address() const { return concat("ipc://", path("pipe")); }
  StreamOptions options() const {
    return {.name = "zmq-consume", .argument = address(), .waiting = 4, .mostBytes = 1000};
  }
  ZmqOptions sender() const {
    return {.address = address(),
            .title = "sender",
            .type = zmq::socket_type::push,
            .connects = true,
            .timeoutMs = 20'000,
            .waiting = 4};
  }

  static std::vector<uint8_t> messageOf(std::string_view text) { return {text.begin(), text.end()}; }
  static Frame nextOf(FrameStream& stream) { return stream.next(60'000).value(); }
  static std::string textOf(const Frame& frame) { return {frame.bytes.begin(), frame.bytes.end()}; }

  /// A receiver takes nothing for so long. An evaluation, for example, takes no batches for a while.
  void expectNothingIsLostIn(std::chrono::milliseconds pause) const {
    constexpr int messages = 64;
    constexpr size_t size = 1 << 18;  // all together are more than the system holds on their way
    const auto numbered = [](int number) { return concat(number, ' ', std::string(size, 'x')); };
    std::vector<std::unique_ptr<FrameStream>> streams;
    std::vector<std::thread> sending;
    for (const std::string& where : {address(), freeAddress()}) {
      StreamOptions asked = options();
      asked.argument = where, asked.waiting = 2, asked.mostBytes = 2 * size;
      streams.push_back(openZmqStream(asked));
      ZmqOptions sends = sender();
      sends.address = where, sends.waiting = 2;
      sending.emplace_back([=] {
        ZmqSocket socket(sends);
        for (int i = 0; i < messages; ++i) socket.send(messageOf(numbered(i)));
        socket.drain();
      });
    }
    std::this_thread::sleep_for(pause);
    for (auto& stream : streams) {
      for (int i = 0; i < messages; ++i) ASSERT_TRUE(textOf(nextOf(*stream)) == numbered(i)) << i;
    }
    for (std::thread& thread : sending) thread.join();
  }

 private:
  /// An address of this host that nobody uses.
  static std::string freeAddress() {
    ZmqSocket socket({.address = "tcp://127.0.0.1:*", .title = "free address"});
    return socket.socket().get(zmq::sockopt::last_endpoint);
  }

  const std::string folder_ = concat(testing::TempDir(), "zmq_stream_", getpid());
};

}  // namespace tandem
