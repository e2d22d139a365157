// Turns the raw records of one process into events: pairs pushes with pops and starts with ends.
//
// If records tell their depth, a record that was dropped for lack of room does not damage other ranges: a range whose pop is missing is ended as unfinished
// by the next record that shows that it is closed.
//
// Records of one thread must come in the order in which it made them, except those of its signal handlers, which go through a ring of their own and may be
// read after later ones. Threads may interleave in any way. The end of a start/end range may therefore come before its start, if another thread ended it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/channel/layout.h"
#include "model/file/open_range.h"
#include "records/event_encoder.h"

namespace lanescope::session {

// The domain of the program's file accesses: ranges whose name is the file's path, with the operation as category. Agents number their domains from 1.
inline constexpr std::uint32_t kFileAccessDomainId = 0x7fff'0003;

class NvtxAssembler {
 public:
  // Returns the content of a structured payload as JSON; empty for nothing.
  using DescribePayload = std::function<std::string(std::uint64_t schema, std::string_view values)>;
  explicit NvtxAssembler(EventEncoder& encoder, DescribePayload describe = {}) : encoder_(encoder), describe_(std::move(describe)) {}

  // Takes kRangePush to kMark, kOsRuntimeCall, kFileAccess and kPayload; other types are ignored.
  void add(const channel::Record& record, std::string_view text);

  // Emits ranges that are still open, as unfinished at `end`, the time at which the process or its recording ended. (A program that was killed in a range
  // says nothing after the range's start.) If a record is later than `end`, its time is used. Nothing may be added afterwards.
  void finish(std::int64_t end);

  // From this time on, records of this thread are lost: its open ranges are unfinished then, except those that another thread may end.
  void cut(std::uint32_t thread, std::int64_t time);

  // Adds open ranges to `open`, outer ranges of a thread first, until it has kMostTold; counts the others.
  void tell_open(std::uint32_t process, OpenRanges& open) const;

  // Pops and ends without a beginning: it lay outside of the recording. Ends that wait for their start count once finish() was called.
  [[nodiscard]] std::uint64_t unmatched() const noexcept { return unmatched_; }
  // Ranges that end before they started, or at an impossible time; they are not emitted.
  [[nodiscard]] std::uint64_t invalid() const noexcept { return invalid_; }

 private:
  struct End {
    std::int64_t time = 0;
    std::uint32_t thread = 0;
    std::optional<std::uint32_t> data = std::nullopt;  // string of the payload that came with it
  };
  static constexpr std::size_t kMostOpen = 1'000'000;     // ranges that a program has open at once: far more than programs have
  static constexpr std::size_t kMostTold = 500;           // of these, that tell_open() reports
  static constexpr std::size_t kMostEarlyEnds = 100'000;  // ends that wait for their start
  using Stack = std::vector<NvtxRange>;                   // open ranges of one (thread, domain), outermost first

  Stack& stack(const channel::Record& record);
  // Removes and returns the range that `end` ends; nothing if that range is not open.
  std::optional<NvtxRange> take_open(Stack& open, const channel::Record& end);
  std::optional<NvtxRange> take_early_begin(const channel::Record& end, std::uint32_t depth);
  // The attributes of the event in `record`, including the payload that came before it.
  NvtxAttributes attributes(const channel::Record& record, std::string_view text);
  // The string of the payload that came before `record`; nothing if there was none.
  std::optional<std::uint32_t> payload(const channel::Record& record);
  NvtxRange opened(const channel::Record& record, std::string_view text, proto::NvtxStyle style);
  void add_file_access(const channel::Record& record, std::string_view path);
  void push(const channel::Record& record, std::string_view text);
  void pop(const channel::Record& record);
  // Ends ranges at `depth` or deeper whose pops are missing. A range that started later than `seen` is only set aside for it.
  void close_deeper(Stack& open, std::uint32_t depth, const channel::Record& seen);
  void start(const channel::Record& record, std::string_view text);
  void end(const channel::Record& record);
  void close(NvtxRange range, End end, RangeEnding ending);
  // True if one more range may be open. A range for which there is no room is unfinished from its start.
  [[nodiscard]] bool has_room() const noexcept { return open_ < kMostOpen; }
  // Forgets threads without open ranges, once there are many.
  void prune();

  struct Payload {
    std::int64_t time = 0;  // of the event that it belongs to
    std::string json;
  };

  EventEncoder& encoder_;
  DescribePayload describe_;
  std::unordered_map<std::uint32_t, Payload> payloads_;    // by thread: belongs to the record that follows
  std::unordered_map<std::uint64_t, Stack> stacks_;        // by thread << 32 | domain
  std::pair<std::uint64_t, Stack*> last_{};                // mostly, a record belongs to the stack of the one before; null: none
  std::unordered_map<std::uint64_t, Stack> early_begins_;  // by the same key: open ranges that were read before earlier ones of their thread
  std::unordered_map<std::uint64_t, NvtxRange> started_;   // by id
  std::unordered_map<std::uint64_t, End> early_ends_;      // by id
  std::size_t open_ = 0;                                   // ranges in stacks_ and started_
  std::size_t next_pruning_ = 4096;                        // size of stacks_ at which it is pruned
  std::int64_t last_time_ = 0;
  std::uint64_t unmatched_ = 0;
  std::uint64_t invalid_ = 0;
};

}  // namespace lanescope::session
