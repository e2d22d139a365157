// Makes a segment of a lane while its events come: the columns of its frame, and what its head says. It takes a quarter of the events' memory, and each
// event is looked at while it is at hand. Internal to model/trace.
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
  // Behind those that were added before. Requires: all together are as encode_lane_segment() wants them. O(events).
  void add(std::span<const Event> events);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Event& last() const noexcept { return last_; }
  // That it has asked for.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // Of the frame, that are in memory.
  [[nodiscard]] std::size_t frame_bytes() const noexcept;

  // Moves what it has of the frame to the end of the file, so that it takes next to no memory, and back. Each fails where the file does.
  [[nodiscard]] Result<void> set_aside(ScratchFile& file);
  [[nodiscard]] Result<void> bring_back(const ScratchFile& file);

  // As encode_lane_segment() and head_of(), of all events. Requires: there are some, and none are set aside. O(bytes).
  [[nodiscard]] std::string payload(FileLane lane, Nanoseconds epoch) const;
  [[nodiscard]] SegmentHead head(FileLane lane, Nanoseconds epoch) const;

  // For the next segment, which is made in the same memory.
  void clear();

 private:
  // Numbers as they stand in the frame.
  class Column {
   public:
    // Of as many events as a part has, at most.
    template <typename ValueOf>
    void append(std::size_t count, ValueOf value_of);
    void clear() noexcept { size_ = 0, any_ = 0; }
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }
    [[nodiscard]] bool is_zero() const noexcept { return any_ == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    // What it holds goes on behind so many bytes, of which the first one's place is returned.
    [[nodiscard]] char* make_room_in_front(std::size_t bytes);
    // The bytes are elsewhere.
    void give_up() noexcept { bytes_.reset(), size_ = 0, capacity_ = 0; }

   private:
    void make_room(std::size_t bytes);
    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::uint64_t any_ = 0;  // all numbers together
  };

  // Sums by name: a table of places in `sums`, open at both ends.
  class NameSums {
   public:
    void add(NameId name, Nanoseconds duration);
    // Those with the most time, most first.
    [[nodiscard]] std::vector<SegmentHead::NameSum> most(std::size_t count) const;
    void clear();
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

   private:
    static constexpr std::size_t kFewest = 256;  // a power of two, as the table's size always is
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
  // Of all columns, one behind the other.
  struct Piece {
    std::uint64_t offset = 0;
    std::array<std::uint32_t, kColumns> bytes{};
  };
  std::vector<Piece> aside_;

  Nanoseconds busy_ = 0;
  std::uint32_t least_correlation_ = 0;
  std::uint32_t greatest_correlation_ = 0;
  NameSums sums_;
  std::vector<SegmentHead::Part> parts_;  // that are full
  Nanoseconds part_start_ = 0;            // of the one that is not
  Nanoseconds part_busy_ = 0;
  LaneSummary part_;
};

}  // namespace lanescope
