// Builds a segment of a lane while its events come: the columns of its frame, and the contents of its head. It takes a quarter of the events' memory,
// and each event is read while it is still in the cache. Internal to model/trace.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/file/result.h"
#include "model/file/scratch_file.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/storage/summary_pyramid.h"

namespace lanescope {

class SegmentEncoder {
 public:
  // Adds events after the earlier ones. Requires: all together are as encode_lane_segment() requires. O(events).
  void add(std::span<const Event> events);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Event& last() const noexcept { return last_; }
  // Bytes that it has allocated.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // Bytes of the frame that are in memory.
  [[nodiscard]] std::size_t frame_bytes() const noexcept;

  // set_aside() moves its part of the frame to the end of the file, so that it takes hardly any memory; bring_back() moves it back. Each fails if the
  // file does.
  [[nodiscard]] Result<void> set_aside(ScratchFile& file);
  [[nodiscard]] Result<void> bring_back(const ScratchFile& file);

  // As encode_lane_segment() and head_of(), for all events. Requires: there are events, and none are set aside. O(bytes).
  [[nodiscard]] std::string payload(FileLane lane, Nanoseconds epoch) const;
  [[nodiscard]] SegmentHead head(FileLane lane, Nanoseconds epoch) const;

  // Prepares for the next segment, which uses the same memory.
  void clear();

 private:
  // A column of numbers in the form of the frame.
  class Column {
   public:
    // Appends the values of at most as many events as a part has.
    template <typename ValueOf>
    void append(std::size_t count, ValueOf value_of);
    void clear() noexcept { size_ = 0, any_ = 0; }
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }
    [[nodiscard]] bool is_zero() const noexcept { return any_ == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    // Reserves this many bytes, moves the contents after them, and returns the position of the first byte.
    [[nodiscard]] char* make_room_in_front(std::size_t bytes);
    // Called after the bytes were moved elsewhere.
    void give_up() noexcept { bytes_.reset(), size_ = 0, capacity_ = 0; }

   private:
    void make_room(std::size_t bytes);
    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::uint64_t any_ = 0;  // all numbers combined by OR
  };

  // Sums by name: a hash table with open addressing of places in `sums`.
  class NameSums {
   public:
    void add(NameId name, Nanoseconds duration);
    // The names with the most time, most first.
    [[nodiscard]] std::vector<SegmentHead::NameSum> most(std::size_t count) const;
    void clear();
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

   private:
    static constexpr std::size_t kFewest = 256;  // a power of two, as the size of the table always is
    SegmentHead::NameSum& of(NameId name, Nanoseconds duration);
    [[nodiscard]] std::size_t place(NameId name) const;
    void grow();
    std::vector<SegmentHead::NameSum> sums_;
    std::vector<std::uint32_t> places_;  // 1 + position in sums_
    std::size_t last_ = 0;
  };

  void add_to_columns(std::span<const Event> events);
  void add_to_head(std::span<const Event> events);
  [[nodiscard]] SegmentHead::Part part() const;

  std::size_t size_ = 0;
  Event last_{};
  Nanoseconds first_start_ = 0;
  static constexpr std::size_t kColumns = 5;
  std::array<Column, kColumns> columns_;  // gaps, durations, names, correlations, details
  // Pieces of all columns, one after the other.
  struct Piece {
    std::uint64_t offset = 0;
    std::array<std::uint32_t, kColumns> bytes{};
  };
  std::vector<Piece> aside_;

  Nanoseconds busy_ = 0;
  std::uint32_t least_correlation_ = 0;
  std::uint32_t greatest_correlation_ = 0;
  NameSums sums_;
  std::vector<SegmentHead::Part> parts_;  // full parts
  Nanoseconds part_start_ = 0;            // of the part that is not full
  Nanoseconds part_busy_ = 0;
  LaneSummary part_;
  NameId part_longest_name_ = 0;
};

}  // namespace lanescope
