// Properties of MPI communicators, remembered while these exist.
#pragma once

#include <cstdint>

#include "agent/mpi/library.h"

namespace lanescope::agent::mpi {

inline constexpr std::size_t kCommunicatorNameBytes = 128;

struct Communicator {
  std::uint64_t handle = 0;  // 0: nothing is known
  int size = 0;              // of the group that receives messages
  int rank = -1;             // our rank in it, or in our own group if the communicator connects two groups
  bool connects_two_groups = false;
  char name[kCommunicatorNameBytes] = {};  // "MPI_COMM_WORLD"; empty if it has no name
};

// True if MPI may be called: it is initialised, and not finalised.
[[nodiscard]] bool is_ready() noexcept;
void forget_readiness() noexcept;

// Our rank in MPI_COMM_WORLD; -1 while it is unknown.
[[nodiscard]] int own_rank() noexcept;

// Returns a copy, so that another thread may free the communicator. O(communicators in use).
[[nodiscard]] Communicator communicator(Handle handle) noexcept;

// The rank in MPI_COMM_WORLD of a rank of the communicator. Unchanged if it is not in MPI_COMM_WORLD (a rank of a spawned process).
[[nodiscard]] int world_rank(Handle handle, int rank) noexcept;

// Call when the communicator is about to be freed or renamed.
void forget(std::uint64_t handle) noexcept;

}  // namespace lanescope::agent::mpi
