// A first-in, first-out queue of pieces of bytes. They are kept in memory, and beyond a limit in a file without a name, which disappears with the
// process. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <vector>

namespace lanescope::gpu_metrics {

struct QueueLimits {
  std::size_t memory = 64u << 20;   // bytes
  std::uint64_t file = 4ull << 30;  // bytes; the file leaves at least as much of its disk free as it takes
  std::filesystem::path folder;     // of the file; empty: TMPDIR, else /var/tmp, which is on a disk even if /tmp is not
};

class ByteQueue {
 public:
  explicit ByteQueue(QueueLimits limits) : limits_(std::move(limits)) {}
  ~ByteQueue();
  ByteQueue(const ByteQueue&) = delete;
  ByteQueue& operator=(const ByteQueue&) = delete;

  // Returns false and changes nothing if the limits or the disk leave no room.
  [[nodiscard]] bool put(std::span<const std::byte> piece);
  // Takes the oldest piece. Returns false if it can't be read from the file; the piece is lost then. Requires: !empty().
  [[nodiscard]] bool take(std::vector<std::byte>& piece);
  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }

 private:
  struct Piece {
    std::vector<std::byte> bytes;  // empty if the piece is in the file
    std::uint64_t offset = 0;      // in the file
    std::size_t size = 0;
  };
  [[nodiscard]] bool write_to_file(std::span<const std::byte> piece);

  QueueLimits limits_;
  std::deque<Piece> pieces_;
  std::size_t in_memory_ = 0;
  std::uint64_t in_file_ = 0;
  std::uint64_t file_end_ = 0;
  int file_ = -1;
};

}  // namespace lanescope::gpu_metrics
