#include "agent/kernels/gpu_claim.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>

#include <sys/socket.h>
#include <sys/un.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::kernels {

// A name in the abstract socket namespace: only one process can have it, and loses it when the process ends in any way.
bool GpuClaim::take(const char* gpu) noexcept {
  if (socket_.number() >= 0) return true;
  const auto socket = static_cast<int>(system::system_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket < 0) return true;  // the claim can't be checked
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int letters = std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "lanescope-pc-sampling-%.64s", gpu);
  const auto bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(letters));
  const long bound = system::system_call(SYS_bind, socket, system::word(&address), bytes);
  if (bound == 0) {
    socket_ = OwnDescriptor::keep(socket);
    return true;
  }
  system::close(socket);
  return bound != -EADDRINUSE;
}

}  // namespace lanescope::agent::kernels
