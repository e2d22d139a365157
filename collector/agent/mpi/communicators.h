// What MPI says about communicators, remembered while they exist.
#pragma once

#include <cstdint>

#include "agent/mpi/library.h"

namespace lanescope::agent::mpi {

inline constexpr std::size_t kCommunicatorNameBytes = 128;

struct Communicator {
  std::uint64_t handle = 0;  // 0: nothing is known
  int size = 0;              // of the group that messages go to
  int rank = -1;             // ours in it, or in our own group where it connects two
  bool connects_two_groups = false;
  char name[kCommunicatorNameBytes] = {};  // "MPI_COMM_WORLD"; empty where it has none
};

// Whether MPI may be asked anything: it is initialised, and not finalised.
[[nodiscard]] bool is_ready() noexcept;
void forget_readiness() noexcept;

// Ours in MPI_COMM_WORLD; -1 while it is not known.
[[nodiscard]] int own_rank() noexcept;

// A copy, so that another thread may free it. O(communicators in use).
[[nodiscard]] Communicator communicator(Handle handle) noexcept;

// The rank in MPI_COMM_WORLD of a rank of the communicator; the rank itself where it is of none in there (of a process that was spawned).
[[nodiscard]] int world_rank(Handle handle, int rank) noexcept;

// It is about to be freed, or named anew.
void forget(std::uint64_t handle) noexcept;

}  // namespace lanescope::agent::mpi
