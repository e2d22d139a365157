#include "collector/remote/message_stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <xxhash.h>

namespace lanescope::remote {
namespace {

constexpr std::string_view kMagic = "LSrm";

struct Header {
  char magic[4];
  std::uint32_t size;
  std::uint64_t checksum;
};
static_assert(sizeof(Header) == 16);

std::uint64_t checksum_of(std::string_view payload) { return XXH64(payload.data(), payload.size(), payload.size()); }

}  // namespace

void append_message(std::string& to, std::string_view payload) {
  Header header{};
  std::memcpy(header.magic, kMagic.data(), sizeof(header.magic));
  header.size = static_cast<std::uint32_t>(payload.size());
  header.checksum = checksum_of(payload);
  to.append(reinterpret_cast<const char*>(&header), sizeof(header));
  to.append(payload);
}

void MessageReader::feed(std::string_view bytes) {
  if (!problem_.empty()) return;
  if (read_ > buffer_.size() / 2) {
    buffer_.erase(0, read_);
    read_ = 0;
  }
  buffer_.append(bytes);
}

void MessageReader::give_up(std::string problem) {
  problem_ = std::move(problem);
  buffer_.clear();
  read_ = 0;
}

bool MessageReader::find_begin() {
  if (has_begun_) return true;
  const std::size_t begin = buffer_.find(kMagic, read_);
  has_begun_ = begin != std::string::npos;
  // The last letters may be the start of the mark.
  const std::size_t end = has_begun_ ? begin : std::max(read_, buffer_.size() - std::min(buffer_.size(), kMagic.size() - 1));
  noise_.append(buffer_, read_, end - read_);
  read_ = end;
  if (noise_.size() > kMostNoise) {
    has_begun_ = false;
    noise_.resize(kMostNoise);
    give_up("no message, but other text without end");
  }
  return has_begun_;
}

std::optional<std::string> MessageReader::next() {
  if (!problem_.empty() || !find_begin()) return std::nullopt;
  if (buffer_.size() - read_ < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, buffer_.data() + read_, sizeof(header));
  if (std::string_view(header.magic, sizeof(header.magic)) != kMagic) {
    give_up("something else between its messages");
    return std::nullopt;
  }
  if (header.size > largest_) {
    // A terminal echoes the bytes of our own greeting in this form.
    is_from_terminal_ = std::string_view(buffer_).substr(read_, sizeof(header)).find("^@^@") != std::string_view::npos;
    give_up("a message of " + std::to_string(header.size) + " bytes, where at most " + std::to_string(largest_) + " may be");
    return std::nullopt;
  }
  if (buffer_.size() - read_ - sizeof(header) < header.size) return std::nullopt;
  const std::string_view whole = std::string_view(buffer_).substr(read_, sizeof(header) + header.size);
  std::string payload(whole.substr(sizeof(header)));
  read_ += sizeof(header) + header.size;
  if (checksum_of(payload) == header.checksum) return payload;
  is_from_terminal_ = whole.find("\r\n") != std::string_view::npos;
  give_up("a message that was changed on the way");
  return std::nullopt;
}

}  // namespace lanescope::remote
