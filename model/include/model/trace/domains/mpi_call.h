// Calls of MPI, which a trace keeps as NVTX ranges of the domain "MPI". The kind of call is the range's category. What was sent, to whom and how much
// is its structured payload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace/trace.h"

namespace lanescope {

inline constexpr std::string_view kMpiDomain = "MPI";

enum class MpiKind : std::uint8_t { kPointToPoint, kCollective, kStartAndWait, kOther };
inline constexpr std::string_view kMpiCategories[] = {"point-to-point", "collective", "start and wait", "other"};  // by kind

// Ranks are ranks in MPI_COMM_WORLD. A member is absent if the call does not have it or does not say it (a receive from any rank that has not ended).
struct MpiCall {
  MpiKind kind = MpiKind::kOther;
  std::optional<std::int64_t> rank;  // that made the call
  std::optional<std::int64_t> peer;  // point-to-point
  std::optional<std::int64_t> tag;
  std::optional<std::int64_t> bytes;  // of the message
  std::optional<std::int64_t> root;   // collectives
  std::optional<std::int64_t> sent_bytes;
  std::optional<std::int64_t> received_bytes;
  std::optional<std::int64_t> communicator;  // handle, in its process
  std::optional<std::int64_t> request;       // handle, in its process
};

// True if the track's events are calls of MPI.
[[nodiscard]] bool holds_mpi_calls(const Trace& trace, const TrackKey& key);

// Requires: the event is on a track that holds calls of MPI.
[[nodiscard]] MpiCall mpi_call(const Trace& trace, const TrackKey& key, DetailId detail);

// The payload that says the same, as in a recording; empty for a call that has nothing to say.
[[nodiscard]] std::string mpi_payload(const MpiCall& call);

}  // namespace lanescope
