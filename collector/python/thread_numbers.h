// Numbers of threads as the kernel gives them to us, from what an interpreter knows of its threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/attach/own_numbers.h"
#include "memory.h"

namespace lanescope::python {

class ThreadNumbers {
 public:
  ThreadNumbers(pid_t process, Memory& memory) : memory_(memory), numbers_(process) {}

  // Of numbers as threads know them themselves, which differ from ours in a container. 0 where there is no such thread.
  std::uint32_t of_native(std::uint64_t own);
  // Of pthread_t, which is where the C library keeps a thread's own number: found by looking for a place that holds one in all of them.
  // In the order given; 0 where not known.
  std::vector<std::uint32_t> of_pthreads(std::span<const std::uint64_t> threads);

 private:
  std::optional<std::uint64_t> find_offset(std::span<const std::uint64_t> threads);

  Memory& memory_;
  attach::OwnNumbers numbers_;
  std::optional<std::uint64_t> offset_;  // of the number in the C library's structure
};

}  // namespace lanescope::python
