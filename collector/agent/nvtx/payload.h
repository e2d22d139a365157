// NVTX's payload extension: structured data that programs attach to their events, such as NCCL the communicator and the size of a
// collective.
//
// A program registers schemas: which fields data of a kind has. Schemas and enumerations are told to the host as metadata, each under a
// number of ours; the values of an event follow as one record in front of the event's own (channel::RecordType::kPayload).
//
// Threads: any. Registering takes a lock; reading values takes none, and no memory, but for the first of an unknown schema.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/nvtx/injection.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::nvtx {

// The id by which the program names the schema from now on: its own where it chose one, else a new one. Data of one for which there was
// no room is as of an unknown one, and the session is told. 0 where the attributes say too little.
std::uint64_t register_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_t* attributes) noexcept;
std::uint64_t register_enumeration(std::uint32_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept;

// The values of an event's data, as a kPayload record carries them.
struct PayloadValues {
  std::uint64_t schema = 0;  // our number; 0: there is nothing to tell
  std::uint16_t size = 0;
  char bytes[channel::kMaximumTextBytes];
};
// Of the first of `count` data that has a known schema; of the first one its bytes, in hexadecimal digits, where none has. What does not fit
// is left out; what is no number and no text, too.
void read_values(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count, PayloadValues& values) noexcept;

// The name of that schema; empty when it has none.
std::string_view schema_name(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count) noexcept;

// Once, before any other function of this header.
void prepare_payloads() noexcept;

// Tells everything again: to another session, or from a forked child.
void repeat_schemas() noexcept;

}  // namespace lanescope::agent::nvtx
