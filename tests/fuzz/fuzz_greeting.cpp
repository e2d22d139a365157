// The first messages of an agent, or of a program in its place, with any size and content. The first byte is the number of messages.
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>

#include "fuzz_target.h"
#include "processes/arrival/control_socket.h"

using namespace lanescope;
using namespace lanescope::session;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const FileDescriptor ours(ends[0]), theirs(ends[1]);
  const std::size_t messages = 1 + data[0] % 4;
  const std::size_t each = (size - 1) / messages;
  for (std::size_t i = 0; i < messages; ++i) (void)send(theirs.get(), data + 1 + i * each, each, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (std::size_t i = 0; i <= messages; ++i) {
    const Result<void> understood = await_greeting(ours.get(), 4711, std::chrono::milliseconds(0));
    if (!understood && understood.error().text.find('\0') != std::string::npos) std::abort();  // a sentence for a terminal
    Greeting greeting;
    const GreetingState state = receive_greeting(ours.get(), greeting);
    if (state == GreetingState::kOtherLayout && other_layout_reason(greeting).size() > 1000) std::abort();
    if (state == GreetingState::kArrived) (void)send_welcome(ours.get(), {}, -1);
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  channel::Hello hello;
  hello.time = 1'000'000'000;
  std::strcpy(hello.agent_version, "0.1.0");
  const std::string greeting(reinterpret_cast<const char*>(&hello), sizeof(hello));
  hello.layout_version = 1;
  const std::string other(reinterpret_cast<const char*>(&hello), sizeof(hello));
  return {'\0' + greeting, '\1' + greeting + other, '\0' + other, '\0' + greeting.substr(1), "\0"};
}
