#include "here/conversation.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "here/transport.h"
#include "link/link.h"

namespace lanescope::remote {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 50ms;
constexpr auto kLongestSilence = 120s;  // somebody may have to type a password
constexpr auto kForItsEnd = 10'000ms;

}  // namespace

Result<Said> converse(const std::vector<std::string>& command, Terminal terminal, std::string_view input, std::size_t most, const std::function<Wish()>& wish) {
  Result<Transport> transport = Transport::start(command, terminal);
  if (!transport) return transport.error();
  channel::FileDescriptor to = transport->take_input();
  const channel::FileDescriptor from = transport->take_output();
  fcntl(to.get(), F_SETFL, O_NONBLOCK);
  Said said;
  auto moved = std::chrono::steady_clock::now();
  for (bool is_open = true; is_open;) {
    if (input.empty()) to.reset();
    std::array<pollfd, 3> watched{pollfd{from.get(), POLLIN, 0}, {to.valid() ? to.get() : -1, POLLOUT, 0}, {transport->messages(), POLLIN, 0}};
    poll(watched.data(), watched.size(), static_cast<int>(kStep.count()));
    const auto now = std::chrono::steady_clock::now();
    if (wish() != Wish::kGoOn) return Error{"Left before " + command.front() + " had ended."};
    if (now - moved > kLongestSilence) return Error{command.front() + " has done nothing for two minutes."};
    if (watched[2].revents != 0) said.messages += transport->take_messages();
    if (watched[1].revents != 0) {
      const ssize_t size = write_quietly(to.get(), input.data(), input.size());
      if (size > 0) input.remove_prefix(static_cast<std::size_t>(size));
      if (size < 0 && errno != EAGAIN && errno != EINTR) input = {};  // it accepts no more input; its output about that may still come
      moved = now;
    }
    if (watched[0].revents == 0) continue;
    std::array<char, 64u << 10> piece;
    const ssize_t size = read(from.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    is_open = size > 0;
    if (is_open) said.output.append(piece.data(), static_cast<std::size_t>(size));
    if (said.output.size() > most) return Error{command.front() + " prints more than was asked for."};
    moved = now;
  }
  to.reset();
  said.code = transport->wait(kForItsEnd);
  said.messages += transport->take_messages();
  return said;
}

}  // namespace lanescope::remote
