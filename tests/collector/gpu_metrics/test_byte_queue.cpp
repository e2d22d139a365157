#include "byte_queue.h"

#include <deque>
#include <random>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

std::vector<std::byte> random_piece(std::mt19937& random, std::size_t most) {
  std::vector<std::byte> piece(std::uniform_int_distribution<std::size_t>(1, most)(random));
  for (std::byte& byte : piece) byte = static_cast<std::byte>(random());
  return piece;
}

}  // namespace

TEST_CASE("pieces come back as they were put, in their order, from memory and from the disk") {
  const test::TemporaryFolder folder;
  std::mt19937 random(GENERATE(range(1u, 6u)));
  constexpr std::size_t kMemory = 20'000;
  ByteQueue queue({kMemory, 1 << 20, folder.path()});
  std::deque<std::vector<std::byte>> oracle;
  std::size_t waiting = 0, most_waiting = 0;
  for (int step = 0; step < 4'000; ++step) {
    const bool puts = oracle.empty() || random() % 100 < (step / 500 % 2 == 0 ? 60u : 40u);
    std::vector<std::byte> piece;
    if (puts) {
      piece = random_piece(random, 5'000);
      if (queue.put(piece)) {
        oracle.push_back(piece);
        waiting += piece.size();
      }
    } else {
      REQUIRE(queue.take(piece));
      REQUIRE(piece == oracle.front());
      oracle.pop_front();
      waiting -= piece.size();
    }
    REQUIRE(queue.empty() == oracle.empty());
    most_waiting = std::max(most_waiting, waiting);
  }
  CHECK(most_waiting - kMemory > 100'000);          // in the file
  CHECK(std::filesystem::is_empty(folder.path()));  // the file has no name
}

TEST_CASE("what finds no room is refused, and what waits stays") {
  const test::TemporaryFolder folder;
  ByteQueue queue({1'000, 2'000, folder.path()});
  const std::vector<std::byte> piece(900, std::byte{7});
  std::vector<std::byte> taken;
  CHECK(queue.put(piece));  // memory
  CHECK(queue.put(piece));  // file
  CHECK(queue.put(piece));
  CHECK_FALSE(queue.put(piece));
  REQUIRE(queue.take(taken));
  CHECK(queue.put(piece));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(queue.take(taken));
    CHECK(taken == piece);
  }
  CHECK(queue.empty());
}

TEST_CASE("a queue without a folder for its file keeps to memory") {
  ByteQueue queue({1'000, 1 << 20, "/no/such/folder"});
  const std::vector<std::byte> piece(900, std::byte{7});
  CHECK(queue.put(piece));
  CHECK_FALSE(queue.put(piece));
}
