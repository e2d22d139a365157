// Calls of MPI as NVTX ranges of the domain "MPI". Their data say what was sent, to whom, and how much.
//
// The data of a call are written at its begin, so that a call that never returns shows what it waits for. They are written again at its end if only the end
// knows them (the sender, the new request). Calls that MPI makes itself inside of a call are left out.
#pragma once

#include <atomic>
#include <cstdint>

#include <nvtx3/nvToolsExt.h>

#include "agent/mpi/library.h"

namespace lanescope::agent::mpi {

// Category of the range.
enum class Kind : std::uint32_t { kPointToPoint = 1, kCollective, kCompletion, kOneSided, kFile, kOther };

// Values that are not ranks.
inline constexpr int kAnyRank = -1;
inline constexpr int kNoRank = -2;

// The data of a call. Ranks are of MPI_COMM_WORLD.
struct Facts {
  Handle communicator = 0;  // 0: no communicator
  int peer = kNoRank;
  int tag = kAnyRank;
  std::uint64_t bytes = 0;  // bytes sent
  int source = kNoRank;     // for calls that send and receive: the sender
  int source_tag = kAnyRank;
  std::uint64_t received_bytes = 0;
  int root = kNoRank;
  std::uint64_t request = 0;
  int request_count = 0;
};

// The members that a call has.
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

  // True if the call is recorded: only then is it worth finding out the facts.
  [[nodiscard]] explicit operator bool() const noexcept { return recorded_; }
  // Requires: *this is true; begin() is called before the call, end() at most once after it.
  void begin(const Facts& facts) noexcept;
  void end(const Facts& facts) noexcept;

 private:
  Entry& entry_;
  bool recorded_ = false;
  bool open_ = false;
};

}  // namespace lanescope::agent::mpi
