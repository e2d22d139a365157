// The columns of one kind of event: one class for each message in EventChunk's `events`.
//
// add() appends an event; write() appends the message's fields to `out`; clear() makes it empty again. The first event's start is the
// chunk's base. One thread.
#pragma once

#include "agent/encode/column.h"
#include "agent/encode/events.h"

namespace lanescope::agent::encode {

inline constexpr std::uint32_t kEventsPerChunk = 65'536;

// When each event began and how long it took: what all kinds have in common.
class TimeColumns {
 public:
  void add(const Interval& time) noexcept {
    if (count_ == 0) {
      base_ = time.start;
      start_.clear(base_);
    }
    start_.add(time.start);
    duration_.add(time.duration);
    ++count_;
  }
  void write(ProtoWriter& out, std::uint32_t start_field) const noexcept {
    start_.write(out, start_field);
    duration_.write(out, start_field + 1);
  }
  void write_instants(ProtoWriter& out, std::uint32_t field) const noexcept { start_.write(out, field); }
  void clear() noexcept {
    start_.clear();
    duration_.clear();
    count_ = 0;
  }
  [[nodiscard]] std::int64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] bool failed() const noexcept { return start_.failed() || duration_.failed(); }

 private:
  DeltaColumn start_;
  ValueColumn duration_;
  std::int64_t base_ = 0;
  std::uint32_t count_ = 0;
};

class KernelChunk {
 public:
  static constexpr std::uint32_t kField = 16;  // in EventChunk
  void add(const Kernel& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn name_, queue_, shape_, graph_, unfinished_;
  DeltaColumn correlation_, graph_node_;
};

class CopyChunk {
 public:
  static constexpr std::uint32_t kField = 17;
  void add(const Copy& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn bytes_, queue_, shape_, graph_, migration_cause_;
  DeltaColumn correlation_, graph_node_;
  FixedColumn virtual_address_;
};

class SetChunk {
 public:
  static constexpr std::uint32_t kField = 18;
  void add(const Set& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn bytes_, value_, queue_, memory_kind_, graph_;
  DeltaColumn correlation_, graph_node_;
};

// Calls of one thread into one API.
class ApiChunk {
 public:
  static constexpr std::uint32_t kField = 19;
  // Requires: an empty chunk, or the same thread and API as before.
  void add(const ApiCall& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
  [[nodiscard]] Api api() const noexcept { return api_; }

 private:
  TimeColumns times_;
  ValueColumn name_, result_;
  DeltaColumn correlation_;
  std::uint32_t thread_ = 0;
  Api api_ = Api::kRuntime;
};

class SynchronizationChunk {
 public:
  static constexpr std::uint32_t kField = 20;
  void add(const Synchronization& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn type_, queue_, event_, event_record_;
  DeltaColumn correlation_;
};

class SpanChunk {
 public:
  void add(const Span& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn name_, thread_;
  DeltaColumn correlation_;
};
class OverheadChunk : public SpanChunk {
 public:
  static constexpr std::uint32_t kField = 21;
};
class CompilationChunk : public SpanChunk {
 public:
  static constexpr std::uint32_t kField = 22;
};

class GraphLaunchChunk {
 public:
  static constexpr std::uint32_t kField = 23;
  void add(const GraphLaunch& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn queue_, graph_;
  DeltaColumn correlation_;
};

class PageFaultChunk {
 public:
  static constexpr std::uint32_t kField = 27;
  void add(const PageFault& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn device_, count_, access_, function_, module_;
  FixedColumn address_, program_counter_;
};

class MemoryUsageChunk {
 public:
  static constexpr std::uint32_t kField = 31;
  void add(const MemoryUsage& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn operation_, bytes_, memory_kind_, queue_, name_, pool_size_, pool_utilized_, pool_release_threshold_;
  DeltaColumn address_, correlation_;
  FixedColumn pool_;
};

class CudaEventChunk {
 public:
  static constexpr std::uint32_t kField = 32;
  void add(const CudaEvent& event) noexcept;
  void write(ProtoWriter& out) const noexcept;
  void clear() noexcept;
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] const TimeColumns& times() const noexcept { return times_; }

 private:
  TimeColumns times_;
  ValueColumn queue_, event_, record_;
  DeltaColumn correlation_;
};

}  // namespace lanescope::agent::encode
