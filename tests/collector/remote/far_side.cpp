// far_side WAY: the far side of a link that behaves in a way that none should.
#include <unistd.h>

#include <csignal>
#include <cstring>
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

void greet(std::uint32_t protocol = 1) {
  proto::RemoteReply reply;
  reply.mutable_greeting()->set_protocol(protocol);
  reply.mutable_greeting()->set_version("9.9.9");
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

// Reads requests, of which nothing is understood, so that none is refused by a pipe.
void read_some() {
  char bytes[4096];
  static_cast<void>(read(STDIN_FILENO, bytes, sizeof(bytes)));
}

void behave(const std::string& way) {
  if (way == "silent") wait_for_ever();
  if (way == "noise") for (;;) put("Last login: \x1b[2J today\n");
  if (way == "exits") return;
  if (way == "other protocol") return greet(77);
  greet();
  read_some();
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
