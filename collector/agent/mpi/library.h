// The MPI library of the process: its family, and the addresses of its functions.
//
// Open MPI's handles are pointers; those of MPICH and its descendants (Intel MPI, MVAPICH2, Cray MPICH) are ints. Both are passed in a register or in eight
// bytes of the stack, so one function can receive and pass on both as Handle. Only reading a handle, or the memory behind a pointer to one, differs. No header
// of either library is needed.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lanescope::agent::mpi {

// The raw argument: the upper half of MPICH's is undefined. See value_of().
using Handle = std::uintptr_t;

// What is known about the binary interface of either family.
struct Abi {
  bool has_pointer_handles;
  int any_source;
  int no_peer;  // MPI_PROC_NULL
  int any_tag;
  int root;  // MPI_ROOT: the root of a collective between two groups
  std::uintptr_t in_place;
  std::uintptr_t status_ignore;
  std::size_t source_in_status;  // bytes
  std::size_t tag_in_status;
  Handle byte_type;
  Handle null_type;
};
[[nodiscard]] const Abi& abi() noexcept;
// True if the library uses the binary interface of MPI 5.0 instead, which has handles and constants of its own. Its calls are passed on, and their arguments
// are not read.
[[nodiscard]] bool has_standard_abi() noexcept;

[[nodiscard]] inline std::uint64_t value_of(Handle handle) noexcept { return abi().has_pointer_handles ? handle : static_cast<std::uint32_t>(handle); }
// The value of the handle at this address; 0 for a null pointer.
[[nodiscard]] std::uint64_t value_at(const void* handle) noexcept;

// The address of a function of the library, by name; null if it has none of that name.
[[nodiscard]] void* find_function(const char* name) noexcept;
// The same for variables: a program may have a copy of its own, which the library also uses.
[[nodiscard]] void* find_object(const char* name) noexcept;

// Looked up at the first call. Programs ask if there are functions for 64-bit counts (MPI_Send_c, of MPI 4), and find ours. If the library has none, its
// function for 32-bit counts is called instead, with counts that fit, which are passed in the same registers.
struct Function {
  const char* name;
  std::atomic<void*> found{nullptr};
  std::atomic<bool> takes_small_counts{false};

  void* address() noexcept {
    void* known = found.load(std::memory_order_acquire);
    return known != nullptr ? known : find();
  }
  void* find() noexcept;
};

inline constexpr int kCountError = 2;   // MPI_ERR_COUNT
inline constexpr int kOtherError = 15;  // MPI_ERR_OTHER of MPICH, MPI_ERR_TRUNCATE of Open MPI: neither is success

template <typename Parameter>
[[nodiscard]] bool is_too_large(Parameter parameter) noexcept {
  if constexpr (std::is_same_v<Parameter, std::int64_t>) return parameter > std::numeric_limits<int>::max();
  return false;
}

// Calls the function, or fails as the function would.
template <typename... Parameters>
int call(Function& function, Parameters... parameters) noexcept {
  void* address = function.address();
  if (function.takes_small_counts.load(std::memory_order_relaxed) && (is_too_large(parameters) || ...)) return kCountError;
  return address == nullptr ? kOtherError : reinterpret_cast<int (*)(Parameters...)>(address)(parameters...);
}

}  // namespace lanescope::agent::mpi
