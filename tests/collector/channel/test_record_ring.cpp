#include <atomic>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collector/channel/ring.h"
#include "support/catch.h"

using namespace lanescope::channel;

namespace {

// A ring with its own pool.
struct Ring {
  explicit Ring(std::uint32_t segments = 4) : links(segments), storage(segments * kSegmentBytes / 8) {}
  SegmentPool pool() { return {pool_header, links.data(), std::as_writable_bytes(std::span(storage)).data(), static_cast<std::uint32_t>(links.size())}; }
  std::byte* place(std::uint32_t segment) { return pool().bytes(segment).data(); }

  RingHeader header{};
  SegmentPoolHeader pool_header{};
  std::vector<std::atomic<std::uint32_t>> links;
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

TEST_CASE("a record takes two words, one for each part that it has, and its text in whole words") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  const auto taken = [&](auto change, std::string_view text) {
    Record record{};
    record.thread = 5;
    change(record);
    const std::uint64_t before = ring.header.head;
    REQUIRE(producer.write(record, text));
    return ring.header.head - before;
  };
  const auto nothing = [](Record&) {};
  CHECK(taken(nothing, {}) == 24);  // the first record of a segment names the thread
  CHECK(taken(nothing, {}) == 16);
  CHECK(taken(nothing, "step") == 24);
  CHECK(taken(nothing, "12345678") == 24);
  CHECK(taken(nothing, "123456789") == 32);
  CHECK(taken([](Record& r) { r.domain = 1; }, {}) == 24);
  CHECK(taken([](Record& r) { r.domain = r.category = 1; }, {}) == 24);
  CHECK(taken([](Record& r) { r.color = 1; }, {}) == 24);
  CHECK(taken([](Record& r) { r.thread = 6; }, {}) == 24);
  CHECK(taken(
            [](Record& r) {
              r.thread = 6;
              r.id = 0xffff;
            },
            {}) == 16);
  CHECK(taken(
            [](Record& r) {
              r.thread = 6;
              r.id = 0x10000;
              r.payload = 1;
            },
            {}) == 32);
}

TEST_CASE("text is cut at a character, never within one") {
  CHECK(cut_at_character("abcdef", 4) == 4);
  CHECK(cut_at_character("abc", 4) == 3);
  CHECK(cut_at_character("ab\xcf\x80", 3) == 2);          // pi has two bytes
  CHECK(cut_at_character("a\xf0\x9f\x98\x80z", 4) == 1);  // an emoji has four
}

TEST_CASE("what is written is read back, byte for byte and in order, around the end of the ring many times") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
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

TEST_CASE("a ring that finds no segment drops the record, counts it, and goes on once the host has read") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  std::uint64_t fitting = 0;
  while (producer.write(numbered(fitting), {})) ++fitting;
  CHECK_FALSE(producer.write(numbered(fitting), {}));
  CHECK(consumer.dropped() == 2);
  CHECK(read_all(consumer).size() == fitting);
  CHECK(producer.write(numbered(99), "again"));
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == "again");
}

TEST_CASE("a thread that bursts can have all of the pool, and two share it") {
  Ring first(64);
  RingHeader second{};
  RingProducer one(first.header, first.pool());
  RingProducer two(second, first.pool());
  std::uint64_t written = 0;
  while (one.write(numbered(written), {})) ++written;
  CHECK(first.header.head > 63 * kSegmentBytes);
  CHECK_FALSE(two.write(numbered(1), {}));
  RingConsumer consumer(first.header, first.pool());
  CHECK(read_all(consumer).size() == written);
  std::uint64_t others = 0;
  while (two.write(numbered(others), {})) ++others;
  CHECK(second.head > 62 * kSegmentBytes);  // all but the one that the first still writes to
}

TEST_CASE("a closed ring gives back its last segment, and its next owner begins with another") {
  Ring ring(1);
  RingConsumer consumer(ring.header, ring.pool());
  for (std::uint64_t owner = 0; owner < 10; ++owner) {
    RingProducer producer(ring.header, ring.pool());
    Record record = numbered(owner);
    record.thread = static_cast<std::uint32_t>(100 + owner);
    REQUIRE(producer.write(record, "by its owner"));
    const auto seen = read_all(consumer);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].record.thread == 100 + owner);
    consumer.release();
    CHECK(consumer.empty());
  }
  CHECK(consumer.damaged() == 0);
}

TEST_CASE("a reader that may take so many bytes takes the rest later") {
  Ring ring(8);
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  constexpr std::uint64_t kRecords = 2'000;
  for (std::uint64_t id = 0; id < kRecords; ++id) REQUIRE(producer.write(numbered(id), {}));
  std::uint64_t next = 0;
  std::size_t rounds = 0;
  for (; !consumer.empty(); ++rounds) {
    const std::uint64_t before = consumer.position();
    consumer.read([&](const Record& record, std::string_view) { REQUIRE(record.id == next++); }, 1000);
    CHECK(consumer.position() - before <= 1000 + kMaximumRecordBytes);
  }
  CHECK(next == kRecords);
  CHECK(rounds > 20);
}

TEST_CASE("a ring is filling up when eight segments wait") {
  Ring ring(32);
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  while (ring.header.head < 8 * kSegmentBytes) {
    CHECK_FALSE(producer.filling_up());
    producer.write(numbered(1), {});
  }
  CHECK(producer.filling_up());
  read_all(consumer);
  CHECK_FALSE(producer.filling_up());
}

TEST_CASE("a text longer than a record may hold is cut") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  REQUIRE(producer.write(numbered(1), std::string(3'000, 'x')));
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == std::string(kMaximumTextBytes, 'x'));
}

TEST_CASE("a thread that writes and one that reads lose nothing and mix nothing up") {
  Ring ring(2);
  constexpr std::uint64_t records = 200'000;
  std::thread writer([&ring] {
    RingProducer producer(ring.header, ring.pool());
    for (std::uint64_t id = 0; id < records;) {
      if (producer.write(numbered(id), text_of(id)))
        ++id;
      else
        std::this_thread::yield();
    }
  });
  RingConsumer consumer(ring.header, ring.pool());
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
  RingConsumer consumer(ring.header, ring.pool());
  RingProducer(ring.header, ring.pool()).write(numbered(1), "first");
  RingProducer(ring.header, ring.pool()).write(numbered(2), "second");
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].text == "second");
}

// ---- A target may write anything at all into the shared memory --------------------------------------------------------------------

TEST_CASE("a record that claims to reach past what was published is not read") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  producer.write(numbered(1), {});
  PackedRecord forged;
  std::memcpy(&forged, ring.place(0), sizeof(forged));
  forged.size = GENERATE(as<std::uint8_t>(), 0, 1, 2, 4, 7, 255);
  std::memcpy(ring.place(0), &forged, sizeof(forged));
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
  producer.write(numbered(3), "sound again");
  const auto seen = read_all(consumer);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].text == "sound again");
}

TEST_CASE("text that claims more than its record holds is not read") {
  Ring ring;
  RingProducer producer(ring.header, ring.pool());
  RingConsumer consumer(ring.header, ring.pool());
  producer.write(numbered(1), "12345678");
  PackedRecord forged;
  std::memcpy(&forged, ring.place(0), sizeof(forged));
  forged.text_bytes = GENERATE(as<std::uint16_t>(), 9, 1024, 65535);
  std::memcpy(ring.place(0), &forged, sizeof(forged));
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
}

TEST_CASE("a head that lies is not followed") {
  Ring ring;
  RingConsumer consumer(ring.header, ring.pool());
  ring.header.head = GENERATE(as<std::uint64_t>(), 4, 8, 4 * kSegmentBytes + 8, ~std::uint64_t{0}, ~std::uint64_t{7});
  CHECK(read_all(consumer).empty());
  CHECK(consumer.damaged() == 1);
}

TEST_CASE("whatever the bytes are, a reader stays within them and comes to an end") {
  const auto seed = GENERATE(range(0u, 200u));
  std::mt19937_64 random(seed);
  Ring ring;
  for (std::uint64_t& word : ring.storage) {
    word = random();
    // Often nearly valid, so that the reader gets beyond the first record.
    if (random() % 2 == 0) word = (2 + random() % 5) | (random() % 17) << 8 | (random() % 16) << 24 | (random() % 16) << 32;
  }
  for (auto& link : ring.links) link = static_cast<std::uint32_t>(random() % 7);
  RingConsumer consumer(ring.header, ring.pool());
  const auto* const begin = reinterpret_cast<const char*>(ring.storage.data());
  for (int round = 0; round < 20; ++round) {
    ring.header.head = ring.header.head + random() % (2 * kSegmentBytes);
    if (random() % 2 == 0) ring.header.head = ring.header.head / 8 * 8;
    ring.header.tail = random();
    ring.header.first = static_cast<std::uint32_t>(random() % 7);
    ring.header.last = static_cast<std::uint32_t>(random() % 7);
    ring.pool_header.warm = random() % 7;
    ring.pool_header.cold = random();
    consumer.read([&](const Record& record, std::string_view text) {
      REQUIRE(text.data() >= begin);
      REQUIRE(text.data() + text.size() <= begin + ring.storage.size() * 8);
      REQUIRE(text.size() == record.text_bytes);
    });
  }
}
