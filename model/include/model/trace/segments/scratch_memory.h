// Memory of events that goes to a temporary file where there is more of it than the budget (SegmentCache): so a recording that is followed for
// hours takes no more memory than a short one (docs/adr/0028-live-recordings-spill.md).
//
// A block keeps its address. When it is on the disk, the file is mapped in its place: who reads it, on whatever thread, does not notice, but
// that the system may have to read the disk. What was longest in memory goes first. Up to the budget nothing goes. From then on three quarters
// of it are for blocks in memory, and one for what was read of the file, which is given up again where it becomes more.
//
// Where the file can't be written, blocks stay in memory, and the cache (SegmentCache::problems()) has a sentence that says so. It is tried
// again as more blocks come. Where it can't be read back, since the disk fails, zeros are read, and a sentence says that.
//
// Threads: any number may call any function at once, but a block is filled by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "model/trace/storage/fixed_array.h"

namespace lanescope {

class ScratchMemory;

// Memory for columns, which are put into it and then never changed. It goes when nobody has it any more.
class ScratchBlock : public std::enable_shared_from_this<ScratchBlock> {
 public:
  // Throws std::bad_alloc where there is no memory.
  [[nodiscard]] static std::shared_ptr<ScratchBlock> of_at_most(std::size_t bytes);
  ~ScratchBlock();
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;

  // Requires: not sealed.
  [[nodiscard]] ColumnMemory& memory() noexcept { return columns_; }
  // Ends filling it: what is left goes back, and the rest may go to the file from now on. Who makes very many waits for the disk, where that is far
  // behind: else memory would grow.
  enum class WhereDiskIsBehind : std::uint8_t { kWait, kGoOn };
  static void seal(const std::shared_ptr<ScratchBlock>& block, WhereDiskIsBehind behind);

  [[nodiscard]] bool is_in_file() const noexcept { return is_in_file_.load(std::memory_order_relaxed); }
  // Bytes that it takes of memory, in whole pages: 0 where it is in the file.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return is_in_file() ? 0 : bytes_.size(); }

 private:
  friend class ScratchMemory;
  explicit ScratchBlock(std::span<std::byte> bytes) : bytes_(bytes), columns_(bytes) {}

  std::span<std::byte> bytes_;
  ColumnMemory columns_;
  std::atomic<bool> is_in_file_ = false;
  // These are of ScratchMemory:
  bool is_counted_ = false;
  std::list<ScratchBlock*>::iterator place_;  // among those in memory, or those in the file
  std::uint64_t offset_ = 0;                  // in the file
  std::size_t guard_ = 0;
};

class ScratchMemory {
 public:
  static ScratchMemory& of_process();

  struct Use {
    std::uint64_t in_memory = 0;  // bytes of sealed blocks
    std::uint64_t in_file = 0;
    std::uint64_t written = 0;  // since the process began
  };
  [[nodiscard]] Use use() const noexcept;
  // Waits until as much is in the file as should be, or can't be written. For who counts.
  void settle();

  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

 private:
  friend class ScratchBlock;
  ScratchMemory();
  ~ScratchMemory();
  void add(ScratchBlock& block, ScratchBlock::WhereDiskIsBehind behind);
  void remove(ScratchBlock& block) noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
