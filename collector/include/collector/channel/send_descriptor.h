// Sends a message over a Unix domain socket, with a descriptor (SCM_RIGHTS, unix(7)).
//
// Threads: any; safe between fork and exec.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace lanescope::channel {

// Sends the parts as one message, without blocking and without SIGPIPE. If `descriptor` is negative, none is sent. Returns the number of bytes sent,
// or -1 and errno.
inline ssize_t send_with_descriptor(int socket, std::span<iovec> parts, int descriptor) noexcept {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(descriptor));
  }
  ssize_t sent = 0;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace lanescope::channel
