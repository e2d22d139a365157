#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "link/block_sums.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::remote;

namespace {

std::string random_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}

class File {
 public:
  explicit File(const std::string& bytes) : descriptor_(open((folder_.path() / "file").c_str(), O_RDWR | O_CREAT, 0600)) {
    REQUIRE(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~File() { close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  test::TemporaryFolder folder_;
  int descriptor_;
};

proto::RemotePosition position_of(std::string_view bytes) {
  BlockSums sums;
  sums.append(bytes);
  proto::RemotePosition position;
  sums.describe(position);
  return position;
}

}  // namespace

TEST_CASE("sums do not depend on the pieces in which bytes came, and can be cut anywhere") {
  const std::string bytes = random_bytes(2 * kBlockBytes + 77);
  const File file(bytes);
  BlockSums whole;
  whole.append(bytes);
  BlockSums pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 333'333) pieces.append(std::string_view(bytes).substr(at, 333'333));
  CHECK(pieces.all() == whole.all());
  for (const std::uint64_t size : {2 * kBlockBytes, kBlockBytes + 5, kBlockBytes, std::uint64_t{3}, std::uint64_t{0}}) {
    REQUIRE(pieces.cut(size, file.descriptor()));
    BlockSums cut;
    cut.append(std::string_view(bytes).substr(0, size));
    CHECK(pieces.size() == size);
    CHECK(pieces.all() == cut.all());
  }
  CHECK_FALSE(pieces.cut(10, file.descriptor()));
}

TEST_CASE("a copy goes on where it ends where it is a beginning of the file, else at the first block that differs") {
  const std::string bytes = random_bytes(2 * kBlockBytes + 1'000);
  const File file(bytes);
  const auto equal = [&](std::string_view copy) { return equal_bytes(position_of(copy), file.descriptor(), bytes.size(), [] {}); };
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, kBlockBytes - 1, kBlockBytes, kBlockBytes + 1, std::uint64_t{bytes.size()}})
    CHECK(equal(std::string_view(bytes).substr(0, size)) == size);
  for (const std::uint64_t changed : {std::uint64_t{0}, kBlockBytes - 1, kBlockBytes, 2 * kBlockBytes, std::uint64_t{bytes.size() - 1}}) {
    std::string copy = bytes;
    copy[changed] ^= 1;
    CHECK(equal(copy) == changed / kBlockBytes * kBlockBytes);
  }
  CHECK(equal(bytes + "more") == 2 * kBlockBytes);
  CHECK(equal(bytes + random_bytes(2 * kBlockBytes)) == 2 * kBlockBytes);
}

TEST_CASE("positions that make no sense are answered within the file") {
  const std::string bytes = random_bytes(100);
  const File file(bytes);
  proto::RemotePosition position = position_of(bytes);
  position.set_size(GENERATE(UINT64_MAX, std::uint64_t{101}, kBlockBytes, std::uint64_t{50}));
  CHECK(equal_bytes(position, file.descriptor(), bytes.size(), [] {}) == 0);
}
