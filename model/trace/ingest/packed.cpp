#include "packed.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "lanescope/trace.pb.h"

namespace lanescope {
namespace {

enum class Coding { kPlain, kZigzag };  // how a column's numbers are stored in a file

template <Coding coding, typename Value>
Value decoded(std::uint64_t raw) {
  if constexpr (coding == Coding::kZigzag) raw = (raw >> 1) ^ (~(raw & 1) + 1);
  return static_cast<Value>(raw);
}

// Reads the number that starts at `at`; `word` has the eight bytes there.
const char* read_short(const char* at, const char* end, std::uint64_t word, std::uint64_t& value) {
  value = word & 0x7f;
  if ((word & 0x80) == 0) return at + 1;
  value |= word >> 1 & 0x3f80;
  if ((word & 0x8000) == 0) return at + 2;
  value |= word >> 2 & 0x1fc000;
  if ((word & 0x800000) == 0) return at + 3;
  return read_varint(at, end, value);
}

// Reads `count` numbers. Looks at eight bytes at once: mostly they are eight numbers of one byte, four of two, or one of up to three.
template <Coding coding, typename Value>
const char* read_all(const char* at, const char* end, Value* into, std::size_t count) {
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8 && i < count) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      const std::uint64_t followed = word & 0x8080808080808080;  // bytes that are followed by another byte of their number
      if (followed == 0 && count - i >= 8) {
        for (int k = 0; k < 8; ++k, word >>= 8) into[i++] = decoded<coding, Value>(word & 0xff);
        at += 8;
      } else if (followed == 0x0080008000800080 && count - i >= 4) {
        word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
        for (int k = 0; k < 4; ++k, word >>= 16) into[i++] = decoded<coding, Value>(word & 0xffff);
        at += 8;
      } else {
        std::uint64_t raw;
        at = read_short(at, end, word, raw);
        if (at == nullptr) return nullptr;
        into[i++] = decoded<coding, Value>(raw);
      }
    }
  }
  for (; i < count; ++i) {
    std::uint64_t raw;
    at = read_varint(at, end, raw);
    if (at == nullptr) return nullptr;
    into[i] = decoded<coding, Value>(raw);
  }
  return at;
}

// Reads numbers of which all have one byte.
template <Coding coding, typename Value>
void read_bytes(std::string_view packed, Value* into) {
  for (const char byte : packed) *into++ = decoded<coding, Value>(static_cast<std::uint8_t>(byte));
}

// Returns false if there are not exactly `count` numbers.
template <Coding coding, typename Value>
bool read_exactly(std::string_view packed, Value* into, std::size_t count) {
  const char* const end = packed.data() + packed.size();
  return read_all<coding>(packed.data(), end, into, count) == end;
}

template <Coding coding, typename Value>
bool unpack_all(std::string_view packed, std::span<Value> into) {
  const bool has_only_bytes = packed.size() == into.size() && varints_in(packed) == into.size();
  if (has_only_bytes) read_bytes<coding>(packed, into.data());
  return has_only_bytes || read_exactly<coding>(packed, into.data(), into.size());
}

template <Coding coding, typename Value>
bool append_packed(std::string_view packed, Column<Value>& column) {
  const std::size_t count = varints_in(packed);
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max() - column.size())) return false;
  Value* const into = column.extend(count);
  const bool has_only_bytes = count == packed.size();
  if (has_only_bytes) read_bytes<coding>(packed, into);
  return has_only_bytes || read_exactly<coding>(packed, into, count);
}

// A field that belongs to the column: packed, or a single number of it. As in protobuf, a field of another type is skipped.
template <Coding coding, typename Value>
bool append(const WireField& field, Column<Value>& column) {
  if (field.type == WireField::kBytes) return append_packed<coding>(field.bytes, column);
  if (field.type == WireField::kVarint) *column.extend(1) = decoded<coding, Value>(field.value);
  return true;
}
template <typename Value>
bool plain(const WireField& field, Column<Value>& column) {
  return append<Coding::kPlain>(field, column);
}
template <typename Value>
bool zigzag(const WireField& field, Column<Value>& column) {
  return append<Coding::kZigzag>(field, column);
}

// A field that is a single number. As above, a field of another type is skipped.
template <Coding coding = Coding::kPlain, typename Value>
bool single(const WireField& field, Value& into) {
  if (field.type == WireField::kVarint) into = decoded<coding, Value>(field.value);
  return true;
}

// Passes each field to `take`, which returns false if it could not be read.
template <typename Take>
bool for_fields(std::string_view message, Take take) {
  WireReader reader(message);
  while (const auto field = reader.next())
    if (!take(*field)) return false;
  return reader.sound();
}

}  // namespace

std::optional<std::vector<std::uint32_t>> offsets_of_every(std::size_t step, std::string_view packed, std::size_t count) {
  std::vector<std::uint32_t> offsets{0};
  offsets.reserve(count / step + 2);
  std::size_t at = 0, numbers = 0;
  for (std::size_t next = std::min(step, count); numbers < count; next = std::min(next + step, count)) {
    // As many bytes as numbers are missing can't have more of them.
    while (numbers < next) {
      const std::string_view some = packed.substr(at, next - numbers);
      if (some.empty()) return std::nullopt;
      at += some.size();
      numbers += varints_in(some);
    }
    offsets.push_back(static_cast<std::uint32_t>(at));
  }
  if (at != packed.size()) return std::nullopt;
  return offsets;
}

bool unpack(std::string_view packed, std::span<std::uint64_t> into) { return unpack_all<Coding::kPlain>(packed, into); }
bool unpack(std::string_view packed, std::span<std::uint32_t> into) { return unpack_all<Coding::kPlain>(packed, into); }
bool unpack_zigzag(std::string_view packed, std::span<std::int64_t> into) { return unpack_all<Coding::kZigzag>(packed, into); }

template <typename Value>
Value* Column<Value>::extend(std::size_t count) {
  const std::size_t before = static_cast<std::size_t>(size_);
  if (before + count > capacity_) {
    const std::size_t capacity = std::max(before + count, 2 * capacity_);  // usually a column comes in one part
    auto values = std::make_unique_for_overwrite<Value[]>(capacity);       // may throw; then nothing has changed
    std::copy(begin(), end(), values.get());
    values_ = std::move(values);
    capacity_ = capacity;
  }
  size_ += static_cast<int>(count);
  return values_.get() + before;
}

bool KernelColumns::parse(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) {
    using Fields = proto::Kernels;
    switch (field.number) {
      case Fields::kStartDeltaFieldNumber:
        return zigzag(field, start_delta);
      case Fields::kDurationFieldNumber:
        return plain(field, duration);
      case Fields::kNameFieldNumber:
        return plain(field, name);
      case Fields::kQueueFieldNumber:
        return plain(field, queue);
      case Fields::kCorrelationDeltaFieldNumber:
        return zigzag(field, correlation_delta);
      case Fields::kShapeFieldNumber:
        return plain(field, shape);
      case Fields::kGraphNodeDeltaFieldNumber:
        return zigzag(field, graph_node_delta);
      case Fields::kGraphFieldNumber:
        return plain(field, graph);
      case Fields::kUnfinishedFieldNumber:
        return plain(field, unfinished);
      case Fields::kKernelNameFieldNumber:
        return plain(field, kernel_name);
      default:
        return true;  // written by a newer recorder
    }
  });
}

bool ApiCallColumns::parse(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) {
    using Fields = proto::ApiCalls;
    switch (field.number) {
      case Fields::kThreadFieldNumber:
        return single(field, thread);
      case Fields::kDriverFieldNumber:
        return single(field, driver);
      case Fields::kStartDeltaFieldNumber:
        return zigzag(field, start_delta);
      case Fields::kDurationFieldNumber:
        return plain(field, duration);
      case Fields::kNameFieldNumber:
        return plain(field, name);
      case Fields::kCorrelationDeltaFieldNumber:
        return zigzag(field, correlation_delta);
      case Fields::kResultFieldNumber:
        return plain(field, result);
      default:
        return true;
    }
  });
}

bool LaneSegmentColumns::take_times(const WireField& field) {
  using Fields = proto::LaneSegment;
  switch (field.number) {
    case Fields::kTrackFieldNumber:
      return single(field, track);
    case Fields::kLaneFieldNumber:
      return single(field, lane);
    case Fields::kFirstStartFieldNumber:
      return single<Coding::kZigzag>(field, first_start);
    case Fields::kGapFieldNumber:
      return plain(field, gap);
    case Fields::kDurationFieldNumber:
      return plain(field, duration);
    default:
      return true;
  }
}

bool LaneSegmentColumns::parse_times(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) { return take_times(field); });
}

bool LaneSegmentColumns::parse(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) {
    using Fields = proto::LaneSegment;
    switch (field.number) {
      case Fields::kNameFieldNumber:
        return plain(field, name);
      case Fields::kCorrelationDeltaFieldNumber:
        return zigzag(field, correlation_delta);
      case Fields::kDetailDeltaFieldNumber:
        return zigzag(field, detail_delta);
      default:
        return take_times(field);
    }
  });
}

void LaneSegmentColumns::clear() noexcept {
  track = lane = 0;
  first_start = 0;
  gap.clear();
  duration.clear();
  name.clear();
  correlation_delta.clear();
  detail_delta.clear();
}

bool CounterSampleColumns::OfCounter::parse(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) {
    using Fields = proto::CounterColumn;
    switch (field.number) {
      case Fields::kValueDeltaFieldNumber:
        return zigzag(field, value_delta);
      case Fields::kMissingFieldNumber:
        return plain(field, missing);
      default:
        return true;
    }
  });
}

bool CounterSampleColumns::take_other_than_values(const WireField& field) {
  using Fields = proto::CounterSamples;
  switch (field.number) {
    case Fields::kCounterFieldNumber:
      return plain(field, counter);
    case Fields::kTimeDeltaFieldNumber:
      return zigzag(field, time_delta);
    case Fields::kLastDurationFieldNumber:
      return single(field, last_duration);
    default:
      return true;
  }
}

bool CounterSampleColumns::parse(std::string_view bytes) {
  return for_fields(bytes, [this](const WireField& field) {
    if (field.number != proto::CounterSamples::kColumnsFieldNumber) return take_other_than_values(field);
    return field.type != WireField::kBytes || columns.emplace_back().parse(field.bytes);
  });
}

bool CounterSampleColumns::parse_without_values(std::string_view bytes, std::vector<std::string_view>& values) {
  return for_fields(bytes, [&](const WireField& field) {
    if (field.number != proto::CounterSamples::kColumnsFieldNumber) return take_other_than_values(field);
    if (field.type == WireField::kBytes) values.push_back(field.bytes);
    return true;
  });
}

}  // namespace lanescope
