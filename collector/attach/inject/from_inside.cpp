#include "collector/attach/from_inside.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace lanescope::attach {
namespace {

constexpr std::string_view kReady = "ready";

Error failure(pid_t pid, const std::string& reason) { return Error{"Can't record process " + std::to_string(pid) + ": " + reason}; }

// SO_PEERCRED of a socket pair names the process that made it.
bool is_connected_to(int connection, pid_t pid) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == pid;
}

}  // namespace

Result<void> await_asking_process(int connection, pid_t pid, std::chrono::milliseconds limit) {
  if (!is_connected_to(connection, pid)) return failure(pid, "descriptor " + std::to_string(connection) + " is no socket of it.");
  fcntl(connection, F_SETFD, FD_CLOEXEC);
  pollfd source{connection, POLLIN, 0};
  int ready = 0;
  do ready = poll(&source, 1, static_cast<int>(limit.count()));
  while (ready < 0 && errno == EINTR);
  std::array<char, kReady.size() + 1> text{};
  const ssize_t size = ready > 0 ? recv(connection, text.data(), text.size(), MSG_DONTWAIT) : -1;
  if (size > 0 && std::string_view(text.data(), static_cast<std::size_t>(size)) == kReady) return {};
  return failure(pid, "it asked to be recorded, and then said nothing more.");
}

Result<Injection> answer_asking_process(int connection, const InjectionRequest& request) {
  if (access(request.agent.c_str(), F_OK) != 0) return Error{"The agent " + request.agent.string() + " does not exist."};
  const std::string paths = request.agent.string() + '\0' + request.socket.string() + '\0';
  if (send(connection, paths.data(), paths.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(paths.size()))
    return failure(request.pid, "it has ended, or asks no more.");
  return Injection{.connection = connection, .origin = AgentOrigin::kWasThere};
}

}  // namespace lanescope::attach
