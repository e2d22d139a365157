#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "collector/channel/ring.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::channel;

namespace {

struct Ring {
  explicit Ring(std::size_t bytes) : storage(bytes) {}
  std::span<std::byte> data() { return storage; }

  RingHeader header{};
  std::vector<std::byte> storage;
};

std::vector<std::byte> frame_of(std::uint32_t number) {
  FrameHeader header;
  header.event_count = number;
  header.stored_size = number * 37 % 1'500;
  std::vector<std::byte> frame(sizeof(header) + header.stored_size, static_cast<std::byte>(number));
  std::memcpy(frame.data(), &header, sizeof(header));
  return frame;
}

}  // namespace

TEST_CASE("frames come out as they went in, also across the end of the ring") {
  Ring ring(8192);
  std::thread writer([&ring] {
    FrameRingProducer producer(ring.header, ring.data());
    for (std::uint32_t number = 0; number < 20'000;) {
      if (producer.write(frame_of(number)))
        ++number;
      else
        std::this_thread::yield();
    }
  });
  FrameRingConsumer consumer(ring.header, ring.data());
  bool sound = true;
  for (std::uint32_t number = 0; number < 20'000;) {
    const std::size_t bytes = consumer.next();
    if (bytes == 0) continue;
    std::vector<std::byte> frame(bytes);
    consumer.take(frame);
    sound = sound && frame == frame_of(number);
    ++number;
  }
  writer.join();
  CHECK(sound);
  CHECK(consumer.damaged() == 0);
}

TEST_CASE("a frame that finds no room changes nothing") {
  Ring ring(4096);
  FrameRingProducer producer(ring.header, ring.data());
  const auto large = [] {
    std::vector<std::byte> frame(3'000);
    FrameHeader header;
    header.stored_size = static_cast<std::uint32_t>(frame.size() - sizeof(header));
    std::memcpy(frame.data(), &header, sizeof(header));
    return frame;
  }();
  REQUIRE(producer.write(large));
  CHECK_FALSE(producer.write(large));
  FrameRingConsumer consumer(ring.header, ring.data());
  REQUIRE(consumer.next() == large.size());
  std::vector<std::byte> read(large.size());
  consumer.take(read);
  CHECK(read == large);
  CHECK(consumer.next() == 0);
  CHECK(producer.write(large));
}

TEST_CASE("a frame ring with senseless content is skipped, not followed") {
  Ring ring(4096);
  FrameRingProducer producer(ring.header, ring.data());
  FrameRingConsumer consumer(ring.header, ring.data());
  producer.write(frame_of(5));
  SECTION("no magic") { ring.storage[0] = std::byte{0}; }
  SECTION("longer than what was published") {
    const std::uint32_t size = 0xffffffff;
    std::memcpy(ring.storage.data() + offsetof(FrameHeader, stored_size), &size, sizeof(size));
  }
  SECTION("more published than the ring holds") { ring.header.head = 5'000; }
  SECTION("less published than a header has") { ring.header.head = 31; }
  CHECK(consumer.next() == 0);
  CHECK(consumer.damaged() == 1);
  CHECK(consumer.next() == 0);
}
