#include <algorithm>
#include <random>

#include "collector/remote/message_stream.h"
#include "support/catch.h"

using namespace lanescope::remote;

namespace {

std::vector<std::string> read_all(MessageReader& reader, const std::string& bytes, std::size_t piece) {
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece));
    while (auto message = reader.next()) messages.push_back(std::move(*message));
  }
  return messages;
}

}  // namespace

TEST_CASE("messages arrive as they were sent, in pieces of any size, behind what is no message") {
  std::mt19937 random(1);
  std::vector<std::string> sent;
  std::string bytes = GENERATE(as<std::string>{}, "", "Welcome!\n", "LSr", "LSLSrLS");
  const std::string noise = bytes;
  for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 4'000u}) {
    std::string payload(size, '\0');
    std::generate(payload.begin(), payload.end(), [&] { return static_cast<char>(random()); });
    append_message(bytes, payload);
    sent.push_back(std::move(payload));
  }
  const std::size_t piece = GENERATE(1u, 2u, 3u, 7u, 16u, 1'000u, 100'000u);
  MessageReader reader(4'000);
  CHECK(read_all(reader, bytes, piece) == sent);
  CHECK(reader.noise() == noise);
  CHECK(reader.problem().empty());
}

TEST_CASE("a stream that is none of messages is given up, and stays so") {
  std::string good, bytes;
  append_message(good, "good");
  SECTION("something between messages") { bytes = good + "x" + good; }
  SECTION("a message that is too long") {
    append_message(bytes, std::string(101, 'x'));
    bytes = good + bytes;
  }
  SECTION("a size that is too long, of which nothing came") {
    bytes = good + good;
    bytes[good.size() + 7] = '\x7f';
  }
  SECTION("a changed payload") {
    bytes = good + good;
    bytes.back() ^= 1;
  }
  MessageReader reader(100);
  CHECK(read_all(reader, bytes + good, 5) == std::vector<std::string>{"good"});
  CHECK_FALSE(reader.problem().empty());
}

TEST_CASE("noise without end is given up, in little memory") {
  MessageReader reader(100);
  const std::string noise(10'000, 'n');
  for (int i = 0; i < 1'000; ++i) {
    reader.feed(noise);
    CHECK_FALSE(reader.next());
  }
  CHECK(reader.noise().size() == kMostNoise);
  CHECK_FALSE(reader.problem().empty());
}
