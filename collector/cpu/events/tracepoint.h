// Tracepoints: places in the kernel that report when they are passed, and with what values. Named "GROUP/NAME" as in tracefs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::cpu {

// One value in the data of a tracepoint.
struct TracepointField {
  enum class Kind : std::uint8_t {
    kInteger,
    kText,           // characters, up to a zero byte
    kTextElsewhere,  // the offset in the data (lower 16 bits) and the length of such characters (upper 16 bits)
  };
  std::string name;
  std::uint32_t offset = 0;  // in the data
  std::uint32_t size = 0;    // bytes
  Kind kind = Kind::kInteger;
  bool is_signed = false;
  bool operator==(const TracepointField&) const = default;
};

struct Tracepoint {
  std::string group;
  std::string name;
  std::uint64_t number = 0;             // perf_event_open's number of it
  std::vector<TracepointField> fields;  // without the fields that all tracepoints have; arrays of numbers are left out

  // Null if there is no field of this name.
  [[nodiscard]] const TracepointField* field(std::string_view name) const noexcept;
};

// Fails with one sentence: with kind kUsage if this kernel has no such tracepoint; otherwise because tracefs is not mounted, or not accessible to
// this user.
Result<Tracepoint> find_tracepoint(std::string_view group, std::string_view name);

// The fields that a format file of tracefs describes.
[[nodiscard]] std::vector<TracepointField> tracepoint_fields(std::string_view format);

// An integer of the data, sign-extended if the field is signed; 0 if the data is too short.
[[nodiscard]] std::int64_t integer_of(const TracepointField& field, std::span<const std::byte> data) noexcept;

// All fields: {"prev_comm":"sleep","prev_pid":17}. Text that is not valid UTF-8 is not changed.
[[nodiscard]] std::string values_as_json(const Tracepoint& tracepoint, std::span<const std::byte> data);

}  // namespace lanescope::cpu
