#include "model/file/frame_codec.h"

#include <cstring>

#include "noise.h"
#include "support/catch.h"

using namespace lanescope;
using test::noise;

namespace {

FrameView view(const std::vector<std::byte>& bytes) {
  FrameView frame;
  std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
  frame.stored = std::span(bytes).subspan(sizeof(FrameHeader));
  return frame;
}

}  // namespace

TEST_CASE("a frame gives back the payload that it was made from") {
  const std::string payload = GENERATE(std::string(), std::string("x"), std::string(100'000, 'a'), noise(5'000));
  std::vector<std::byte> bytes;
  FrameHeader header;
  header.type = 6;
  header.process = 42;
  header.event_count = 7;
  append_frame(header, payload, bytes);
  const FrameView frame = view(bytes);
  CHECK(frame_is_sound(frame));
  CHECK(frame.header.type == 6);
  CHECK(frame.header.process == 42);
  CHECK(frame.header.event_count == 7);
  CHECK(frame.header.raw_size == payload.size());
  CHECK(*open_frame(frame) == payload);
}

TEST_CASE("repetitive payloads are compressed and noise is stored as it is") {
  std::vector<std::byte> repetitive, random;
  append_frame({}, std::string(100'000, 'a'), repetitive);
  append_frame({}, noise(5'000), random);
  CHECK(repetitive.size() < 1'000);
  CHECK(view(random).header.codec == Codec::kRaw);
  CHECK(random.size() == sizeof(FrameHeader) + 5'000);
}

TEST_CASE("any flipped bit is noticed") {
  std::vector<std::byte> bytes;
  append_frame({}, "kernels, copies and ranges", bytes);
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
    auto damaged = bytes;
    damaged[byte] ^= std::byte{0x10};
    INFO("byte " << byte);
    CHECK_FALSE(frame_is_sound(view(damaged)));
  }
}

TEST_CASE("a header that lies about its size is refused before memory is taken for it") {
  std::vector<std::byte> bytes;
  append_frame({}, std::string(1'000, 'a'), bytes);
  FrameView frame = view(bytes);
  frame.header.raw_size = 0xffffffff;
  CHECK_FALSE(open_frame(frame).has_value());
  frame.header.raw_size = 999;
  CHECK_FALSE(open_frame(frame).has_value());
}
