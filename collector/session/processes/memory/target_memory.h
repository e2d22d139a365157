// The memory to which one target process writes its records. It belongs to the host, and outlives the target.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collector/channel/shared_memory.h"
#include "collector/session/recording.h"
#include "file_descriptor.h"
#include "processes/memory/memory_guard.h"

namespace lanescope::session {

// Limit in bytes of waiting records of one process: what was asked for, but at most an eighth of what is free on the machine and in our control groups,
// rounded down to a power of two so that there are few sizes; at least channel::kLeastPoolBytes. The kernel charges the bytes to the program's control group,
// and ends programs if that is full.
[[nodiscard]] std::uint64_t pool_bytes_within(std::uint64_t asked, std::uint64_t free) noexcept;

class TargetMemory {
 public:
  // Makes a memory file that can neither shrink nor grow, mapped, with the settings written. It starts silent (Settings::recording is 0). Fails if there is
  // no address space or descriptor left.
  static Result<std::unique_ptr<TargetMemory>> create(std::uint32_t instance, const CaptureSettings& settings);
  ~TargetMemory();
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  void close_descriptor() noexcept { file_.reset(); }  // once the target has it
  // From here on `guard` releases the memory if we are killed. Requires: the descriptor was not closed yet; `guard` outlives *this.
  void guard_by(MemoryGuard& guard) { watch_.emplace(guard.watch(descriptor())); }
  // Gives all of it except its header back to the system.
  void keep_header() noexcept;
  // Makes the target start and end captures by this range. Requires: it does not do so by another one already.
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
