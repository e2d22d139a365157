// Memory of events that goes to a temporary file if it exceeds the budget (SegmentCache), so that a recording that is followed for hours takes no more
// memory than a short one (docs/adr/0028-live-recordings-spill.md).
//
// A block keeps its address. When it goes to the disk, the file is mapped in its place. Readers on any thread notice nothing, except that the system
// may have to read the disk. The blocks that were in memory longest go first. Nothing goes before the budget is used up. From then on three quarters of
// the budget are for blocks in memory, and one quarter for pages that were read from the file, which are given up again if they become more.
//
// If the file can't be written, blocks stay in memory, and the cache (SegmentCache::problems()) has a sentence that says so. Writing is tried again as
// more blocks come. If the file can't be read back because the disk fails, readers get zeros, and a sentence says that.
//
// Threads: any number may call any function at once, but a block is filled by one thread.
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

// Memory for columns, which are put into it and then never changed. It is freed when nobody holds it any more.
class ScratchBlock : public std::enable_shared_from_this<ScratchBlock> {
 public:
  // Throws std::bad_alloc if there is no memory.
  [[nodiscard]] static std::shared_ptr<ScratchBlock> of_at_most(std::size_t bytes);
  ~ScratchBlock();
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;

  // Requires: not sealed.
  [[nodiscard]] ColumnMemory& memory() noexcept { return columns_; }
  // Ends the filling: unused memory is given back, and the rest may go to the file from now on. Callers that make very many blocks wait for the disk if
  // it is far behind, because otherwise memory would grow.
  enum class WhereDiskIsBehind : std::uint8_t { kWait, kGoOn };
  static void seal(const std::shared_ptr<ScratchBlock>& block, WhereDiskIsBehind behind);

  [[nodiscard]] bool is_in_file() const noexcept { return is_in_file_.load(std::memory_order_relaxed); }
  // Bytes of memory that it takes, in whole pages; 0 if it is in the file.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return is_in_file() ? 0 : bytes_.size(); }

 private:
  friend class ScratchMemory;
  explicit ScratchBlock(std::span<std::byte> bytes) : bytes_(bytes), columns_(bytes) {}

  std::span<std::byte> bytes_;
  ColumnMemory columns_;
  std::atomic<bool> is_in_file_ = false;
  // These members belong to ScratchMemory:
  bool is_counted_ = false;
  std::list<ScratchBlock*>::iterator place_;  // in the list of blocks in memory, or of blocks in the file
  std::uint64_t offset_ = 0;                  // in the file
  std::size_t guard_ = 0;
};

class ScratchMemory {
 public:
  static ScratchMemory& of_process();

  struct Use {
    std::uint64_t in_memory = 0;  // bytes of sealed blocks
    std::uint64_t in_file = 0;
    std::uint64_t written = 0;  // since the start of the process
  };
  [[nodiscard]] Use use() const noexcept;
  // Waits until as much as required is in the file, or can't be written. For callers that measure.
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
