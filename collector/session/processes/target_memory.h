// The memory that one target process writes its records to. It is the host's: it outlives the target.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collector/channel/shared_memory.h"
#include "collector/session/recording.h"
#include "file_descriptor.h"
#include "processes/memory_guard.h"

namespace lanescope::session {

// Bytes that waiting records of one process may take: what was asked for, and at most an eighth of what is free on the machine and in our control groups,
// rounded down to a power of two so that sizes are few; at least channel::kLeastPoolBytes. The kernel charges them to the program's group, and ends programs
// where that is full.
[[nodiscard]] std::uint64_t pool_bytes_within(std::uint64_t asked, std::uint64_t free) noexcept;

class TargetMemory {
 public:
  // A memory file that can neither shrink nor grow, mapped, with the settings written; it begins silent (Settings::recording is 0).
  // Fails when there is no address space or descriptor left.
  static Result<std::unique_ptr<TargetMemory>> create(std::uint32_t instance, const CaptureSettings& settings);
  ~TargetMemory();
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  void close_descriptor() noexcept { file_.reset(); }  // once the target has it
  // From here on `guard` sees to it, where we are killed. Requires: the descriptor was not closed yet; `guard` outlives *this.
  void guard_by(MemoryGuard& guard) { watch_.emplace(guard.watch(descriptor())); }
  // Gives all of it back to the system but its header.
  void keep_header() noexcept;
  // Has the target begin and end captures so. Requires: it does in no other way.
  void await(const CaptureRange& range);
  [[nodiscard]] const channel::SharedMemory& shared() const noexcept { return shared_; }

 private:
  TargetMemory() = default;
  FileDescriptor file_;
  void* mapping_ = nullptr;
  channel::SharedMemory shared_;
  std::optional<MemoryGuard::Watch> watch_;
};

}  // namespace lanescope::session
