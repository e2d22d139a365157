// The far end of a link, asked by nobody that makes sense.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "collector/remote/message_stream.h"
#include "collector/remote/serve.h"
#include "lanescope/remote.pb.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::remote;
using namespace std::chrono_literals;

namespace {

std::string message(const proto::RemoteRequest& request) {
  std::string bytes;
  append_message(bytes, request.SerializeAsString());
  return bytes;
}

std::string greeting(std::uint32_t protocol) {
  proto::RemoteRequest request;
  request.mutable_greeting()->set_protocol(protocol);
  return message(request);
}

std::string stop(const std::string& recording) {
  proto::RemoteRequest request;
  request.mutable_stop()->set_recording(recording);
  return message(request);
}

enum class Then { kClose, kSilence };

struct Served {
  bool is_content = false;
  std::vector<proto::RemoteReply> replies;
  std::chrono::steady_clock::duration took{};
};

Served serve_to(const std::string& bytes, Then then) {
  const test::TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  std::signal(SIGPIPE, SIG_IGN);
  int in[2], out[2];
  REQUIRE((pipe(in) == 0 && pipe(out) == 0));
  std::thread asker([&] {
    for (std::size_t written = 0; written < bytes.size();) {
      const ssize_t now = write(in[1], bytes.data() + written, bytes.size() - written);
      if (now <= 0) break;
      written += static_cast<std::size_t>(now);
    }
    if (then == Then::kClose) close(in[1]);
  });
  Served served;
  const auto begin = std::chrono::steady_clock::now();
  served.is_content = serve(channel::FileDescriptor(in[0]), channel::FileDescriptor(out[1]),
                            {.program = "/nowhere/lanescope", .version = "test", .patience = 300ms, .look = 10ms})
                          .has_value();
  served.took = std::chrono::steady_clock::now() - begin;
  asker.join();
  if (then == Then::kSilence) close(in[1]);
  MessageReader reader(kMostFromThere);
  char piece[4096];
  for (ssize_t size = 0; (size = read(out[0], piece, sizeof(piece))) > 0;) reader.feed({piece, static_cast<std::size_t>(size)});
  close(out[0]);
  while (const auto payload = reader.next()) REQUIRE(served.replies.emplace_back().ParseFromString(*payload));
  return served;
}

}  // namespace

TEST_CASE("a far end greets first, answers in order, and ends with its link") {
  const Served served = serve_to(greeting(1) + stop("none") + stop("../x"), Then::kClose);
  CHECK(served.is_content);
  REQUIRE_FALSE(served.replies.empty());
  CHECK(served.replies.front().greeting().protocol() == 1);
  CHECK(served.replies.front().greeting().version() == "test");
}

TEST_CASE("a far end that hears nothing any more ends") {
  const Served served = serve_to(greeting(1) + stop("none"), Then::kSilence);
  CHECK(served.took >= 300ms);
  CHECK(served.took < 20s);
  REQUIRE(served.replies.size() == 2);
  CHECK(served.replies.back().refusal().is_usage());
}

TEST_CASE("a far end takes nothing from who makes no sense") {
  std::string bytes;
  SECTION("text without end") { bytes = std::string(200'000, 'x'); }
  SECTION("something between messages") { bytes = greeting(1) + "x" + std::string(100, 'y'); }
  SECTION("a message that is too long") {
    append_message(bytes, std::string(kMostToThere + 1, 'x'));
    bytes = greeting(1) + bytes;
  }
  SECTION("no message of ours") {
    append_message(bytes, "\xff\xff\xff\xff");
    bytes = greeting(1) + bytes;
  }
  SECTION("a request before the greeting") { bytes = stop("none"); }
  SECTION("another protocol") { bytes = greeting(2) + stop("none"); }
  const Served served = serve_to(bytes, Then::kSilence);
  CHECK_FALSE(served.is_content);
  CHECK(served.took < 20s);
}
