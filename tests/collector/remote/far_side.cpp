// far_side WAY: the far side of a link, which misbehaves in the given way.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "collector/remote/message_stream.h"
#include "lanescope/remote.pb.h"

using namespace lanescope;

namespace {

void put(const std::string& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t now = write(STDOUT_FILENO, bytes.data() + written, bytes.size() - written);
    if (now <= 0) _exit(0);
    written += static_cast<std::size_t>(now);
  }
}

void say(const proto::RemoteReply& reply) {
  std::string bytes;
  remote::append_message(bytes, reply.SerializeAsString());
  put(bytes);
}

void greet(std::uint32_t protocol = 1, bool names_requests = false) {
  proto::RemoteReply reply;
  reply.mutable_greeting()->set_protocol(protocol);
  reply.mutable_greeting()->set_version("9.9.9");
  reply.mutable_greeting()->set_names_requests(names_requests);
  say(reply);
}

void name_file(std::uint32_t number, const std::string& name, std::uint64_t from = 0) {
  proto::RemoteReply reply;
  reply.mutable_file()->set_number(number);
  reply.mutable_file()->set_name(name);
  reply.mutable_file()->set_from(from);
  say(reply);
}

void send_bytes(std::uint32_t number, std::uint64_t offset, const std::string& data) {
  proto::RemoteReply reply;
  reply.mutable_bytes()->set_file(number);
  reply.mutable_bytes()->set_offset(offset);
  reply.mutable_bytes()->set_data(data);
  say(reply);
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

// Reads requests without decoding them, so that none of them fails at a closed pipe.
std::string read_some() {
  char bytes[4096];
  const ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
  return {bytes, static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

proto::RemoteRequest next_request() {
  static remote::MessageReader reader(remote::kMostToThere);
  std::optional<std::string> message;
  while (!(message = reader.next())) {
    const std::string bytes = read_some();
    if (bytes.empty()) _exit(0);
    reader.feed(bytes);
  }
  proto::RemoteRequest request;
  request.ParseFromString(*message);
  return request.has_pulse() || request.has_greeting() ? next_request() : request;
}

void refuse(std::uint32_t request, const std::string& sentence, bool is_kept) {
  proto::RemoteReply reply;
  reply.set_request(request);
  reply.mutable_refusal()->set_sentence(sentence);
  reply.mutable_refusal()->set_is_kept(is_kept);
  say(reply);
}

// A recording that ends just as it is asked to stop: first its end is sent, then the answer to the request, and then the removal of the recording is refused.
void end_before_stop(bool names_requests, bool is_stop_refused) {
  greet(1, names_requests);
  const std::uint32_t follow = next_request().number();
  proto::RemoteReply standing, end;
  standing.mutable_standing();
  say(standing);  // so that it is known when it can be asked to stop
  const std::uint32_t stop = next_request().number();
  end.set_request(names_requests ? follow : 0);
  end.mutable_end()->set_is_known(true);
  end.mutable_end()->set_is_all(true);
  say(end);
  proto::RemoteReply done;
  done.set_request(names_requests ? stop : 0);
  done.mutable_done();
  if (is_stop_refused)
    refuse(names_requests ? stop : 0, "It can't be ended.", false);
  else
    say(done);
  const proto::RemoteRequest discard = next_request();
  if (discard.has_discard()) refuse(names_requests ? discard.number() : 0, "It is dear to somebody.", true);
  wait_for_ever();
}

// A recording that was copied, and whose file is missing at the end. Then it is removed, which may only be requested if everything was accounted for.
void end_without_file(const std::string& way) {
  greet(1, true);
  proto::RemoteReply done, end, removed;
  done.set_request(next_request().number());
  done.mutable_done();
  say(done);
  const std::uint32_t follow = next_request().number();
  name_file(1, "recording1.trace");
  send_bytes(1, 0, "bytes");
  end.set_request(follow);
  end.mutable_end()->set_is_known(true);
  end.mutable_end()->set_is_all(!way.ends_with("unsaid"));
  if (way.ends_with("thrown away")) end.mutable_end()->add_thrown_away("recording1.trace");
  if (way.ends_with("removed")) end.mutable_end()->add_removed("recording1.trace");
  say(end);
  removed.set_request(next_request().number());
  removed.mutable_done();
  say(removed);
  wait_for_ever();
}

// Replies of every kind, in any order, with values that are sometimes right.
void say_anything(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](unsigned end) { return static_cast<std::uint32_t>(random() % end); };
  const auto number = [&](std::uint64_t right) {
    constexpr std::uint64_t kWrong[] = {1, 4u << 20, UINT32_MAX, INT64_MAX, UINT64_MAX};
    return below(8) != 0 ? right : kWrong[below(5)];
  };
  const std::string names[] = {"file", "recording1.trace", "", "../x", std::string(255, 'n'), std::string("\0", 1)};
  std::uint64_t sent = 0;
  std::string all;
  for (int i = 0; i < 40; ++i) {
    proto::RemoteReply reply;
    switch (below(10)) {
      case 0:
        if (below(4) != 0) continue;
        reply.mutable_greeting()->set_protocol(1);
        break;
      case 1:
        reply.mutable_pulse();
        break;
      case 2:
        reply.mutable_file()->set_number(below(3));
        reply.mutable_file()->set_name(names[below(6)]);
        reply.mutable_file()->set_from(number(0));
        reply.mutable_file()->set_owner_alone(below(2) != 0);
        break;
      case 3:
      case 4:
        reply.mutable_bytes()->set_file(below(3));
        reply.mutable_bytes()->set_offset(number(sent));
        reply.mutable_bytes()->set_data(std::string(below(2) != 0 ? 10 : 100'000, 'd'));
        sent += reply.bytes().data().size();
        break;
      case 5:
        reply.mutable_text()->set_offset(number(0));
        reply.mutable_text()->set_data(
            "\x1b]0;title\a\x9b"
            "2J");
        reply.mutable_text()->set_stream(below(2) != 0 ? proto::RemoteReply::STREAM_OUTPUT : static_cast<proto::RemoteReply::Stream>(77));
        break;
      case 6:
        for (std::uint32_t file = 0; file < below(3); ++file) {
          auto& position = *reply.mutable_end()->add_files();
          position.set_name(names[below(6)]);
          position.set_size(number(sent));
          position.set_tail(random());
        }
        reply.mutable_end()->set_code(static_cast<int>(random()));
        reply.mutable_end()->set_signal(static_cast<int>(random()));
        break;
      case 8:
        reply.mutable_standing()->set_time(number(random()));
        reply.mutable_standing()->set_behind(number(random()));
        break;
      case 7:
        if (below(4) != 0) continue;
        reply.mutable_refusal()->set_sentence("\x1b[31mno");
        break;
      default:
        reply.mutable_done();
    }
    std::string bytes;
    remote::append_message(bytes, reply.SerializeAsString());
    if (below(60) == 0) bytes[below(static_cast<unsigned>(bytes.size()))] ^= 0x10;
    if (below(60) == 0) bytes.resize(below(static_cast<unsigned>(bytes.size())));
    put(bytes);
  }
}

void behave(const std::string& way) {
  if (way == "silent") wait_for_ever();
  if (way == "noise")
    for (;;) put("Last login: \x1b[2J today\n");
  if (way == "exits") return;
  if (way.find("end before stop") != std::string::npos) end_before_stop(way.starts_with("numbered"), way.ends_with("refused"));
  if (way.starts_with("end without file")) end_without_file(way);
  if (way == "terminal echo") {  // our own input, as a terminal echoes it
    std::string shown;
    for (const char byte : read_some()) {
      const auto value = static_cast<unsigned char>(byte);
      if (value < 0x20)
        shown += {'^', static_cast<char>(value + '@')};
      else
        shown += byte;
    }
    put(shown);
    return;
  }
  if (way == "terminal lines") {
    proto::RemoteReply reply;
    reply.mutable_greeting()->set_protocol(1);
    reply.mutable_greeting()->set_version("9.9.9");
    std::string bytes, ended;
    remote::append_message(bytes, reply.SerializeAsString());
    for (const char byte : bytes) ended += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
    put(ended);
    return;
  }
  if (way == "other protocol") return greet(77);
  greet();
  read_some();
  if (way.starts_with("anything ")) return say_anything(static_cast<unsigned>(std::stoul(way.substr(9))));
  if (way == "silent later") wait_for_ever();
  if (way == "pulses") {
    for (;;) {
      proto::RemoteReply pulse;
      pulse.mutable_pulse();
      say(pulse);
      usleep(20'000);
    }
  }
  if (way == "garbage") put(std::string(1000, 'x'));
  if (way == "no message of ours") {
    std::string bytes;
    remote::append_message(bytes, "\xff\xff\xff\xff");
    put(bytes);
  }
  if (way == "too long") {
    std::string bytes;
    remote::append_message(bytes, std::string(remote::kMostFromThere + 1, 'x'));
    put(bytes);
  }
  if (way == "changed") {
    std::string bytes;
    remote::append_message(bytes, "some payload");
    bytes.back() = 'x';
    put(bytes);
  }
  if (way == "begins later") name_file(1, "file", 100);
  if (way == "offset") {
    name_file(1, "file");
    send_bytes(1, 1, "bytes");
  }
  if (way == "unnamed") send_bytes(7, 0, "bytes");
  if (way == "two numbers") {
    name_file(1, "file");
    name_file(1, "other");
  }
  if (way == "long name") name_file(1, std::string(300, 'n'));
  if (way == "many files")
    for (std::uint32_t number = 1;; ++number) name_file(number, std::to_string(number));
  if (way == "text") {
    proto::RemoteReply reply;
    reply.mutable_text()->set_offset(1'000);
    reply.mutable_text()->set_data("text");
    say(reply);
  }
  if (way == "never equal") {
    for (;;) {
      proto::RemoteReply reply;
      auto& file = *reply.mutable_end()->add_files();
      file.set_name("file");
      file.set_size(5);
      say(reply);
      read_some();
    }
  }
  if (way == "impossible end") {
    proto::RemoteReply reply;
    reply.mutable_end()->set_is_known(true);
    reply.mutable_end()->set_signal(std::numeric_limits<std::int32_t>::max());
    say(reply);
  }
  if (way == "behind") {
    proto::RemoteReply done, standing;
    done.mutable_done();
    say(done);
    for (const std::uint64_t behind : {0u, 12'000u}) {
      standing.mutable_standing()->set_time(1'000);
      standing.mutable_standing()->set_behind(behind);
      say(standing);
    }
  }
  if (way == "paths") {
    name_file(1, "../../escaped");
    send_bytes(1, 0, "bytes");
    name_file(2, "/tmp/lanescope-escaped");
    send_bytes(2, 0, "bytes");
    name_file(3, std::string("a\0b\n\x1b[2J", 8));
    send_bytes(3, 0, "bytes");
  }
  if (way == "refusal") {
    proto::RemoteReply reply;
    reply.mutable_refusal()->set_sentence(std::string(100'000, '\x1b'));
    say(reply);
  }
  wait_for_ever();
}

}  // namespace

int main(int count, char** arguments) {
  behave(count > 1 ? arguments[1] : "");
  return 0;
}
