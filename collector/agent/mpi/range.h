// Calls of MPI as NVTX ranges of the domain "MPI", with what was sent, to whom, and how much, as their data.
//
// A call's data are told at its begin, so that one that never returns says what it waits for, and once more at its end where only the end
// knows them (who had sent, the request that was made). Calls that MPI makes of itself inside of a call are left out.
#pragma once

#include <atomic>
#include <cstdint>

#include <nvtx3/nvToolsExt.h>

#include "agent/mpi/library.h"

namespace lanescope::agent::mpi {

// Which category its range is of.
enum class Kind : std::uint32_t { kPointToPoint = 1, kCollective, kCompletion, kOneSided, kFile, kOther };

// Ranks that are none.
inline constexpr int kAnyRank = -1;
inline constexpr int kNoRank = -2;

// The data of a call. Ranks are of MPI_COMM_WORLD.
struct Facts {
  Handle communicator = 0;  // 0: of none
  int peer = kNoRank;
  int tag = kAnyRank;
  std::uint64_t bytes = 0;  // that are sent
  int source = kNoRank;     // calls that send and receive: from whom
  int source_tag = kAnyRank;
  std::uint64_t received_bytes = 0;
  int root = kNoRank;
  std::uint64_t request = 0;
  int request_count = 0;
};

// Which of them a call has.
enum class Data { kNone, kMessage, kExchange, kRootedCollective, kCollective, kRequests, kTransfer, kAccess };

struct Entry {
  Function function;
  Kind kind;
  Data data;
  std::atomic<nvtxStringHandle_t> text{nullptr};
};

class Range {
 public:
  explicit Range(Entry& entry) noexcept;
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  // Whether it is one that is recorded: only then is it worth to find out the facts.
  [[nodiscard]] explicit operator bool() const noexcept { return recorded_; }
  // Requires: *this is true; begin() comes before the call, end() at most once behind it.
  void begin(const Facts& facts) noexcept;
  void end(const Facts& facts) noexcept;

 private:
  Entry& entry_;
  bool recorded_ = false;
  bool open_ = false;
};

}  // namespace lanescope::agent::mpi
