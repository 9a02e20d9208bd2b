#include "data/stream/zmq_socket.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int handshakeMs = 2000;
constexpr int silenceSeconds = 2, probeSeconds = 2, probes = 3;
constexpr size_t keyCharacters = 40;                           // Z85 of 32 bytes
constexpr const char* gateAddress = "inproc://zeromq.zap.01";  // of RFC 27 (ZAP)
constexpr const char* stopAddress = "inproc://tandem.gate.stop";
constexpr const char* eventAddress = "inproc://tandem.connections";

bool isLoopback(std::string_view host) { return host.starts_with("127.") || host == "localhost" || host == "[::1]"; }

/// Throws UsageError if other hosts could reach a plain socket there.
void requireClosed(const ZmqOptions& options) {
  constexpr std::string_view tcp = "tcp://";
  if (options.connects || options.mayBeOpen || !options.keys.empty() || !options.address.starts_with(tcp)) return;
  const std::string host = options.address.substr(tcp.size(), options.address.rfind(':') - tcp.size());
  if (isLoopback(host)) return;
  throw UsageError(
      concat(options.title,
             ": other hosts can reach this address, and whoever does may send; give "
             "--zmq-keys=FOLDER ('tandem data keys' makes one), or --insecure-zmq in a network of your own"));
}

std::string keyIn(const std::string& folder, const char* name, const ZmqOptions& options) {
  const std::string path = (fs::path(folder) / name).string();
  const std::vector<uint8_t> bytes = readFile(path, 1 << 10);
  std::string key(bytes.begin(), bytes.end());
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  std::array<uint8_t, 32> raw{};
  if (key.size() == keyCharacters && zmq_z85_decode(raw.data(), key.c_str()) != nullptr) return key;
  throw UsageError(concat(options.title, ": ", path, " holds no key of ", keyCharacters, " characters (Z85)"));
}

void writeKey(const fs::path& path, std::string_view key, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const auto refuse = [&] { throw StorageError(concat("cannot write ", path.string(), ": ", std::strerror(errno))); };
  if (file < 0) refuse();
  const bool written = write(file, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  if (close(file) != 0 || !written) refuse();
}

}  // namespace

/// Lets in the clients whose key is known, as ZAP asks (rfc.zeromq.org/spec/27).
class ZmqSocket::Gate {
 public:
  Gate(zmq::context_t& context, std::string key)
      : key_(std::move(key)),
        requests_(context, zmq::socket_type::rep),
        stop_(context, zmq::socket_type::pair),
        stopped_(context, zmq::socket_type::pair) {
    requests_.bind(gateAddress);
    stopped_.bind(stopAddress);
    stop_.connect(stopAddress);
    thread_ = std::thread([this] { answer(); });
  }
  ~Gate() {
    stop_.send(zmq::message_t(), zmq::send_flags::dontwait);
    thread_.join();
  }

 private:
  void answer() {
    std::array<zmq::pollitem_t, 2> waited{
        {{requests_.handle(), 0, ZMQ_POLLIN, 0}, {stopped_.handle(), 0, ZMQ_POLLIN, 0}}};
    while (true) {
      zmq::poll(waited);
      if (waited[1].revents != 0) return;
      if (waited[0].revents != 0) answerOne();
    }
  }

  // Version, request, domain, address, identity, mechanism, and of CURVE the client's key.
  void answerOne() {
    std::vector<zmq::message_t> parts;
    do {
      parts.emplace_back();
      if (!requests_.recv(parts.back())) return;
    } while (parts.back().more());
    if (parts.size() < 2) parts.resize(2);
    bool known = false;
    if (parts.size() >= 7 && parts[5].to_string_view() == "CURVE" && parts[6].size() == 32) {
      std::array<char, keyCharacters + 1> text{};
      zmq_z85_encode(text.data(), parts[6].data<uint8_t>(), parts[6].size());
      known = key_ == text.data();
    }
    if (!known) {
      logWarning(concat("a sender at ", parts.size() > 3 ? parts[3].to_string() : "an unknown address",
                        " is refused: its key is not client.public"));
    }
    const std::array<std::string, 6> reply{
        "1.0", parts[1].to_string(), known ? "200" : "400", known ? "OK" : "unknown key", "", ""};
    for (size_t i = 0; i < reply.size(); ++i) {
      requests_.send(zmq::buffer(reply[i]), i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }

  const std::string key_;
  zmq::socket_t requests_, stop_, stopped_;
  std::thread thread_;
};

/// The connections of a socket, by ZeroMQ's events.
class ZmqSocket::Connections {
 public:
  Connections(zmq::context_t& context, zmq::socket_t& socket) : events_(context, zmq::socket_type::pair) {
    constexpr int kinds = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED;
    if (zmq_socket_monitor(socket.handle(), eventAddress, kinds) != 0) throw zmq::error_t();
    events_.connect(eventAddress);
  }

  /// Takes the events so far. ZeroMQ waits if a thousand were not taken.
  void update() {
    zmq::message_t event, address;
    while (events_.recv(event, zmq::recv_flags::dontwait) && events_.recv(address)) {
      uint16_t kind = 0;
      int32_t file = 0;  // of the connection
      check(event.size() == sizeof(kind) + sizeof(file), "an event of ZeroMQ is a kind and a value");
      std::memcpy(&kind, event.data(), sizeof(kind));
      std::memcpy(&file, event.data<char>() + sizeof(kind), sizeof(file));
      if (kind == ZMQ_EVENT_CONNECTED || kind == ZMQ_EVENT_ACCEPTED) {
        open_.insert(file);
      } else {
        open_.erase(file);
      }
    }
  }

  /// Bytes on their way: of ipc, those that no receiver has read.
  int64_t unread() {
    update();
    int64_t sum = 0;
    for (const int file : open_) {
      int bytes = 0;
      if (ioctl(file, SIOCOUTQ, &bytes) == 0) sum += bytes;
    }
    return sum;
  }

 private:
  zmq::socket_t events_;
  std::set<int> open_;
};

void ZmqSocket::Held::add() {
  const MutexLock lock(mutex_);
  ++count_;
}

void ZmqSocket::Held::remove() {
  const MutexLock lock(mutex_);
  --count_;
  changed_.notify_all();
}

int64_t ZmqSocket::Held::count() const {
  const MutexLock lock(mutex_);
  return count_;
}

bool ZmqSocket::Held::waitForFewer(int64_t before, int ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  MutexLock lock(mutex_);
  while (count_ >= before) {
    if (ms < 0) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, end) == std::cv_status::timeout) {
      return count_ < before;
    }
  }
  return true;
}

ZmqSocket::ZmqSocket(const ZmqOptions& options)
    : title_(options.title), timeoutMs_(options.timeoutMs), context_(1), socket_(context_, options.type) {
  requireClosed(options);
  try {
    const auto waiting = static_cast<int>(options.waiting);
    socket_.set(zmq::sockopt::linger, options.timeoutMs);
    socket_.set(zmq::sockopt::sndtimeo, options.timeoutMs);
    socket_.set(zmq::sockopt::sndhwm, waiting);
    socket_.set(zmq::sockopt::rcvhwm, waiting);
    socket_.set(zmq::sockopt::maxmsgsize, options.mostBytes);
    socket_.set(zmq::sockopt::handshake_ivl, handshakeMs);
    // Heartbeats are the system's. ZeroMQ's own wait behind the messages: where a receiver pauses for longer than
    // their limit, ZeroMQ would end the connection and lose what is on its way.
    socket_.set(zmq::sockopt::tcp_keepalive, 1);
    socket_.set(zmq::sockopt::tcp_keepalive_idle, silenceSeconds);
    socket_.set(zmq::sockopt::tcp_keepalive_intvl, probeSeconds);
    socket_.set(zmq::sockopt::tcp_keepalive_cnt, probes);
    if (!options.keys.empty()) {
      const auto key = [&](const char* name) { return keyIn(options.keys, name, options); };
      if (options.connects) {
        socket_.set(zmq::sockopt::curve_serverkey, key("server.public"));
        socket_.set(zmq::sockopt::curve_publickey, key("client.public"));
        socket_.set(zmq::sockopt::curve_secretkey, key("client.secret"));
      } else {
        gate_ = std::make_unique<Gate>(context_, key("client.public"));
        socket_.set(zmq::sockopt::curve_server, true);
        socket_.set(zmq::sockopt::curve_secretkey, key("server.secret"));
      }
    }
    if (options.type == zmq::socket_type::push) connections_ = std::make_unique<Connections>(context_, socket_);
    if (options.connects) {
      socket_.connect(options.address);
    } else {
      socket_.bind(options.address);
    }
  } catch (const zmq::error_t& failure) {
    throw UsageError(concat(options.title, ": ZeroMQ cannot ", options.connects ? "connect to" : "wait at", " '",
                            options.address, "': ", failure.what(), "; an address is ipc://PATH or tcp://HOST:PORT"));
  }
}

ZmqSocket::~ZmqSocket() = default;

void ZmqSocket::refuseToWait() {
  socket_.set(zmq::sockopt::linger, 0);
  throw PeerError(concat(title_, ": nobody took a message for ", timeoutMs_ / 1000, " s (--timeout); ",
                         sent_ - held_.count(), " have left; start a consumer there"));
}

void ZmqSocket::send(std::vector<uint8_t> bytes) {
  struct Message {
    std::vector<uint8_t> bytes;
    Held& held;
  };
  auto own = std::make_unique<Message>(Message{std::move(bytes), held_});
  held_.add();
  ++sent_;
  zmq::message_t message(
      own->bytes.data(), own->bytes.size(),
      [](void*, void* given) {
        const std::unique_ptr<Message> freed(static_cast<Message*>(given));
        freed->held.remove();
      },
      own.get());
  (void)own.release();  // freed by ZeroMQ
  if (!socket_.send(message, zmq::send_flags::none)) refuseToWait();
  if (connections_) connections_->update();
}

void ZmqSocket::drain() {
  while (const int64_t left = held_.count()) {
    if (!held_.waitForFewer(left, timeoutMs_)) refuseToWait();
  }
  if (!connections_) return;
  // A receiver whose queue is full loses what it has not read when an ipc connection ends (libzmq 4.3). ZeroMQ lets go
  // of a small message just before it writes it; hence the wait before the first look.
  constexpr std::chrono::milliseconds pause(5);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (auto since = std::chrono::steady_clock::now();;) {
    std::this_thread::sleep_for(pause);
    const int64_t left = connections_->unread();
    if (left == 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (left < least) least = left, since = now;
    if (timeoutMs_ >= 0 && now - since > std::chrono::milliseconds(timeoutMs_)) refuseToWait();
  }
}

void makeZmqKeys(const std::string& folder) {
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    throw StorageError(concat("cannot make folder '", folder,
                              "': ", error ? error.message() : "it is there already; give a new path"));
  }
  for (const char* name : {"server", "client"}) {
    std::array<char, keyCharacters + 1> open{}, secret{};
    check(zmq_curve_keypair(open.data(), secret.data()) == 0, "libzmq has CURVE");
    writeKey(fs::path(folder) / concat(name, ".public"), open.data(), 0644);
    writeKey(fs::path(folder) / concat(name, ".secret"), secret.data(), 0600);
  }
}

}  // namespace tandem
