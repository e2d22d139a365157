// Columns of chunks, decoded from the wire without protobuf's own containers: those grow value by value and are freed one by one, which takes longer
// than decoding. Used for the kinds of events of which large recordings consist. Values are those of the schema: ns, ids, and differences of these.
//
// parse() of each kind returns false if the bytes are no such message. It appends to the existing values, as protobuf does if a message comes in parts,
// and skips fields that it does not know. Not for use by two threads at once. O(bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/file/wire.h"

namespace lanescope {

// A repeated number, as protobuf has it.
template <typename Value>
class Column {
 public:
  using value_type = Value;
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] Value operator[](int i) const noexcept { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Value* begin() const noexcept { return values_.get(); }
  [[nodiscard]] const Value* end() const noexcept { return values_.get() + size_; }

  void clear() noexcept { size_ = 0; }
  // Allocates this many more values, which must be written at once.
  [[nodiscard]] Value* extend(std::size_t count);

 private:
  std::unique_ptr<Value[]> values_;
  int size_ = 0;
  std::size_t capacity_ = 0;
};

// Kernels of the schema.
struct KernelColumns {
  Column<std::int64_t> start_delta;
  Column<std::uint64_t> duration;
  Column<std::uint32_t> name;
  Column<std::uint32_t> queue;
  Column<std::int64_t> correlation_delta;
  Column<std::uint32_t> shape;
  Column<std::int64_t> graph_node_delta;
  Column<std::uint32_t> graph;
  Column<std::uint32_t> unfinished;
  Column<std::uint32_t> kernel_name;
  [[nodiscard]] bool parse(std::string_view bytes);
};

// ApiCalls of the schema.
struct ApiCallColumns {
  std::uint32_t thread = 0;
  bool driver = false;
  Column<std::int64_t> start_delta;
  Column<std::uint64_t> duration;
  Column<std::uint32_t> name;
  Column<std::int64_t> correlation_delta;
  Column<std::uint32_t> result;
  [[nodiscard]] bool parse(std::string_view bytes);
};

// CounterSamples of the schema.
struct CounterSampleColumns {
  struct OfCounter {
    Column<std::int64_t> value_delta;
    Column<std::uint32_t> missing;
    [[nodiscard]] bool parse(std::string_view bytes);
  };
  Column<std::uint32_t> counter;
  Column<std::int64_t> time_delta;
  std::vector<OfCounter> columns;
  std::uint64_t last_duration = 0;
  [[nodiscard]] bool parse(std::string_view bytes);
  // The same, but values stay in their bytes: `values` gets those of each column.
  [[nodiscard]] bool parse_without_values(std::string_view bytes, std::vector<std::string_view>& values);

 private:
  bool take_other_than_values(const WireField& field);
};

// The positions in a packed column at which every `step`-th number begins: the first is 0, the last is the size of the column. Returns nothing if the column
// does not have `count` numbers. Requires: count > 0, step >= 8. O(bytes), but faster than reading the numbers.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> offsets_of_every(std::size_t step, std::string_view packed, std::size_t count);
// Reads the numbers of which a piece of a packed column consists. Returns false if they are not as many as `into` has room for. O(bytes).
[[nodiscard]] bool unpack(std::string_view packed, std::span<std::uint64_t> into);
[[nodiscard]] bool unpack(std::string_view packed, std::span<std::uint32_t> into);
[[nodiscard]] bool unpack_zigzag(std::string_view packed, std::span<std::int64_t> into);

// LaneSegment of the schema.
struct LaneSegmentColumns {
  std::uint32_t track = 0;
  std::uint32_t lane = 0;
  std::int64_t first_start = 0;
  Column<std::uint64_t> gap;
  Column<std::uint64_t> duration;
  Column<std::uint32_t> name;
  Column<std::int64_t> correlation_delta;
  Column<std::int64_t> detail_delta;
  [[nodiscard]] bool parse(std::string_view bytes);
  // The same, but skips names, correlation ids and details.
  [[nodiscard]] bool parse_times(std::string_view bytes);
  void clear() noexcept;  // keeps the memory of the columns

 private:
  bool take_times(const WireField& field);
};

}  // namespace lanescope
