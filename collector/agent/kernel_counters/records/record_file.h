// The file of this process in the folder of the recording (collector/channel/kernel_counters.h). Any thread; each record is written at once, so that it exists
// however the process ends.
//
// The program may close descriptors that it does not know, and open another file under the same number. So the file is identified by its inode, and opened
// again if needed.
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
  // Writes the parts one after the other; the first begins with a RecordHead. False if there is no room for all of them, on the disk or within the program's
  // limit for files: nothing more is written then.
  bool write(std::initializer_list<std::span<const std::byte>> parts) noexcept;
  // In a forked child, which has another file.
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
