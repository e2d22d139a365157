#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collector/channel/ring.h"
#include "support/catch.h"

using namespace lanescope::channel;

namespace {

constexpr std::size_t kRingBytes = 4096;

struct Ring {
  explicit Ring(std::size_t bytes = kRingBytes) : storage(bytes / 8) {}
  std::span<std::byte> data() { return std::as_writable_bytes(std::span(storage)); }

  RingHeader header{};
  std::vector<std::uint64_t> storage;
};

struct Seen {
  Record record;
  std::string text;
};

std::vector<Seen> read_all(RingConsumer& consumer) {
  std::vector<Seen> seen;
  consumer.read([&seen](const Record& record, std::string_view text) { seen.push_back({record, std::string(text)}); });
  return seen;
}

Record numbered(std::uint64_t id) {
  Record record{};
  record.type = RecordType::kMark;
  record.id = id;
  record.time = static_cast<std::int64_t>(id * 3);
  record.domain = static_cast<std::uint32_t>(id % 7);
  record.payload = ~id;
  return record;
}

std::string text_of(std::uint64_t id) { return std::string(id % 301, static_cast<char>('a' + id % 26)); }

}  // namespace

TEST_CASE("a record takes 48 bytes, its text, and what rounds both up to 8") {
  CHECK(record_bytes(0) == 48);
  CHECK(record_bytes(1) == 56);
  CHECK(record_bytes(8) == 56);
  CHECK(record_bytes(9) == 64);
}

TEST_CASE("text is cut at a character, never within one") {
  CHECK(cut_at_character("abcdef", 4) == 4);
  CHECK(cut_at_character("abc", 4) == 3);
  CHECK(cut_at_character("ab\xcf\x80", 3) == 2);          // pi has two bytes
  CHECK(cut_at_character("a\xf0\x9f\x98\x80z", 4) == 1);  // an emoji has four
}

TEST_CASE("what is written is read back, byte for byte and in order, around the end of the ring many times") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  std::uint64_t next_written = 0;
  std::uint64_t next_read = 0;
  std::mt19937 random(7);
  while (next_read < 5'000) {
    const std::uint64_t burst = random() % 12;
    for (std::uint64_t i = 0; i < burst; ++i)
      if (producer.write(numbered(next_written), text_of(next_written))) ++next_written;
    for (const Seen& seen : read_all(consumer)) {
      REQUIRE(seen.record.id == next_read);
      REQUIRE(seen.record.time == static_cast<std::int64_t>(next_read * 3));
      REQUIRE(seen.record.domain == next_read % 7);
      REQUIRE(seen.record.payload == ~next_read);
      REQUIRE(seen.text == text_of(next_read));
      ++next_read;
    }
    REQUIRE(consumer.empty());
  }
  CHECK(consumer.damaged() == 0);
  CHECK(consumer.produced() == next_written);
}

TEST_CASE("a full ring drops the record, counts it, and goes on once there is room") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  std::uint64_t fitting = 0;
  while (producer.write(numbered(fitting), {})) ++fitting;
  CHECK(fitting == kRingBytes / sizeof(Record));
  CHECK_FALSE(producer.write(numbered(0), {}));
  CHECK(consumer.dropped() == 2);
  CHECK(read_all(consumer).size() == fitting);
  CHECK(producer.write(numbered(99), "again"));
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == "again");
}

TEST_CASE("a ring asks for attention once a quarter of it waits to be read") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  std::size_t bytes = 0;
  while (bytes < kRingBytes / 4) {
    CHECK_FALSE(producer.filling_up());
    producer.write(numbered(1), {});
    bytes += sizeof(Record);
  }
  CHECK(producer.filling_up());
  read_all(consumer);
  CHECK_FALSE(producer.filling_up());
}

TEST_CASE("a text longer than a record may hold is cut") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  REQUIRE(producer.write(numbered(1), std::string(3'000, 'x')));
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == std::string(kMaximumTextBytes, 'x'));
}

TEST_CASE("a thread that writes and one that reads lose nothing and mix nothing up") {
  Ring ring(1u << 16);
  constexpr std::uint64_t records = 200'000;
  std::thread writer([&ring] {
    RingProducer producer(ring.header, ring.data());
    for (std::uint64_t id = 0; id < records;) {
      if (producer.write(numbered(id), text_of(id)))
        ++id;
      else
        std::this_thread::yield();
    }
  });
  RingConsumer consumer(ring.header, ring.data());
  std::uint64_t next = 0;
  bool sound = true;
  while (next < records) {
    consumer.read([&](const Record& record, std::string_view text) {
      sound = sound && record.id == next && record.payload == ~next && text == text_of(next);
      ++next;
    });
  }
  writer.join();
  CHECK(sound);
  CHECK(next == records);
  CHECK(consumer.damaged() == 0);
}

TEST_CASE("a new owner of a ring goes on where the last one ended") {
  Ring ring;
  RingConsumer consumer(ring.header, ring.data());
  RingProducer(ring.header, ring.data()).write(numbered(1), "first");
  RingProducer(ring.header, ring.data()).write(numbered(2), "second");
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].text == "second");
}

// ---- A target may write anything at all into the shared memory --------------------------------------------------------------------

TEST_CASE("a record that claims to reach past what was published is not read") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  producer.write(numbered(1), {});
  Record forged = numbered(2);
  const std::uint32_t size = GENERATE(as<std::uint32_t>(), 0, 4, 8, 40, 44, 56, 4096, 0xfffffff8u, 0xffffffffu);
  forged.size = size;
  std::memcpy(ring.data().data(), &forged, sizeof(forged));
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
  producer.write(numbered(3), "sound again");
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == "sound again");
}

TEST_CASE("text that claims more than its record holds is not read") {
  Ring ring;
  RingProducer producer(ring.header, ring.data());
  RingConsumer consumer(ring.header, ring.data());
  producer.write(numbered(1), "12345678");
  Record forged{};
  std::memcpy(&forged, ring.data().data(), sizeof(forged));
  forged.text_bytes = GENERATE(as<std::uint16_t>(), 9, 1024, 65535);
  std::memcpy(ring.data().data(), &forged, sizeof(forged));
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
}

TEST_CASE("a head that lies is not followed") {
  Ring ring;
  RingConsumer consumer(ring.header, ring.data());
  ring.header.head = GENERATE(as<std::uint64_t>(), 4, kRingBytes + 8, ~std::uint64_t{0}, ~std::uint64_t{7});
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
}

TEST_CASE("whatever the bytes are, a reader stays within them and comes to an end") {
  const auto seed = GENERATE(range(0u, 200u));
  std::mt19937_64 random(seed);
  Ring ring;
  for (std::uint64_t& word : ring.storage) {
    word = random();
    // Often nearly right, so that the reader gets further than the first record.
    if (random() % 2 == 0) word = (random() % 16 * 8) | (random() % 11) << 32 | (random() % 64) << 48;
  }
  RingConsumer consumer(ring.header, ring.data());
  const auto data = ring.data();
  for (int round = 0; round < 20; ++round) {
    ring.header.head = ring.header.head + random() % (2 * kRingBytes);
    ring.header.tail = random();
    consumer.read([&data](const Record& record, std::string_view text) {
      const auto* begin = reinterpret_cast<const char*>(data.data());
      REQUIRE(text.data() >= begin);
      REQUIRE(text.data() + text.size() <= begin + data.size());
      REQUIRE(text.size() == record.text_bytes);
    });
  }
}
