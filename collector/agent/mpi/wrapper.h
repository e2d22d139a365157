// How a wrapper stands before a function of MPI: it has the same symbol, calls the library's function and records the call.
#pragma once

#include "agent/mpi/communicators.h"
#include "agent/mpi/range.h"

namespace lanescope::agent::mpi {

// Bytes of `count` elements of a type; 0 if unknown. Requires, like the call itself: the type is valid or null.
[[nodiscard]] std::uint64_t bytes_of(std::int64_t count, Handle type) noexcept;

// Converts a rank that a call names to one of MPI_COMM_WORLD, or to kAnyRank or kNoRank.
[[nodiscard]] int rank_of(Handle communicator, int rank) noexcept;
[[nodiscard]] inline int tag_of(int tag) noexcept { return tag == abi().any_tag ? kAnyRank : tag; }

[[nodiscard]] inline bool is_in_place(const void* buffer) noexcept { return reinterpret_cast<std::uintptr_t>(buffer) == abi().in_place; }

// For a call that returns the status of a message: uses the caller's memory, or ours if the caller ignores the status.
class Status {
 public:
  explicit Status(void* callers) noexcept : used_(reinterpret_cast<std::uintptr_t>(callers) == abi().status_ignore ? static_cast<void*>(own_) : callers) {}
  [[nodiscard]] void* get() noexcept { return used_; }
  // Properties of the message. Call after the call has succeeded.
  void read(Handle communicator, int& source, int& tag, std::uint64_t& bytes) const noexcept;

 private:
  alignas(16) unsigned char own_[64] = {};  // no library's status is larger
  void* used_;
};

// Records one call. `describe` fills the facts before it; `conclude` is called with the facts and the result after it, and returns true if it changed the
// facts.
template <typename Describe, typename Next, typename Conclude>
int record(Entry& entry, Describe describe, Next next, Conclude conclude) noexcept {
  Range range(entry);
  if (!range) return next();
  Facts facts;
  if (is_ready()) describe(facts);
  range.begin(facts);
  const int result = next();
  if (result == 0 && conclude(facts)) range.end(facts);
  return result;
}

inline bool says_nothing_more(Facts&) noexcept { return false; }

// To be called after a call that made a request.
[[nodiscard]] inline auto made_request(const void* request) noexcept {
  return [request](Facts& facts) {
    facts.request = value_at(request);
    return true;
  };
}

}  // namespace lanescope::agent::mpi

// Appends the parenthesized list after something else.
#define LANESCOPE_MPI_UNPACK(...) __VA_OPT__(, ) __VA_ARGS__

// LANESCOPE_MPI(name, kind, data, (parameters), (arguments), describe, conclude): the function has another name for the compiler, and the library's name for
// the linker. `describe` and `conclude` can use the parameters. Open MPI's Fortran interface calls the second name, PMPI_*. When another tool calls that name,
// it is within a call that is already recorded.
#define LANESCOPE_MPI(name, kind, data, parameters, arguments, describe, conclude)                                                                   \
  namespace {                                                                                                                                        \
  Entry entry_of_##name{{#name}, Kind::kind, Data::data};                                                                                            \
  Function second_##name{"P" #name};                                                                                                                 \
  int record_##name(Function& function LANESCOPE_MPI_UNPACK parameters) {                                                                            \
    return record(                                                                                                                                   \
        entry_of_##name, [&]([[maybe_unused]] Facts& facts) { describe; }, [&] { return call(function LANESCOPE_MPI_UNPACK arguments); }, conclude); \
  }                                                                                                                                                  \
  }                                                                                                                                                  \
  extern "C" __attribute__((visibility("default"))) int lanescope_##name parameters __asm__(#name);                                                  \
  extern "C" int lanescope_##name parameters { return record_##name(entry_of_##name.function LANESCOPE_MPI_UNPACK arguments); }                      \
  extern "C" __attribute__((visibility("default"))) int lanescope_P##name parameters __asm__("P" #name);                                             \
  extern "C" int lanescope_P##name parameters { return record_##name(second_##name LANESCOPE_MPI_UNPACK arguments); }
