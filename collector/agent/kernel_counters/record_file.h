// The file of this process in the folder of the recording (collector/channel/kernel_counters.h). Any thread; each record goes at once, so that
// it is there however the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "agent/process/lock.h"

namespace lanescope::agent::kernel_counters {

class RecordFile {
 public:
  bool open(const char* folder, std::uint32_t process_instance) noexcept;
  // The parts behind each other; the first begins with a RecordHead. False where it was not written whole: nothing more is.
  bool write(std::initializer_list<std::span<const std::byte>> parts) noexcept;

 private:
  Lock lock_;
  int file_ = -1;
};

}  // namespace lanescope::agent::kernel_counters
