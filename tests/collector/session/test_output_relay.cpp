#include "output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "support/catch.h"

using namespace lanescope::session;

namespace {

void write_all(int descriptor, const std::string& text) {
  REQUIRE(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

// Everything that the relay hands over until the target's side is closed.
std::string everything(OutputRelay& relay, OutputStream wanted) {
  std::string text;
  for (;;) {
    pollfd source{relay.descriptor(), POLLIN, 0};
    poll(&source, 1, -1);
    const bool more = relay.drain([&](OutputStream stream, std::span<const char> bytes) {
      if (stream == wanted) text.append(bytes.data(), bytes.size());
    });
    if (!more) return text;
  }
}

}  // namespace

TEST_CASE("what a target prints arrives whole, by stream, and the end is seen") {
  auto relay = OutputRelay::start(lanescope::session::TargetOutput::kStore);
  REQUIRE(relay);
  std::string long_text;
  for (int i = 0; i < 5'000; ++i) long_text += "line " + std::to_string(i) + "\n";  // less than a pipe holds
  write_all(relay->write_end(OutputStream::kStandardOutput), long_text);
  write_all(relay->write_end(OutputStream::kStandardError), "oops");
  relay->close_write_ends();
  CHECK(everything(*relay, OutputStream::kStandardOutput) == long_text);
}

TEST_CASE("a target goes on printing after its host is gone") {
  int target_end = -1;
  {
    auto relay = OutputRelay::start(lanescope::session::TargetOutput::kStore);
    REQUIRE(relay);
    target_end = fcntl(relay->write_end(OutputStream::kStandardOutput), F_DUPFD_CLOEXEC, 0);
  }  // here the host's descriptors close
  const std::string page(4096, 'x');
  for (int i = 0; i < 100; ++i) write_all(target_end, page);  // more than a pipe holds: somebody must read it
  close(target_end);
}
