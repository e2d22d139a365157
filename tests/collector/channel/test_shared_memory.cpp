#include "collector/channel/shared_memory.h"

#include <atomic>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/channel/agent_bell.h"
#include "collector/channel/ring.h"
#include "support/catch.h"

using namespace lanescope::channel;

namespace {

class Mapping {
 public:
  explicit Mapping(std::uint64_t pool_bytes = kDefaultPoolBytes)
      : bytes(memory_bytes_for(pool_bytes)),
        file(memfd_create("lanescope-test", MFD_CLOEXEC)),
        address(ftruncate(file, static_cast<off_t>(bytes)) == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : nullptr) {
    REQUIRE(address != MAP_FAILED);
    memory = initialize_shared_memory(address, bytes, 3);
  }
  ~Mapping() {
    munmap(address, bytes);
    close(file);
  }
  // Bytes of the file.
  [[nodiscard]] std::uint64_t resident_bytes() const {
    struct stat status {};
    REQUIRE(fstat(file, &status) == 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::uint64_t bytes;
  int file;
  void* address;
  SharedMemory memory;
};

}  // namespace

TEST_CASE("the parts lie side by side within the memory file, each on pages of its own, whatever the pool's size") {
  const std::uint64_t pool_bytes =
      GENERATE(as<std::uint64_t>(), kLeastPoolBytes, kLeastPoolBytes + kSegmentBytes, kDefaultPoolBytes, kDefaultPoolBytes - kSegmentBytes);
  const Mapping mapping(pool_bytes);
  const SharedMemory& memory = mapping.memory;
  CHECK(memory.header().process_instance == 3);
  CHECK(memory.header().memory_bytes == mapping.bytes);
  CHECK(SharedMemory(memory.header()).size() == mapping.bytes);
  CHECK(memory.thread_pool().count() == pool_bytes / kSegmentBytes);
  CHECK(memory.metadata_pool().count() == kMetadataSegments);
  const auto part = [](auto* first, std::size_t bytes) { return std::span(reinterpret_cast<const std::byte*>(first), bytes); };
  const auto segments = [&](const SegmentPool& pool) { return part(pool.bytes(0).data(), pool.count() * kSegmentBytes); };
  const auto links = [&](const SegmentPool& pool) { return part(&pool.link(0), pool.count() * sizeof(std::uint32_t)); };
  const std::vector<std::span<const std::byte>> parts{part(&memory.thread_ring(0), kThreadRingCount * sizeof(RingHeader)),
                                                      links(memory.metadata_pool()),
                                                      memory.frame_bytes(),
                                                      segments(memory.metadata_pool()),
                                                      links(memory.thread_pool()),
                                                      segments(memory.thread_pool())};
  const auto* begin = static_cast<const std::byte*>(mapping.address);
  const std::byte* end = begin + sizeof(SharedHeader);
  for (const auto& each : parts) {
    CHECK(each.data() >= end);
    CHECK((each.data() - begin) % 4096 == 0);
    end = each.data() + each.size();
  }
  CHECK(end == begin + mapping.bytes);
}

TEST_CASE("a new process costs some pages, and a quiet thread one segment at most") {
  const Mapping mapping;
  CHECK(mapping.resident_bytes() <= 16u << 10);
  const auto index = claim_thread_ring(mapping.memory, 7);
  RingProducer producer(mapping.memory.thread_ring(*index), mapping.memory.thread_pool());
  producer.write(Record{}, "once");
  CHECK(mapping.resident_bytes() <= 32u << 10);
}

TEST_CASE("what a burst took is given back once it was read and nothing more comes") {
  const Mapping mapping;
  const auto index = claim_thread_ring(mapping.memory, 7);
  RingHeader& ring = mapping.memory.thread_ring(*index);
  SegmentPool pool = mapping.memory.thread_pool();
  RingProducer producer(ring, pool);
  RingConsumer consumer(ring, pool);
  Record record{};
  record.thread = 7;
  std::uint64_t written = 0;
  for (int burst = 0; burst < 2; ++burst) {
    for (int i = 0; i < 2'000'000; ++i) written += producer.write(record, "a range") ? 1 : 0;
    CHECK(mapping.resident_bytes() >= 2'000'000 * 24);
    consumer.read([](const Record&, std::string_view) {});
    pool.give_pages_back(1'000'000);  // of a time with high use
    CHECK(mapping.resident_bytes() >= 2'000'000 * 24);
    CHECK(pool.give_pages_back(10) == 10);
    while (pool.give_pages_back(1'000) > 0) {
    }
    CHECK(mapping.resident_bytes() <= 64u << 10);
  }
  CHECK(written == 4'000'000);
  CHECK(consumer.dropped() == 0);
  CHECK(consumer.damaged() == 0);
}

TEST_CASE("threads that take segments at once, and a host that gives them back, neither lose nor share one") {
  Mapping mapping(kLeastPoolBytes);
  SegmentPool pool = mapping.memory.thread_pool();
  std::vector<std::atomic<int>> holders(pool.count());
  std::atomic<bool> sound{true};
  std::atomic<std::uint32_t> ended{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      SegmentPool own = mapping.memory.thread_pool();
      for (int i = 0; i < 50'000; ++i) {
        const auto index = own.take();
        if (!index) continue;
        if (holders[*index].fetch_add(1) != 0) sound = false;
        holders[*index].fetch_sub(1);
        own.give(*index);
      }
      ++ended;
    });
  while (ended < 3) pool.give_pages_back(4);
  for (auto& thread : threads) thread.join();
  CHECK(sound);
  std::uint32_t there = 0;
  while (pool.take()) ++there;
  CHECK(there == pool.count());
}

TEST_CASE("every thread ring has one owner, and can be had again once it was closed and freed") {
  Mapping mapping;
  std::vector<std::vector<std::size_t>> claimed(4);
  {
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        while (const auto index = claim_thread_ring(mapping.memory, t + 1)) claimed[t].push_back(*index);
      });
    for (auto& thread : threads) thread.join();
  }
  std::set<std::size_t> all;
  std::size_t count = 0;
  for (const auto& part : claimed) {
    all.insert(part.begin(), part.end());
    count += part.size();
  }
  CHECK(all.size() == kThreadRingCount);
  CHECK(count == kThreadRingCount);

  RingHeader& ring = mapping.memory.thread_ring(17);
  CHECK_FALSE(is_closed(ring));
  close_thread_ring(ring);
  CHECK(is_closed(ring));
  CHECK_FALSE(claim_thread_ring(mapping.memory, 9).has_value());
  free_thread_ring(ring);
  CHECK(claim_thread_ring(mapping.memory, 9) == 17u);
  CHECK_FALSE(is_closed(ring));
}

TEST_CASE("the agent's thread is woken by its bell, also by one that rang before it slept") {
  Mapping mapping;
  SharedHeader& header = mapping.memory.header();
  const std::uint32_t seen = header.agent_bell;
  std::thread target([&header] { ring_agent(header); });
  // A bell that is missed would let the test run into its limit.
  while (header.agent_bell == seen) wait_for_agent_bell(header, seen, std::chrono::hours(24));
  wait_for_agent_bell(header, seen, std::chrono::hours(24));
  CHECK(header.agent_bell != seen);
  target.join();
}

TEST_CASE("an agent's thread that nobody wakes comes back when its time is over") {
  Mapping mapping;
  SharedHeader& header = mapping.memory.header();
  wait_for_agent_bell(header, header.agent_bell, std::chrono::milliseconds(1));
  CHECK(header.agent_bell == 0);
}
