// Tracepoints: places in the kernel that tell when they are passed, and with what values. Known by "GROUP/NAME" in tracefs.
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
    kText,           // characters, up to a zero
    kTextElsewhere,  // the offset in the data (lower 16 bits) and the length of such (upper 16 bits)
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
  std::uint64_t number = 0;             // by which perf_event_open knows it
  std::vector<TracepointField> fields;  // without those that all have; arrays of numbers are left out

  // Null where there is none of this name.
  [[nodiscard]] const TracepointField* field(std::string_view name) const noexcept;
};

// Fails with one sentence: of kind kUsage where this kernel has no such tracepoint; else tracefs is not mounted, or closed to this user.
Result<Tracepoint> find_tracepoint(std::string_view group, std::string_view name);

// The fields that a format file of tracefs describes.
[[nodiscard]] std::vector<TracepointField> tracepoint_fields(std::string_view format);

// Bits of an integer of the data, extended as its sign asks for; 0 where the data ends before.
[[nodiscard]] std::int64_t integer_of(const TracepointField& field, std::span<const std::byte> data) noexcept;

// All fields: {"prev_comm":"sleep","prev_pid":17}. Text that is no UTF-8 stays as it is.
[[nodiscard]] std::string values_as_json(const Tracepoint& tracepoint, std::span<const std::byte> data);

}  // namespace lanescope::cpu
