#include "model/trace/segments/scratch_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "model/file/scratch_file.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/home_process.h"
#include "read_guard.h"

namespace lanescope {
namespace {

constexpr std::uint64_t kWrittenAtOnce = std::uint64_t{16} << 20;  // bytes that are written before waiting for the disk
constexpr std::size_t kMostAtOnce = 256;                           // blocks
constexpr std::uint64_t kMostAhead = std::uint64_t{32} << 20;      // beyond the budget that may wait for the disk; above this, callers that make more wait, too
constexpr std::uint64_t kUntilNextTry = std::uint64_t{64} << 20;   // bytes of further blocks, if the file can't be written
constexpr std::uint64_t kFewestRead = std::uint64_t{16} << 20;     // bytes of the file that may be in memory, whatever the budget
constexpr std::chrono::milliseconds kLookWhereItStays{500};
constexpr std::chrono::milliseconds kLook{50};  // interval of checks of how much of the file is in memory

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t in_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

// Bytes of files in this process's memory, without shared memory; 0 if not known.
std::uint64_t resident_file_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string field; file >> field; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (std::uint64_t kib = 0; field == "RssFile:" && file >> kib) return kib << 10;
  return 0;
}

}  // namespace

struct ScratchMemory::State {
  mutable std::mutex mutex;
  std::condition_variable work, moved_on;
  std::list<ScratchBlock*> in_memory, in_file;  // sealed, the oldest first
  std::uint64_t memory_bytes = 0, file_bytes = 0, written = 0;
  std::uint64_t next_try = 0;  // bytes in memory from which on writing is tried again, after the file could not be written
  bool writing = false;
  bool stopping = false;
  std::uint64_t files_at_least = 0;  // resident bytes of other files than blocks: the least that was seen
  std::unique_ptr<ScratchFile> file;
  const HomeProcess home{};
  std::thread writer, watch;  // last: they use all of the above

  // All of these functions require: `mutex` is held.
  [[nodiscard]] static std::uint64_t budget() { return SegmentCache::of_process().budget(); }
  [[nodiscard]] static std::uint64_t kept() { return budget() / 4 * 3; }
  // Blocks are written until this is reached: going below the limit saves waits for the disk.
  [[nodiscard]] static std::uint64_t goal() { return budget() / 8 * 5; }
  [[nodiscard]] std::uint64_t allowed() const { return in_file.empty() ? budget() : kept(); }
  [[nodiscard]] bool is_too_much() const { return memory_bytes > allowed() && memory_bytes >= next_try; }
  [[nodiscard]] bool is_far_behind() const { return memory_bytes > budget() + kMostAhead && memory_bytes >= next_try && !stopping; }

  void start_threads() {
    if (!watch.joinable()) {
      files_at_least = resident_file_bytes();
      watch = std::thread([this] { look_after_what_is_read(); });
    }
    if (!writer.joinable()) writer = std::thread([this] { write_what_is_too_much(); });
  }

  void write_what_is_too_much() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      work.wait(lock, [this] { return stopping || is_too_much(); });
      if (stopping) return;
      try {
        write_oldest(lock);
      } catch (const std::bad_alloc&) {  // writing should end this shortage: later more blocks may go, or there may be more room
        if (!lock.owns_lock()) lock.lock();
        writing = false;
        next_try = memory_bytes + kUntilNextTry;
        moved_on.notify_all();
      }
    }
  }

  void look_after_what_is_read() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      work.wait(lock, [this] { return stopping || !in_file.empty(); });
      work.wait_for(lock, kLook, [this] { return stopping; });
      try {
        give_up_read(lock);
      } catch (const std::bad_alloc&) {  // it is tried again soon
        if (!lock.owns_lock()) lock.lock();
      }
    }
  }

  // Releases the lock in between.
  void write_oldest(std::unique_lock<std::mutex>& lock) {
    std::vector<std::shared_ptr<ScratchBlock>> blocks;
    blocks.reserve(kMostAtOnce);  // a block must not be destroyed while the lock is held, which would happen if an allocation failed here
    std::uint64_t bytes = 0;
    for (auto next = in_memory.begin(); next != in_memory.end() && blocks.size() < kMostAtOnce && bytes < kWrittenAtOnce && memory_bytes > goal() + bytes;
         ++next)
      if (std::shared_ptr<ScratchBlock> block = (*next)->weak_from_this().lock()) {  // otherwise it is about to be destroyed
        bytes += block->bytes_.size();
        blocks.push_back(std::move(block));
      }
    writing = true;
    lock.unlock();
    std::size_t moved = 0;
    const Result<void> result = write(blocks, moved);
    if (!result) SegmentCache::of_process().report("Events of the recording stay in memory, beyond what View > Memory for events says. " + result.error().text);
    lock.lock();
    for (std::size_t i = 0; i < moved; ++i) {
      ScratchBlock& block = *blocks[i];
      in_file.splice(in_file.end(), in_memory, block.place_);
      block.is_in_file_ = true;
      memory_bytes -= block.bytes_.size();
      file_bytes += block.bytes_.size();
      written += block.bytes_.size();
    }
    next_try = result && moved > 0 ? 0 : memory_bytes + kUntilNextTry;
    writing = false;
    moved_on.notify_all();
    work.notify_all();
    lock.unlock();
    blocks.clear();
    lock.lock();
  }

  // Afterwards the first `moved` blocks are in the file. Does not require the lock.
  Result<void> write(const std::vector<std::shared_ptr<ScratchBlock>>& blocks, std::size_t& moved) {
    if (!file) {
      file = std::make_unique<ScratchFile>(scratch_folder(), "Make room there, or let TMPDIR name another folder; until then the recording goes on in memory.");
      if (auto on_disk = file->lies_on_disk(); !on_disk) {
        file.reset();
        return on_disk;
      }
    }
    const std::uint64_t before = file->size();
    Result<void> done;
    for (const auto& block : blocks) {
      block->offset_ = file->size();
      if (done = file->append(block->bytes_); !done) break;
    }
    if (done) done = file->sync();
    if (!done) {
      file->cut(before);
      return done;
    }
    for (; moved < blocks.size(); ++moved) {
      ScratchBlock& block = *blocks[moved];
      const std::optional<std::size_t> guard = guard_reads(block.bytes_);
      if (!guard) return Error{"The system allows no more mappings of files."};
      if (auto mapped = file->map_over(block.bytes_, block.offset_); !mapped) {
        end_guard(*guard);
        return mapped;
      }
      block.guard_ = *guard;
    }
    return {};
  }

  // Gives up pages that were read from the file and are in memory since, if they are too many. Releases the lock in between.
  void give_up_read(std::unique_lock<std::mutex>& lock) {
    if (in_file.empty()) return;
    if (a_read_failed())
      SegmentCache::of_process().report("Some events of the recording can't be read back from a temporary file in " + scratch_folder().string() +
                                        ", and are shown wrong: the disk fails. The recording's own file does not depend on it.");
    const std::uint64_t resident = resident_file_bytes();
    files_at_least = std::min(files_at_least, resident);
    const std::uint64_t most = std::max(kFewestRead, budget() - kept());
    if (resident < files_at_least + most) return;
    std::vector<std::shared_ptr<ScratchBlock>> blocks;
    blocks.reserve(in_file.size());  // for the same reason as in write_oldest()
    for (ScratchBlock* block : in_file)
      if (std::shared_ptr<ScratchBlock> held = block->weak_from_this().lock()) blocks.push_back(std::move(held));
    lock.unlock();
    for (const auto& block : blocks) madvise(block->bytes_.data(), block->bytes_.size(), MADV_DONTNEED);
    blocks.clear();
    const std::uint64_t left = resident_file_bytes();
    lock.lock();
    // If the memory belongs to other files, or is read again at once, more frequent checks would only cost time.
    if (left + most / 4 > resident) work.wait_for(lock, kLookWhereItStays, [this] { return stopping; });
  }
};

ScratchMemory::ScratchMemory() : state_(std::make_unique<State>()) {}
ScratchMemory::~ScratchMemory() {
  if (!state_->home.is_here()) {
    HomeProcess::leave(std::move(state_));
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work.notify_all();
  state_->moved_on.notify_all();
  for (std::thread* thread : {&state_->writer, &state_->watch})
    if (thread->joinable()) thread->join();
}

ScratchMemory& ScratchMemory::of_process() {
  (void)SegmentCache::of_process();  // this makes the cache outlive it
  static ScratchMemory memory;
  return memory;
}

ScratchMemory::Use ScratchMemory::use() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return {state_->memory_bytes, state_->file_bytes, state_->written};
}

void ScratchMemory::settle() {
  std::unique_lock lock(state_->mutex);
  if (state_->is_too_much()) state_->start_threads();
  state_->work.notify_all();
  state_->moved_on.wait(lock, [this] { return state_->stopping || (!state_->writing && !state_->is_too_much()); });
}

void ScratchMemory::add(ScratchBlock& block, ScratchBlock::WhereDiskIsBehind behind) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  block.place_ = state.in_memory.insert(state.in_memory.end(), &block);
  block.is_counted_ = true;
  state.memory_bytes += block.bytes_.size();
  if (!state.is_too_much()) return;
  try {
    state.start_threads();
  } catch (const std::system_error&) {  // no room for another thread
    state.next_try = state.memory_bytes + kUntilNextTry;
    return;
  }
  state.work.notify_all();
  if (behind == ScratchBlock::WhereDiskIsBehind::kWait) state.moved_on.wait(lock, [&] { return !state.is_far_behind(); });
}

void ScratchMemory::remove(ScratchBlock& block) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  (block.is_in_file() ? state.in_file : state.in_memory).erase(block.place_);
  if (!block.is_in_file()) {
    state.memory_bytes -= block.bytes_.size();
    if (state.memory_bytes <= State::budget()) state.next_try = 0;
    return;
  }
  end_guard(block.guard_);
  state.file_bytes -= block.bytes_.size();
  if (state.in_file.empty() && !state.writing)
    state.file.reset();
  else
    state.file->forget(block.offset_, block.bytes_.size());
}

std::shared_ptr<ScratchBlock> ScratchBlock::of_at_most(std::size_t bytes) {
  bytes = in_pages(std::max<std::size_t>(bytes, 1));
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // A large page would stay in memory if the file were mapped over a part of it.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  try {
    return std::shared_ptr<ScratchBlock>(new ScratchBlock({static_cast<std::byte*>(memory), bytes}));
  } catch (...) {
    munmap(memory, bytes);
    throw;
  }
}

void ScratchBlock::seal(const std::shared_ptr<ScratchBlock>& block, WhereDiskIsBehind behind) {
  const std::size_t used = in_pages(std::max<std::size_t>(block->columns_.taken(), 1));
  if (used < block->bytes_.size()) munmap(block->bytes_.data() + used, block->bytes_.size() - used);
  block->bytes_ = block->bytes_.first(used);
  ScratchMemory::of_process().add(*block, behind);
}

ScratchBlock::~ScratchBlock() {
  if (is_counted_) ScratchMemory::of_process().remove(*this);
  munmap(bytes_.data(), bytes_.size());
}

}  // namespace lanescope
