#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "support/captured_warnings.h"
#include "support/text_of_failure.h"
#include "zmq_ends.h"

namespace tandem {
namespace {

void send(ZmqSocket& socket, const std::string& text, bool more = false) {
  socket.socket().send(zmq::buffer(text), more ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

TEST_F(ZmqTest, MessagesComeInOrder) {
  const auto stream = openZmqStream(options());
  ZmqSocket socket(sender());  // its last messages may be lost when it ends before they are taken
  std::thread sending([&] {
    for (int i = 0; i < 20; ++i) send(socket, concat("message ", i));
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(textOf(nextOf(*stream)), concat("message ", i));
  sending.join();
}

TEST_F(ZmqTest, ASenderMayWaitInstead) {
  ZmqOptions waits = sender();
  waits.connects = false;
  ZmqSocket socket(waits);
  StreamOptions asked = options();
  asked.connects = true;
  const auto stream = openZmqStream(asked);
  send(socket, "hello");
  EXPECT_EQ(textOf(nextOf(*stream)), "hello");
}

// zmq_stream_long_test.cpp pauses for longer than a connection waits for signs of life.
TEST_F(ZmqTest, AReceiverThatPausesLosesNothing) { expectNothingIsLostIn(std::chrono::milliseconds(300)); }

TEST_F(ZmqTest, ASenderWithoutAReceiverSaysWhatHasLeft) {
  ZmqOptions connects = sender();
  connects.timeoutMs = 100, connects.waiting = 2;
  ZmqOptions waits = connects;
  waits.connects = false, waits.address = concat("ipc://", path("waiting"));
  ZmqSocket first(connects), second(waits);
  first.send(messageOf("one"));
  first.send(messageOf("two"));
  for (const std::string& text : {textOfFailure<PeerError>([&] { first.drain(); }),
                                  textOfFailure<PeerError>([&] { first.send(messageOf("three")); }),
                                  textOfFailure<PeerError>([&] { second.send(messageOf("one")); })}) {
    EXPECT_NE(text.find("; 0 have left"), std::string::npos) << text;
  }
}

TEST_F(ZmqTest, WhatHasLeftArrives) {
  const auto stream = openZmqStream(options());
  std::thread sending([&] {
    ZmqSocket socket(sender());
    for (int i = 0; i < 20; ++i) socket.send(messageOf(concat("message ", i)));
    socket.drain();
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(textOf(nextOf(*stream)), concat("message ", i));
  sending.join();
  EXPECT_FALSE(stream->next(10));
}

TEST_F(ZmqTest, SilenceIsNoMessage) {
  const auto stream = openZmqStream(options());
  EXPECT_FALSE(stream->next(10));
  EXPECT_NE(stream->hint().find("at most 1000 B"), std::string::npos) << stream->hint();
}

TEST_F(ZmqTest, MessagesOfSeveralPartsAndTooLargeOnesAreNoBatches) {
  const auto stream = openZmqStream(options());
  ZmqSocket socket(sender());
  send(socket, "part", true);
  send(socket, "part");
  EXPECT_NE(nextOf(*stream).fault.find("several parts"), std::string::npos);
  std::atomic<bool> taken = false;
  std::thread sending([&] {
    send(socket, std::string(1001, 'x'));
    while (!taken) {  // what was on its way is lost when the large one ends the connection
      socket.socket().send(zmq::str_buffer("next"), zmq::send_flags::dontwait);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(textOf(nextOf(*stream)), "next");
  taken = true;
  sending.join();
}

TEST_F(ZmqTest, AddressesThatCannotBeUsedAreRefused) {
  const auto refusal = [&](const std::string& address) {
    StreamOptions asked = options();
    asked.argument = address;
    return textOfFailure<UsageError>([&] { openZmqStream(asked); });
  };
  EXPECT_NE(refusal("nowhere").find("ipc://PATH or tcp://HOST:PORT"), std::string::npos) << refusal("nowhere");
  EXPECT_NE(refusal("ipc:///no/such/folder/pipe").find("cannot wait at"), std::string::npos);
  for (const char* open : {"tcp://0.0.0.0:5999", "tcp://*:5999", "tcp://192.0.2.1:5999", "tcp://[::]:5999"}) {
    EXPECT_NE(refusal(open).find("--zmq-keys=FOLDER"), std::string::npos) << open << ": " << refusal(open);
  }
}

TEST_F(ZmqTest, KeysLetTheirOwnersInAlone) {
  CapturedWarnings warnings;
  makeZmqKeys(path("keys"));
  makeZmqKeys(path("other"));
  std::filesystem::copy_file(path("keys/server.public"), path("other/server.public"),
                             std::filesystem::copy_options::overwrite_existing);
  StreamOptions asked = options();
  asked.keys = path("keys");
  const auto stream = openZmqStream(asked);
  ZmqOptions plain = sender(), unknown = sender(), known = sender();
  unknown.keys = path("other"), known.keys = path("keys");
  plain.timeoutMs = unknown.timeoutMs = 0;
  ZmqSocket first(plain), second(unknown), third(known);
  // One that is refused already has nobody to send to, and would wait for ever.
  first.socket().send(zmq::str_buffer("plain"), zmq::send_flags::dontwait);
  second.socket().send(zmq::str_buffer("unknown"), zmq::send_flags::dontwait);
  send(third, "known");
  EXPECT_EQ(textOf(nextOf(*stream)), "known");
  for (int tries = 0; tries < 100 && warnings.text().empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_NE(warnings.text().find("its key is not client.public"), std::string::npos);
}

TEST_F(ZmqTest, KeysThatAreNoneAreRefused) {
  StreamOptions asked = options();
  asked.keys = path("none");
  EXPECT_NE(textOfFailure<DataError>([&] { openZmqStream(asked); }), "");
  makeZmqKeys(path("keys"));
  EXPECT_NE(textOfFailure<StorageError>([&] { makeZmqKeys(path("keys")); }).find("already"), std::string::npos);
  EXPECT_EQ(std::filesystem::status(path("keys/server.secret")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace tandem
