#include "inject/armed_process.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "collector/channel/layout.h"

namespace lanescope::attach {
namespace {

int connect_to(const std::string& name, pid_t pid, const std::string& session) {
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);  // it may not accept connections, and we don't wait
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // after a zero byte: an abstract name
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  const bool is_connected = connection >= 0 && connect(connection, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                            getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.pid == pid &&
                            send(connection, session.c_str(), session.size() + 1, MSG_NOSIGNAL) == static_cast<ssize_t>(session.size() + 1);
  if (is_connected) return connection;
  if (connection >= 0) close(connection);
  return -1;
}

// "socket:[4711]" for each socket that the process has open; empty if we may not know.
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> sockets;
  std::error_code failed;
  const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fd";
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code closed;
    std::string what = std::filesystem::read_symlink(entry->path(), closed).string();
    if (what.starts_with("socket:")) sockets.insert(std::move(what));
  }
  return sockets;
}

// The abstract names at which the process's agent may listen, according to the kernel. Other names may be anybody's, in any number.
std::vector<std::string> names_of(pid_t pid) {
  std::vector<std::string> names;
  const std::set<std::string> own = sockets_of(pid);
  std::ifstream table("/proc/net/unix");  // "Num RefCount Protocol Flags Type St Inode Path"; an abstract path begins with @
  for (std::string line; !own.empty() && std::getline(table, line);) {
    const std::size_t at = line.find(" @");
    const std::size_t inode = line.rfind(' ', at - 1);
    if (at == std::string::npos || inode == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(at + 2);
    if (name.starts_with(channel::kArmedSocketPrefix) && own.contains("socket:[" + line.substr(inode + 1, at - inode - 1) + "]")) names.emplace_back(name);
  }
  return names;
}

}  // namespace

int connect_to_armed(pid_t pid, const std::filesystem::path& session) {
  if (const int connection = connect_to(channel::kArmedSocketPrefix + std::to_string(pid), pid, session); connection >= 0) return connection;
  for (const std::string& name : names_of(pid))
    if (const int connection = connect_to(name, pid, session); connection >= 0) return connection;
  return -1;
}

}  // namespace lanescope::attach
