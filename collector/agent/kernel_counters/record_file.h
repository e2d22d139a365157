// The file of this process in the folder of the recording (collector/channel/kernel_counters.h). Any thread; each record goes at once, so that
// it is there however the process ends.
//
// The program may close what it does not know, and give its number to a file of its own: the file is known by its inode, and opened anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "agent/process/lock.h"
#include "agent/process/own_descriptor.h"

namespace lanescope::agent::kernel_counters {

class RecordFile {
 public:
  bool open(const char* folder, std::uint32_t process_instance) noexcept;
  // The parts behind each other; the first begins with a RecordHead. False where there is no room for it whole, on the disk or by the limit
  // that the program has for its files: nothing more is written then.
  bool write(std::initializer_list<std::span<const std::byte>> parts) noexcept;
  // In a forked child, whose file is another.
  void leave() noexcept { file_.close(); }

 private:
  static constexpr std::size_t kPathBytes = 4096;

  [[nodiscard]] int descriptor() noexcept;
  bool write(int file, std::initializer_list<std::span<const std::byte>> parts) noexcept;

  Lock lock_;
  OwnDescriptor file_;
  bool is_full_ = false;
  char path_[kPathBytes] = {};
};

}  // namespace lanescope::agent::kernel_counters
