#include "machine/process/port_owner.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Columns of /proc/net/tcp (proc(5)).
constexpr size_t localAddress = 1, state = 3, inode = 9;
constexpr std::string_view listening = "0A";

std::string hexPort(int port) {
  std::ostringstream out;
  out << ':' << std::uppercase << std::hex << std::setw(4) << std::setfill('0') << port;
  return out.str();
}

/// "socket:[123]" of all sockets that listen on the port.
std::set<std::string> listeners(int port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const std::string& line : split(textOf(table), "\n")) {
      std::istringstream words(line);
      std::vector<std::string> columns(std::istream_iterator<std::string>(words), {});
      if (columns.size() <= inode || columns[state] != listening || !columns[localAddress].ends_with(hexPort(port)))
        continue;
      found.insert(concat("socket:[", columns[inode], ']'));
    }
  }
  return found;
}

bool holdsOneOf(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code ignored;
  for (const auto& descriptor : fs::directory_iterator(process / "fd", ignored)) {
    if (sockets.contains(fs::read_symlink(descriptor.path(), ignored).string())) return true;
  }
  return false;
}

}  // namespace

std::string portOwner(int port) {
  const std::set<std::string> sockets = listeners(port);
  if (sockets.empty()) return "";
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    const std::string id = process.path().filename().string();
    if (id.find_first_not_of("0123456789") != std::string::npos || !holdsOneOf(process.path(), sockets)) continue;
    return concat("pid ", id, " (", firstLine(textOf(process.path() / "comm")), ')');
  }
  return "";
}

}  // namespace tandem
