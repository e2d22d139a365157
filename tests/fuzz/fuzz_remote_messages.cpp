// Data from a link to another machine. The first byte says how it comes: as a stream of bytes in pieces, or as messages without their checksums, each after its
// size, so that mutations reach the handling of messages. Accepted data goes into copies of files, like that of a recording.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "collector/remote/message_stream.h"
#include "fuzz_target.h"
#include "here/copies.h"
#include "lanescope/remote.pb.h"
#include "link/block_sums.h"
#include "scratch_folder.h"

using namespace lanescope;
using namespace lanescope::remote;

namespace {

namespace fs = std::filesystem;

Result<fs::path> place(std::size_t number) {
  constexpr std::size_t kMost = 3;
  if (number > kMost) return Error{"No more."};
  static const fuzz::ScratchFolder folder;
  return folder.path() / std::to_string(number);
}

void take(Copies& copies, const std::string& payload) {
  proto::RemoteRequest request;
  if (request.ParseFromString(payload))
    for (const proto::RemotePosition& position : request.follow().files())
      if (equal_bytes(position, -1, 0, [] {}) != 0) std::abort();  // of a file that can't be read
  proto::RemoteReply reply;
  if (!reply.ParseFromString(payload)) return;
  if (reply.has_file()) static_cast<void>(copies.take(reply.file()));
  if (reply.has_bytes()) static_cast<void>(copies.take(reply.bytes()));
  if (reply.has_end()) static_cast<void>(copies.are_equal(reply.end()));
}

std::string sized(const std::string& payload) {
  const auto size = static_cast<std::uint16_t>(payload.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + payload;
}

std::vector<std::string> conversation() {
  proto::RemoteReply greeting, file, first, second, text, end;
  greeting.mutable_greeting()->set_protocol(1);
  greeting.mutable_greeting()->set_version("0.1.0");
  file.mutable_file()->set_number(1);
  file.mutable_file()->set_name("recording.trace");
  first.mutable_bytes()->set_file(1);
  first.mutable_bytes()->set_data("first");
  second.mutable_bytes()->set_file(1);
  second.mutable_bytes()->set_offset(5);
  second.mutable_bytes()->set_data("second");
  text.mutable_text()->set_stream(proto::RemoteReply::STREAM_MESSAGES);
  text.mutable_text()->set_data("done\n");
  auto& position = *end.mutable_end()->add_files();
  position.set_name("recording.trace");
  position.set_size(11);
  BlockSums sums;
  sums.append("firstsecond");
  position.set_tail(sums.all());
  std::vector<std::string> payloads;
  for (const auto* reply : {&greeting, &file, &first, &second, &text, &end}) payloads.push_back(reply->SerializeAsString());
  return payloads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Copies copies(Copies::Of::kRecording, place, Overwrite::kAllow, Beginnings::kRefused);
  if (data[0] % 2 == 0) {
    MessageReader reader(1u << 16);
    const std::size_t piece = 1 + data[0] / 2;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(bytes.substr(at, piece));
      while (const auto payload = reader.next()) take(copies, *payload);
    }
    if (reader.noise().size() > kMostNoise) std::abort();
    return 0;
  }
  for (std::size_t at = 0; at + 2 <= bytes.size();) {
    std::uint16_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    take(copies, std::string(bytes.substr(at + 2, length)));
    at += 2u + length;
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  std::string stream(1, '\x0e'), noisy = std::string(1, '\0') + "Welcome\n", payloads(1, '\1');
  for (const std::string& payload : conversation()) {
    append_message(stream, payload);
    append_message(noisy, payload);
    payloads += sized(payload);
  }
  proto::RemoteRequest request;
  auto& position = *request.mutable_follow()->add_files();
  position.set_name("recording.trace");
  position.set_size(kBlockBytes + 1);
  position.add_blocks(17);
  return {stream, noisy, payloads, std::string(1, '\1') + sized(request.SerializeAsString())};
}
