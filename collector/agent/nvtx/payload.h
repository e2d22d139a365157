// NVTX's payload extension: structured data that programs attach to their events. NCCL, for example, attaches the communicator and the size of a collective.
//
// A program registers schemas, which list the fields of a kind of data. Schemas and enumerations are sent to the host as metadata, each with a number of ours.
// The values of an event are sent as one record before the event's own (channel::RecordType::kPayload).
//
// Threads: any. Registering takes a lock; reading values takes no lock and no memory, except for the first data of an unknown schema.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/nvtx/injection.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::nvtx {

// The id by which the program names the schema from now on: its own if it chose one, else a new one. Data of a schema for which there was no room is treated as
// data of an unknown schema, and the session is told. 0 if the attributes are incomplete.
std::uint64_t register_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_t* attributes) noexcept;
std::uint64_t register_enumeration(std::uint32_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept;

// The values of an event's data, as in a kPayload record.
struct PayloadValues {
  std::uint64_t schema = 0;  // our number; 0: there are no values
  std::uint16_t size = 0;
  char bytes[channel::kMaximumTextBytes];
};
// Reads the first of `count` data that has a known schema. If none has, the bytes of the first one are read, as hexadecimal digits. Values that do not fit, or
// that are neither numbers nor text, are left out.
void read_values(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count, PayloadValues& values) noexcept;

// The name of that schema; empty if it has none.
std::string_view schema_name(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count) noexcept;

// Call once, before any other function of this header.
void prepare_payloads() noexcept;

// Sends everything again, to another session or from a forked child.
void repeat_schemas() noexcept;

}  // namespace lanescope::agent::nvtx
