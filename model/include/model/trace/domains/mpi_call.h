// Calls of MPI, which a trace keeps as NVTX ranges of the domain "MPI": their sort is the range's category, and what they sent, to whom and
// how much is its structured payload.
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

// Ranks are of MPI_COMM_WORLD. What a call does not have, or does not say (a receive from anyone that has not ended), is absent.
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

// Whether the track's events are calls of MPI.
[[nodiscard]] bool holds_mpi_calls(const Trace& trace, const TrackKey& key);

// Requires: the event is of a track that holds calls of MPI.
[[nodiscard]] MpiCall mpi_call(const Trace& trace, const TrackKey& key, DetailId detail);

// The payload that says the same, as a recording has it; empty for a call that has nothing to say.
[[nodiscard]] std::string mpi_payload(const MpiCall& call);

}  // namespace lanescope
