#include <memory>

#include "base/number.h"
#include "base/text.h"
#include "data/stream/frame_stream.h"
#include "data/stream/zmq_socket.h"

namespace tandem {
namespace {

constexpr const char* usualAddress = "ipc://testpipe";  // tensorpack's

class ZmqStream final : public FrameStream {
 public:
  explicit ZmqStream(const StreamOptions& options)
      : options_(options),
        address_(options.argument.empty() ? usualAddress : options.argument),
        socket_({.address = address_,
                 .title = concat("--input=", options.text()),
                 .type = zmq::socket_type::pull,
                 .connects = options.connects,
                 .mayBeOpen = options.mayBeOpen,
                 .keys = options.keys,
                 .waiting = options.waiting,
                 .mostBytes = options.mostBytes}) {}

  std::optional<Frame> next(int milliseconds) override {
    socket_.socket().set(zmq::sockopt::rcvtimeo, milliseconds);
    auto message = std::make_shared<zmq::message_t>();
    if (!socket_.socket().recv(*message)) return std::nullopt;
    Frame frame{.bytes = {message->data<uint8_t>(), message->size()}, .memory = message, .sender = senderOf(*message)};
    note(frame.sender);
    if (message->more()) frame.fault = "it has several parts; a batch is one";
    for (bool more = message->more(); more;) {
      zmq::message_t rest;
      more = socket_.socket().recv(rest) && rest.more();
    }
    return frame;
  }

  std::string hint() const override {
    return concat("is a sender running, with messages of at most ", bytesText(static_cast<double>(options_.mostBytes)),
                  "? Larger ones are refused");
  }

 private:
  static std::string senderOf(const zmq::message_t& message) {
    const char* address = zmq_msg_gets(message.handle(), "Peer-Address");
    return address == nullptr ? "" : address;
  }

  // Of an ipc address the system says which process sends: "localhost:USER:GROUP:PROCESS".
  void note(const std::string& sender) {
    if (!options_.feeders || sender == lastSender_) return;
    lastSender_ = sender;
    const auto words = split(sender, ":");
    const auto process = words.size() == 4 ? numberIn<int>(words.back()) : std::nullopt;
    if (process) options_.feeders->add(*process);
  }

  const StreamOptions options_;
  const std::string address_;
  ZmqSocket socket_;
  std::string lastSender_;
};

}  // namespace

std::unique_ptr<FrameStream> openZmqStream(const StreamOptions& options) {
  return std::make_unique<ZmqStream>(options);
}

}  // namespace tandem
