// Our kernel numbers of threads, from what an interpreter knows about its threads.
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

  // Converts a number that a thread has for itself, which differs from ours in a container. 0 if there is no such thread.
  std::uint32_t of_native(std::uint64_t own);
  // Converts values of pthread_t, which are addresses of the C library's structures of threads. The offset of the thread's own number is found by
  // searching for the offset that has one in most of them. In the order given; 0 if not known.
  std::vector<std::uint32_t> of_pthreads(std::span<const std::uint64_t> threads);

 private:
  std::optional<std::uint64_t> find_offset(std::span<const std::uint64_t> threads);

  Memory& memory_;
  attach::OwnNumbers numbers_;
  std::optional<std::uint64_t> offset_;  // of the number in the C library's structure
};

}  // namespace lanescope::python
