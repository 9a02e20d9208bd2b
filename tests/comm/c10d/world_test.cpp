#include "comm/world.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>

#include "base/clock.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "support/run_ranks.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

TEST(World, EachRankHearsAll) {
  for (const int size : {2, 5}) {
    runRanks(size, [&](World& world) {
      for (int round = 0; round < 3; ++round) {
        const auto texts = world.exchange(concat("rank ", world.place().rank, " round ", round));
        ASSERT_EQ(std::ssize(texts), size);
        for (int rank = 0; rank < size; ++rank) EXPECT_EQ(texts[rank], concat("rank ", rank, " round ", round));
      }
    });
  }
}

TEST(World, TheFirstRankIsHeardByAllAndDoesNotWait) {
  runRanks(3, [](World& world) {
    const bool first = world.place().rank == 0;
    for (int round = 0; round < 3; ++round) EXPECT_EQ(world.fromFirst(first ? concat(round) : "else"), concat(round));
    EXPECT_EQ(world.exchange("x").size(), 3U);
  });
}

TEST(World, AllTellTheFirstRankAndDoNotWait) {
  runRanks(3, [](World& world) {
    for (int round = 0; round < 3; ++round) {
      const auto texts = world.toFirst(concat(world.place().rank, '/', round));
      if (world.place().rank != 0) {
        EXPECT_TRUE(texts.empty());
        continue;
      }
      for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(texts.at(rank), concat(rank, '/', round));
    }
  });
}

TEST(World, AFirstRankThatSaysNothingIsNamed) {
  runRanks(2, [](World& world) {
    if (world.place().rank == 0) return;
    const std::string text = textOfFailure<PeerError>([&] { world.fromFirst("", 0.3); });
    EXPECT_NE(text.find("rank 1 of 2: nothing heard of rank 0 for 300 ms"), std::string::npos) << text;
  });
}

/// Runs `body` on each rank of groups of two and of three, for each type of gradients.
void inGroups(const std::function<void(RankGroup& group, int rank, int size, at::ScalarType type)>& body) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const int size : {2, 3}) {
      runRanks(size, [&](World& world) {
        Monitor monitor(true);
        const auto group = world.group("replica 0", monitor);
        body(*group, world.place().rank, size, type);
      });
    }
  }
}

TEST(World, GroupsSumAndBroadcast) {
  constexpr int64_t count = 1001;
  inGroups([](RankGroup& group, int rank, int size, at::ScalarType type) {
    std::vector<at::Tensor> tensors;
    std::vector<Ticket> tickets;
    for (int i = 0; i < 20; ++i) {
      tensors.push_back(at::full({count}, rank + 1 + i, type));
      tickets.push_back(group.start(tensors.back(), i % 2 == 0 ? Collective::sum : Collective::broadcast));
    }
    for (int i = 19; i >= 0; --i) group.wait(tickets[i]);
    EXPECT_TRUE(group.progress());
    for (int i = 0; i < 20; ++i) {
      const int expected = i % 2 == 0 ? size * (size + 1) / 2 + size * i : 1 + i;
      EXPECT_TRUE(at::equal(tensors[i], at::full({count}, expected, type))) << size << ' ' << i;
    }
  });
}

// The next write to a connection that a lost rank has closed would end this one too.
TEST(World, AClosedConnectionIsNoSignal) {
  ::signal(SIGPIPE, SIG_DFL);
  runRanks(2, [](World& world) {
    Monitor monitor(true);
    const auto group = world.group("replica 0", monitor);
    struct sigaction now = {};
    ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &now), 0);
    EXPECT_EQ(now.sa_handler, SIG_IGN);
  });
}

TEST(World, GroupsGatherToARankAndBroadcastFromIt) {
  constexpr int64_t count = 1001;
  inGroups([](RankGroup& group, int rank, int size, at::ScalarType type) {
    std::vector<at::Tensor> all, told, own;
    for (int i = 0; i < 6; ++i) {
      const int root = i % size;
      own.push_back(at::full({count}, 10 * rank + i, type));
      all.push_back(at::zeros({root == rank ? size * count : 0}, type));
      told.push_back(at::full({count}, rank + i, type));
      group.gatherTo(root, own.back(), all.back());
      group.broadcastFrom(root, told.back());
    }
    const at::Tensor sum = at::full({count}, rank, type);
    group.wait(group.start(sum, Collective::sum));
    EXPECT_TRUE(sum.eq(size * (size - 1) / 2).all().item<bool>());
    for (int i = 0; i < 6; ++i) {
      EXPECT_TRUE(told[i].eq(i % size + i).all().item<bool>()) << size << ' ' << i;
      EXPECT_TRUE(own[i].eq(10 * rank + i).all().item<bool>()) << size << ' ' << i;
      for (int from = 0; i % size == rank && from < size; ++from) {
        EXPECT_TRUE(partOf(all[i], size, from).eq(10 * from + i).all().item<bool>()) << size << ' ' << i;
      }
    }
  });
}

TEST(World, GroupsMayBeOfSomeRanks) {
  runRanks(4, [](World& world) {
    Monitor monitor(true);
    const int rank = world.place().rank;
    const auto all = world.group("all", monitor);
    for (const std::vector<int>& members : {std::vector{0, 2, 3}, {1, 3}}) {
      if (std::ranges::find(members, rank) == members.end()) continue;
      const auto some = world.group(concat("with ", members.front()), monitor, members);
      const at::Tensor sum = at::full({10}, 1.0F + rank), told = at::full({10}, 1.0F * rank);
      some->wait(some->start(sum, Collective::sum));
      some->wait(some->broadcastFrom(1, told));
      EXPECT_TRUE(sum.eq(members.size() == 3 ? 1 + 3 + 4 : 2 + 4).all().item<bool>()) << sum;
      EXPECT_TRUE(told.eq(members[1]).all().item<bool>()) << told;
    }
    const at::Tensor sum = at::full({10}, 1.0F);
    all->wait(all->start(sum, Collective::sum));
    EXPECT_TRUE(sum.eq(4).all().item<bool>());
  });
}

TEST(World, MailGoesFromRankToRankForAnyThread) {
  runRanks(3, [](World& world) {
    Monitor monitor(true);
    const auto mail = world.mail("mail", monitor);
    const int rank = world.place().rank, next = (rank + 1) % 3, before = (rank + 2) % 3;
    std::vector<std::thread> threads;
    for (int tag = 0; tag < 4; ++tag) {
      threads.emplace_back([&, tag] {
        for (int round = 0; round < 5; ++round) {
          const at::Tensor own = at::full({100 + tag}, 100.0F * rank + 10 * tag + round), got = at::zeros({100 + tag});
          const auto sent = mail->send(next, tag, own), received = mail->receive(before, tag, got);
          received->wait();
          sent->wait();
          EXPECT_TRUE(got.eq(100 * before + 10 * tag + round).all().item<bool>()) << tag << ' ' << round;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(World, MailThatDoesNotComeNamesItsSender) {
  runRanks(2, [](World& world) {
    Monitor monitor(true);
    const auto mail = world.mail("mail", monitor);
    if (world.place().rank == 0) {
      const auto late = mail->receive(1, 0, at::zeros({4}), 0.2);
      const std::string text = textOfFailure<PeerError>([&] { late->wait(); });
      EXPECT_NE(text.find("rank 0 of 2 could not receive from rank 1: "), std::string::npos) << text;
    }
    world.exchange("the other one stays until then");
  });
}

TEST(World, AnAbortAndTheLossOfARankEndTheWaitForMail) {
  runRanks(2, [](World& world) {
    Monitor monitor(true);
    const auto mail = world.mail("mail", monitor);
    world.exchange("connected");
    if (world.place().rank == 1) return;
    const auto lost = mail->receive(1, 0, at::zeros({4}), 1000);
    EXPECT_NE(textOfFailure<PeerError>([&] { lost->wait(); }).find("could not receive from rank 1"), std::string::npos);
  });
  runRanks(2, [](World& world) {
    Monitor monitor(true);
    const auto mail = world.mail("mail", monitor);
    const int other = 1 - world.place().rank;
    const auto first = mail->receive(other, 0, at::zeros({4}), 1000),
               second = mail->receive(other, 1, at::zeros({4}), 1000);
    std::thread aborting([&] { monitor.abort("why"); });
    EXPECT_EQ(textOfFailure<PeerError>([&] { first->wait(); }), "why");
    EXPECT_EQ(textOfFailure<PeerError>([&] { second->wait(); }), "why") << "also one that begins later";
    aborting.join();
    world.exchange("both");
  });
}

TEST(World, MissingRanksAreNamed) {
  const MeetingPlace place(4);
  std::string text;
  std::thread second([&] { EXPECT_THROW(meetRanks(place.of(2), 1), RendezvousError); });
  text = textOfFailure<RendezvousError>([&] { meetRanks(place.of(0), 0.5); });
  second.join();
  EXPECT_NE(text.find("ranks missing after 500 ms: 1, 3 of 4"), std::string::npos) << text;
}

TEST(World, ARankOfAnotherRunIsNotMet) {
  const MeetingPlace place(2);
  RankPlace late = place.of(1);
  late.run = "the run before";
  std::thread second([&] { EXPECT_THROW(meetRanks(late, 1), RendezvousError); });
  const std::string text = textOfFailure<RendezvousError>([&] { meetRanks(place.of(0), 0.5); });
  second.join();
  EXPECT_NE(text.find("ranks missing after 500 ms: 1 of 2"), std::string::npos) << text;
}

TEST(World, ARankOfAnotherRunIsRefusedWhereTheStoreIsServedForOne) {
  const auto store = serveRanks(loopbackListener(), "the second attempt");
  RankPlace place = placeOnOneHost(1, 2, store->port(), "the first attempt/parents");
  const std::string text = textOfFailure<RendezvousError>([&] { meetRanks(place, 20); });
  EXPECT_NE(text.find("rank 1 is of run 'the first attempt/parents', but at 127.0.0.1:"), std::string::npos) << text;
  place.run = "the second attempt/parents";
  EXPECT_NE(textOfFailure<RendezvousError>([&] { meetRanks(place, 0.3); }).find("ranks missing"), std::string::npos);
}

TEST(World, KnowsTheHostOfEachRank) {
  runRanks(2, [](World& world) { EXPECT_EQ(world.hosts(), (std::vector<std::string>{hostName(), hostName()})); });
}

TEST(World, OtherCollectivesAreFoundWhereTheyAreChecked) {
  const MeetingPlace place(2);
  std::vector<std::string> texts(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto world = meetRanks(place.of(rank), 10, /*checkCollectives=*/true);
      Monitor monitor(true);
      const auto group = world->group("replica 0", monitor);
      const at::Tensor values = at::ones({4});
      group->wait(group->start(values, Collective::sum));
      texts[rank] = textOfFailure<InternalError>(
          [&] { group->wait(group->start(values, rank == 0 ? Collective::sum : Collective::broadcast)); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) {
    EXPECT_NE(text.find("Detected mismatch between collectives on ranks"), std::string::npos) << text;
  }
}

TEST(World, AStoreThatIsNotThereIsNamed) {
  const RankPlace place = MeetingPlace(2).of(1);  // gone by now
  const std::string text = textOfFailure<RendezvousError>([&] { meetRanks(place, 1); });
  EXPECT_NE(text.find(concat("rank 1 cannot reach the ranks' store at 127.0.0.1:", place.port)), std::string::npos);
}

TEST(World, ARankThatSaysNothingIsNamed) {
  const std::string text = textOfFailure<PeerError>([] {
    runRanks(MeetingPlace(3), 1, [](World& world) {
      if (world.place().rank != 1) world.exchange("here");
    });
  });
  EXPECT_NE(text.find("nothing heard for 1 s of ranks 1 of 3"), std::string::npos) << text;
}

TEST(World, ARankThatDoesNotJoinACollectiveEndsTheOthers) {
  const Nanos begin = now();
  EXPECT_THROW(runRanks(MeetingPlace(2), 1,
                        [](World& world) {
                          Monitor monitor(true);
                          const auto group = world.group("replica 0", monitor);
                          at::Tensor value = at::ones({8});
                          if (world.place().rank == 0) group->wait(group->start(value, Collective::sum));
                        }),
               PeerError);
  EXPECT_LT(seconds(now() - begin), 10);
}

}  // namespace
}  // namespace tandem
