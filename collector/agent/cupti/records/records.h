// Reads CUPTI's records and hands them to the encoder. One thread.
//
// Compiled against one version of CUPTI's structures and used with libcupti of CUDA 12 and 13: in these versions, each structure begins like its predecessors
// (records.cpp asserts it), and members after that part are not read.
#pragma once

#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>

#include "agent/core/clock.h"
#include "agent/core/memory/page_buffer.h"
#include "agent/cupti/library/library.h"
#include "agent/cupti/records/late_graph_work.h"
#include "agent/encode/clock_map.h"
#include "agent/encode/event_encoder.h"

namespace lanescope::agent::cupti {

struct RecordCounts {
  std::uint64_t produced = 0;    // events read
  std::uint64_t invalid = 0;     // of these, left out because their times are invalid
  std::uint64_t unfinished = 0;  // of these, left out because they have no times, or those of other work: they were the last when the recording ended
};

// On one side of unified memory. The driver's queue of these records has a fixed length. Records that do not fit are dropped, and CUPTI does not tell how many.
struct PageMoves {
  std::uint64_t migrations = 0;  // to this side because it accessed a page
  std::uint64_t faults = 0;      // of this side
};
struct UnifiedMemoryCounts {
  PageMoves cpu;
  PageMoves gpu;
};

enum class Reading { kOngoing, kLast };  // kLast: the records of a forced flush at the end of a recording

enum class EventRecords { kAbsent, kPresent };

class RecordReader {
 public:
  RecordReader(const Functions& functions, encode::EventEncoder& events, encode::FrameWriter& frames, const encode::ClockMap& clocks) noexcept
      : functions_(functions), events_(events), frames_(frames), clocks_(clocks) {}

  // Whether synchronizations name the recording of an event that they waited for: they do if CUDA events are recorded and CUPTI supports both.
  void set_event_records(EventRecords records) noexcept { event_records_ = records; }

  // In the last reading, work without times has not ended; it is not a mistake.
  void set_reading(Reading reading) noexcept {
    reading_ = reading;
    if (reading == Reading::kLast) first_unfinished_ = {};
  }
  // The first kernel of the last reading that had not ended; empty: none.
  [[nodiscard]] std::string_view first_unfinished() const noexcept { return first_unfinished_; }

  // Work of graphs that is read between these two calls is held; late_graph_work.h gives the reason.
  void begin_late_graph_work() noexcept { late_graph_work_.begin(clocks_.to_monotonic(read_clock(CLOCK_REALTIME))); }
  void end_late_graph_work() noexcept { late_graph_work_.end(); }
  // Call when all records were read. Returns how many events were left out; they count as unfinished.
  std::uint64_t release_late_graph_work() noexcept;

  // Reads all records of a completed buffer.
  void read(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;

  // Writes what was learnt since the last call about devices, contexts, streams and events, if anything. Call it before writing the events' chunks.
  void flush_resources() noexcept;

  [[nodiscard]] const RecordCounts& counts() const noexcept { return counts_; }
  // Of the records since the last call.
  [[nodiscard]] UnifiedMemoryCounts take_unified_memory_counts() noexcept { return std::exchange(unified_memory_, {}); }

 private:
  void read_record(const CUpti_Activity& record) noexcept;
  void add(const CUpti_ActivityKernel10& record) noexcept;
  void add(const CUpti_ActivityMemcpy6& record) noexcept;
  void add(const CUpti_ActivityMemcpyPtoP4& record) noexcept;
  void add(const CUpti_ActivityMemset4& record) noexcept;
  void add_call(const CUpti_ActivityAPI& record, encode::Api api) noexcept;
  void add(const CUpti_ActivitySynchronization2& record) noexcept;
  void add(const CUpti_ActivityOverhead3& record) noexcept;
  void add(const CUpti_ActivityJit2& record) noexcept;
  void add(const CUpti_ActivityGraphTrace2& record) noexcept;
  void add(const CUpti_ActivityMemory4& record) noexcept;
  void add(const CUpti_ActivityMemoryPool3& record) noexcept;
  void add(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept;
  void add_migration(const CUpti_ActivityUnifiedMemoryCounter3& record, std::uint32_t copy_kind) noexcept;
  void add_cpu_fault(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept;
  void add_gpu_fault(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept;
  void add(const CUpti_ActivityCudaEvent2& record) noexcept;
  void add_event_name(std::uint32_t event, std::string_view name) noexcept;
  void add(const CUpti_ActivityDevice5& record) noexcept;
  void add(const CUpti_ActivityContext3& record) noexcept;
  void add(const CUpti_ActivityStream& record) noexcept;

  // Returns false, and counts the record as invalid, if its times are invalid.
  bool convert(std::uint64_t start, std::uint64_t end, encode::Interval& time) noexcept;
  std::uint32_t call_name(encode::Api api, CUpti_CallbackId id) noexcept;
  std::uint32_t device_of_context(std::uint32_t context) const noexcept;
  // The default stream of a device's first context, which shows work that belongs to no stream.
  encode::Queue default_queue(std::uint32_t device) const noexcept;
  void add_resource(std::uint32_t field) noexcept;  // the content of part_

  static constexpr std::size_t kApis = 2;
  static constexpr std::size_t kCallNames = 2048;
  struct ContextPlace {
    std::uint32_t context;
    std::uint32_t device;
    std::uint32_t null_stream;
  };

  const Functions& functions_;
  encode::EventEncoder& events_;
  encode::FrameWriter& frames_;
  const encode::ClockMap& clocks_;
  RecordCounts counts_;
  UnifiedMemoryCounts unified_memory_;
  EventRecords event_records_ = EventRecords::kAbsent;
  Reading reading_ = Reading::kOngoing;
  LateGraphWork late_graph_work_;
  std::string_view first_unfinished_;                 // one of the names that CUPTI keeps
  std::uint32_t call_names_[kApis][kCallNames] = {};  // string ids by callback id; 0: not asked yet
  struct EventName {
    std::uint32_t event;
    std::string_view name;
  };
  PageArray<ContextPlace> contexts_;
  PageArray<EventName> event_names_;  // names that were sent
  PageBuffer resources_;              // a Resources message while it grows
  PageBuffer part_;
};

}  // namespace lanescope::agent::cupti
