// Turns the raw records of one process into events: pairs pushes with pops and starts with ends.
//
// Where records say how deep they are, one that was dropped for lack of room spoils no range on either side: a range whose pop is missing
// is unfinished at the next record that shows it closed.
//
// Records of one thread must come in the order in which it made them, but for those of its signal handlers, which go through a ring of their
// own and may be read behind later ones. Threads may interleave in any way. So the end of a start/end range may come before its start, when
// another thread ended it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/channel/layout.h"
#include "records/event_encoder.h"

namespace lanescope::session {

// Of what the program does with files: ranges that are called by the file's path, with the operation as category. Agents number theirs from 1.
inline constexpr std::uint32_t kFileAccessDomainId = 0x7fff'0003;

class NvtxAssembler {
 public:
  // What a structured payload says, as JSON; empty for nothing.
  using DescribePayload = std::function<std::string(std::uint64_t schema, std::string_view values)>;
  explicit NvtxAssembler(EventEncoder& encoder, DescribePayload describe = {}) : encoder_(encoder), describe_(std::move(describe)) {}

  // Takes kRangePush to kMark, kOsRuntimeCall, kFileAccess and kPayload; other types are for someone else and ignored.
  void add(const channel::Record& record, std::string_view text);

  // Hands out what is still open, as unfinished up to this time: that at which the process ended, or its recording. (A program that was killed in a range
  // says nothing more from the begin of that on.) Where a record is later, up to that. Nothing may be added afterwards.
  void finish(std::int64_t end);

  // Pops and ends without a beginning: it lay outside of the recording. Ends that wait for their start count once finish() was called.
  [[nodiscard]] std::uint64_t unmatched() const noexcept { return unmatched_; }
  // Ranges that end before they began, or at no time that there is; not handed out.
  [[nodiscard]] std::uint64_t invalid() const noexcept { return invalid_; }

 private:
  struct End {
    std::int64_t time = 0;
    std::uint32_t thread = 0;
    std::optional<std::uint32_t> data = std::nullopt;  // string: of the payload that came with it
  };
  static constexpr std::size_t kMostOpen = 1'000'000;     // ranges that a program has open at once: far more than programs have
  static constexpr std::size_t kMostEarlyEnds = 100'000;  // ends that wait for their start
  using Stack = std::vector<NvtxRange>;                   // open ranges of one (thread, domain), outermost first

  Stack& stack(const channel::Record& record);
  // Takes out the range that `end` ends; none where that is not open.
  std::optional<NvtxRange> take_open(Stack& open, const channel::Record& end);
  std::optional<NvtxRange> take_early_begin(const channel::Record& end, std::uint32_t depth);
  // Strings of the event that `record` is, and of the payload that came in front of it.
  NvtxAttributes attributes(const channel::Record& record, std::string_view text);
  // The string of the payload that came in front of `record`; none where none did.
  std::optional<std::uint32_t> payload(const channel::Record& record);
  NvtxRange opened(const channel::Record& record, std::string_view text, proto::NvtxStyle style);
  void add_file_access(const channel::Record& record, std::string_view path);
  void push(const channel::Record& record, std::string_view text);
  void pop(const channel::Record& record);
  // Ends ranges that lie deeper than `depth`, or at it, whose pops are missing; those that began later than `seen` make room for it alone.
  void close_deeper(Stack& open, std::uint32_t depth, const channel::Record& seen);
  void start(const channel::Record& record, std::string_view text);
  void end(const channel::Record& record);
  void close(NvtxRange range, End end, RangeEnding ending);
  // Whether one more range may be open. One that may not is unfinished from its begin on.
  [[nodiscard]] bool has_room() const noexcept { return open_ < kMostOpen; }
  // Forgets threads that have nothing open, once there are many.
  void prune();

  struct Payload {
    std::int64_t time = 0;  // of the event that it belongs to
    std::string json;
  };

  EventEncoder& encoder_;
  DescribePayload describe_;
  std::unordered_map<std::uint32_t, Payload> payloads_;    // by thread: of the record that follows
  std::unordered_map<std::uint64_t, Stack> stacks_;        // by thread << 32 | domain
  std::unordered_map<std::uint64_t, Stack> early_begins_;  // likewise: open ranges that were read before earlier ones of their thread
  std::unordered_map<std::uint64_t, NvtxRange> started_;   // by id
  std::unordered_map<std::uint64_t, End> early_ends_;      // by id
  std::size_t open_ = 0;                                   // ranges in stacks_ and started_
  std::size_t next_pruning_ = 4096;                        // of stacks_, at that size
  std::int64_t last_time_ = 0;
  std::uint64_t unmatched_ = 0;
  std::uint64_t invalid_ = 0;
};

}  // namespace lanescope::session
