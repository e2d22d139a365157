#include "collector/channel/shared_memory.h"

#include <set>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "collector/channel/doorbell.h"
#include "collector/channel/ring.h"
#include "support/catch.h"

using namespace lanescope::channel;

namespace {

class Mapping {
 public:
  Mapping() : address(mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(address != MAP_FAILED);
  }
  ~Mapping() { munmap(address, kMemoryBytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void* address;
};

}  // namespace

TEST_CASE("the rings lie side by side within the memory file, each on pages of its own") {
  Mapping mapping;
  const SharedMemory memory = initialize_shared_memory(mapping.address, 3);
  CHECK(memory.header().process_instance == 3);
  CHECK(memory.header().memory_bytes == kMemoryBytes);
  std::vector<std::span<std::byte>> parts{memory.metadata_bytes(), memory.frame_bytes()};
  for (std::size_t i = 0; i < kThreadRingCount; ++i) parts.push_back(memory.thread_bytes(i));
  const auto* begin = static_cast<std::byte*>(mapping.address);
  const std::byte* end = begin + sizeof(SharedHeader);
  for (const auto& part : parts) {
    CHECK(part.data() >= end);
    CHECK((part.data() - begin) % 4096 == 0);
    end = part.data() + part.size();
  }
  CHECK(end == begin + kMemoryBytes);
}

TEST_CASE("every thread ring has one owner, and can be had again once it was closed and freed") {
  Mapping mapping;
  SharedHeader& header = initialize_shared_memory(mapping.address, 1).header();
  std::vector<std::vector<std::size_t>> claimed(4);
  {
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        while (const auto index = claim_thread_ring(header, t + 1)) claimed[t].push_back(*index);
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

  RingHeader& ring = header.thread_rings[17];
  CHECK_FALSE(is_closed(ring));
  close_thread_ring(ring);
  CHECK(is_closed(ring));
  CHECK_FALSE(claim_thread_ring(header, 9).has_value());
  free_thread_ring(ring);
  CHECK(claim_thread_ring(header, 9) == 17u);
  CHECK_FALSE(is_closed(ring));
}

TEST_CASE("a host that sleeps is woken by the doorbell") {
  Mapping mapping;
  SharedHeader& header = initialize_shared_memory(mapping.address, 1).header();
  ring_doorbell(header);
  CHECK(header.doorbell == 0);  // nobody slept
  std::thread target([&header] {
    while (header.host_sleeps == 0) std::this_thread::yield();
    ring_doorbell(header);
  });
  const auto before = std::chrono::steady_clock::now();
  wait_for_doorbell(header, std::chrono::minutes(5));
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::minutes(4));
  target.join();
  CHECK(header.doorbell == 1);
  CHECK(header.host_sleeps == 0);
}

TEST_CASE("a host that nobody wakes comes back when its time is over") {
  Mapping mapping;
  SharedHeader& header = initialize_shared_memory(mapping.address, 1).header();
  wait_for_doorbell(header, std::chrono::milliseconds(1));
  CHECK(header.host_sleeps == 0);
}
