#include <iostream>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/data/data_commands.h"
#include "cli/data/data_options.h"
#include "config/config.h"
#include "data/loader/batch_maker.h"
#include "data/loader/ordered_queue.h"
#include "data/stream/streamed_batches.h"
#include "data/stream/zmq_socket.h"
#include "device/device.h"

namespace tandem {
namespace {

constexpr std::string_view synthetic = "synthetic";

constexpr CommandOption optionRows[] = {
    {"--data", "PATH|synthetic", "data set whose images are sent", synthetic},
    {"--data-split", "NAME", "of --data: training, validation or test", "training"},
    {"--batch", "N", "images of a message", "64"},
    {"--image-size", "N", "pixels of each side", "224"},
    {"--classes", "N", "classes of synthetic images, and of data sets that do not say it", "1000"},
    {"--augment", "CHAIN", "changes of images, as those of bench; auto as there", Config::automatic},
    {"--batches", "N", "messages, then it ends; 0 sends until it is stopped", "0"},
    {"--producers", "N", "threads that make batches", "1"},
    {"--prefetch", "N", "messages that may wait", "50"},
    {"--timeout", "S", "seconds without a consumer that takes a message, then it fails; 0 waits for ever", "600"},
    {"--seed", "N", "of the order, of changes and of synthetic images", "1"},
    {"--wait", "true|false", "wait at the address, for consumers that connect; else connect to one that waits",
     "false"},
    {"--zmq-keys", "FOLDER", "keys of 'tandem data keys'; empty: the connection is plain", ""},
    {"--insecure-zmq", "true|false", "wait without keys where other hosts can connect", "false"},
};

bool flag(const DataArguments& arguments, std::string_view option) {
  const std::string text = arguments.text(option);
  if (text != "true" && text != "false") arguments.refuse(option, "must be true or false");
  return text == "true";
}

std::shared_ptr<const Dataset> imagesOf(const DataArguments& arguments, int64_t side, int64_t classes, int64_t seed) {
  const std::string path = arguments.text("--data");
  const DataSplit split = dataSplitOf(arguments).split;
  if (path != synthetic) return openDataset(path, {.split = split, .classes = classes});
  if (split != DataSplit::training) arguments.refuse("--data-split", "needs --data, a data set with splits");
  constexpr int64_t images = 1024;
  DatasetInfo info;
  info.height = info.width = side, info.classes = classes;
  return syntheticDataset(images, std::move(info), static_cast<uint64_t>(seed));
}

BatchMaker makerOf(const DataArguments& arguments) {
  const int64_t side = arguments.number("--image-size", 1, 8192),
                seed = arguments.number("--seed", 0, int64_t{1} << 62);
  const int64_t batch = arguments.number("--batch", 1, 1'000'000),
                classes = arguments.number("--classes", 1, 1'000'000);
  const auto images = imagesOf(arguments, side, classes, seed);
  const bool real = arguments.text("--data") != synthetic;
  const std::string asked = arguments.text("--augment");
  const std::string chain = asked == Config::automatic ? std::string(usualAugment(images->info().encoded())) : asked;
  return {images,
          {.globalBatch = batch,
           .count = batch,
           .height = side,
           .width = side,
           .seed = static_cast<uint64_t>(seed),
           .shuffle = real,
           .augment = real ? std::make_shared<const Augmentation>(augmentationOf(chain)) : nullptr}};
}

/// Makes batches ahead, and sends them in order.
class Sending {
 public:
  Sending(const BatchMaker& maker, int64_t batches, int64_t producers, int64_t waiting)
      : maker_(maker), batches_(batches), queue_(waiting) {
    try {
      for (int64_t i = 0; i < producers; ++i) threads_.emplace_back([this] { produce(); });
    } catch (...) {
      queue_.stop();  // else the threads that did start would wait for room
      throw;
    }
  }
  ~Sending() { queue_.stop(); }

  void run(ZmqSocket& socket) {
    for (int64_t sent = 0; sent != batches_ || batches_ == 0; ++sent) socket.send(*queue_.take());
    socket.drain();
  }

 private:
  void produce() {
    Device::cpu(0, {}, 1).bindHelper();
    for (auto k = queue_.claim(); k && (batches_ == 0 || *k < batches_); k = queue_.claim()) {
      try {
        queue_.put(*k, messageOf(maker_.make(*k)));
      } catch (...) {
        return queue_.fail(*k, std::current_exception());
      }
    }
  }

  const BatchMaker& maker_;
  const int64_t batches_;
  OrderedQueue<std::vector<uint8_t>> queue_;
  std::vector<std::jthread> threads_;  // last member: joined before the queue is destroyed
};

}  // namespace

int serveData(Arguments typed) {
  const DataArguments arguments("serve", optionRows, typed);
  const int64_t batches = arguments.number("--batches", 0, int64_t{1} << 40);
  const int64_t producers = arguments.number("--producers", 1, 4096);
  const int64_t waiting = arguments.number("--prefetch", 1, 65536);
  const int64_t timeout = arguments.number("--timeout", 0, 1'000'000);
  const bool waits = flag(arguments, "--wait"), open = flag(arguments, "--insecure-zmq");
  const BatchMaker maker = makerOf(arguments);
  ZmqSocket socket({.address = arguments.path(),
                    .title = concat("tandem data serve ", arguments.path()),
                    .type = zmq::socket_type::push,
                    .connects = !waits,
                    .mayBeOpen = open,
                    .keys = arguments.text("--zmq-keys"),
                    .timeoutMs = timeout == 0 ? -1 : static_cast<int>(timeout * 1000),
                    .waiting = waiting});
  const Nanos begin = now();
  Sending(maker, batches, producers, waiting).run(socket);
  const double images = static_cast<double>(batches * maker.plan().count) / seconds(now() - begin);
  std::cout << batches << (batches == 1 ? " batch" : " batches") << " sent to " << arguments.path() << ", "
            << fixed(images, 1) << " images/s\n";
  return 0;
}

std::string serveHelp() { return helpOf(optionRows); }

}  // namespace tandem
