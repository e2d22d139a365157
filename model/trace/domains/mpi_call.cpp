#include "model/trace/domains/mpi_call.h"

#include <array>
#include <charconv>

#include "model/trace/domains/nvtx_payload.h"

namespace lanescope {
namespace {

struct Field {
  std::string_view name;
  std::optional<std::int64_t> MpiCall::*value;
};
constexpr std::array kFields{
    Field{"rank", &MpiCall::rank},
    Field{"peer", &MpiCall::peer},
    Field{"tag", &MpiCall::tag},
    Field{"bytes", &MpiCall::bytes},
    Field{"root", &MpiCall::root},
    Field{"send bytes", &MpiCall::sent_bytes},
    Field{"receive bytes", &MpiCall::received_bytes},
    Field{"communicator handle", &MpiCall::communicator},
    Field{"request", &MpiCall::request},
};

MpiKind kind_named(std::string_view category) {
  for (const MpiKind kind : {MpiKind::kPointToPoint, MpiKind::kCollective, MpiKind::kStartAndWait})
    if (kMpiCategories[static_cast<std::size_t>(kind)] == category) return kind;
  return MpiKind::kOther;  // one-sided, files, start and end
}

// Handles may be any 64 bits.
std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ptr == text.data() + text.size() && !text.empty()) return value;
  std::uint64_t bits = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), bits).ptr == text.data() + text.size() && !text.empty()) return static_cast<std::int64_t>(bits);
  return std::nullopt;
}

}  // namespace

bool holds_mpi_calls(const Trace& trace, const TrackKey& key) {
  return key.kind == TrackKind::kNvtxRanges && trace.domain_name(key.process, key.domain) == kMpiDomain;
}

MpiCall mpi_call(const Trace& trace, const TrackKey& key, DetailId detail) {
  const NvtxDetail& range = trace.nvtx_detail(detail);
  MpiCall call;
  call.kind = kind_named(trace.category_name(key.process, key.domain, range.category));
  if (range.payload_json == 0) return call;
  for (const PayloadField& said : payload_fields(trace.name(range.payload_json)))
    for (const Field& field : kFields)
      if (field.name == said.name) call.*field.value = integer(said.value);
  return call;
}

std::string mpi_payload(const MpiCall& call) {
  std::string json;
  for (const Field& field : kFields)
    if (const std::optional<std::int64_t>& value = call.*field.value)
      json += (json.empty() ? "{\"" : ",\"") + std::string(field.name) + "\":" + std::to_string(*value);
  return json.empty() ? json : json + "}";
}

}  // namespace lanescope
