// The columns of one kind of event: one type for each message in EventChunk's `events`, which lists its fields as trace.proto does.
//
// add() appends an event; write() appends the message's fields to `out`; clear() makes the chunk empty again. The start of the first event is the chunk's base.
// One thread.
#pragma once

#include <functional>
#include <tuple>

#include "agent/encode/column.h"
#include "agent/encode/events.h"

namespace lanescope::agent::encode {

inline constexpr std::uint32_t kEventsPerChunk = 65'536;  // at most

// One field of the message: its number, how its values are stored, and which value of the event it holds.
template <std::uint32_t kNumber, typename Storage, auto kValue, Presence kPresence = Presence::kAlways>
class Field {
 public:
  template <typename Event>
  void add(const Event& event, std::uint32_t) noexcept {
    values_.add(static_cast<typename Storage::Value>(std::invoke(kValue, event)));
  }
  void write(ProtoWriter& out) const noexcept { values_.write(out, kNumber, kPresence); }
  void clear() noexcept { values_.clear(); }
  [[nodiscard]] bool failed() const noexcept { return values_.failed(); }

 private:
  Storage values_;
};

template <std::uint32_t kNumber, auto kValue, Presence kPresence = Presence::kAlways>
using Value = Field<kNumber, ValueColumn, kValue, kPresence>;
template <std::uint32_t kNumber, auto kValue, Presence kPresence = Presence::kAlways>
using Delta = Field<kNumber, DeltaColumn, kValue, kPresence>;
template <std::uint32_t kNumber, auto kValue, Presence kPresence = Presence::kAlways>
using Fixed = Field<kNumber, FixedColumn, kValue, kPresence>;

// The positions of the events that never finished.
template <std::uint32_t kNumber>
class Unfinished {
 public:
  template <typename Event>
  void add(const Event& event, std::uint32_t place) noexcept {
    if (event.completion == Completion::kUnfinished) places_.add(place);
  }
  void write(ProtoWriter& out) const noexcept { places_.write(out, kNumber); }
  void clear() noexcept { places_.clear(); }
  [[nodiscard]] bool failed() const noexcept { return places_.failed(); }

 private:
  ValueColumn places_;
};

enum class Extent { kSpans, kInstants };  // instants have no duration

// When each event began, under kStartField, and how long it took, under the number after it.
template <std::uint32_t kStartField, Extent kExtent = Extent::kSpans>
class Times {
 public:
  void add(const Interval& time) noexcept {
    if (count_ == 0) {
      base_ = time.start;
      start_.clear(base_);
    }
    start_.add(time.start);
    if constexpr (kExtent == Extent::kSpans) duration_.add(time.duration);
    ++count_;
  }
  void write(ProtoWriter& out) const noexcept {
    start_.write(out, kStartField);
    if constexpr (kExtent == Extent::kSpans) duration_.write(out, kStartField + 1);
  }
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

// kFieldOfChunk: the message's own number in EventChunk.
template <typename Event, std::uint32_t kFieldOfChunk, typename TimeFields, typename... Fields>
class Chunk {
 public:
  static constexpr std::uint32_t kField = kFieldOfChunk;

  void add(const Event& event) noexcept {
    std::apply([&](Fields&... field) { (field.add(event, times_.count()), ...); }, fields_);
    times_.add(event.time);
  }
  void write(ProtoWriter& out) const noexcept {
    times_.write(out);
    std::apply([&](const Fields&... field) { (field.write(out), ...); }, fields_);
  }
  void clear() noexcept {
    times_.clear();
    std::apply([](Fields&... field) { (field.clear(), ...); }, fields_);
  }
  [[nodiscard]] bool failed() const noexcept {
    return times_.failed() || std::apply([](const Fields&... field) { return (field.failed() || ...); }, fields_);
  }
  [[nodiscard]] const TimeFields& times() const noexcept { return times_; }

 private:
  TimeFields times_;
  std::tuple<Fields...> fields_;
};

template <typename Event>
constexpr std::uint64_t graph_node(const Event& event) noexcept {
  return event.graph.node;
}
template <typename Event>
constexpr std::uint32_t graph(const Event& event) noexcept {
  return event.graph.graph;
}

using KernelChunk = Chunk<Kernel, 16, Times<1>, Value<3, &Kernel::name>, Value<4, &Kernel::queue>, Delta<5, &Kernel::correlation>, Value<6, &Kernel::shape>,
                          Delta<7, &graph_node<Kernel>, Presence::kIfAnySaysSo>, Value<8, &graph<Kernel>, Presence::kIfAnySaysSo>, Unfinished<9>>;

using CopyChunk = Chunk<Copy, 17, Times<1>, Value<3, &Copy::bytes>, Value<4, &Copy::queue>, Delta<5, &Copy::correlation>, Value<6, &Copy::shape>,
                        Delta<7, &graph_node<Copy>, Presence::kIfAnySaysSo>, Value<8, &graph<Copy>, Presence::kIfAnySaysSo>,
                        Fixed<9, &Copy::virtual_address, Presence::kIfAnySaysSo>, Value<10, &Copy::migration_cause, Presence::kIfAnySaysSo>>;

using SetChunk = Chunk<Set, 18, Times<1>, Value<3, &Set::bytes>, Value<4, &Set::value>, Value<5, &Set::queue>, Delta<6, &Set::correlation>,
                       Value<7, &Set::memory_kind>, Delta<8, &graph_node<Set>, Presence::kIfAnySaysSo>, Value<9, &graph<Set>, Presence::kIfAnySaysSo>>;

// Calls of one thread into one API: all events have the same thread and API.
class ApiChunk
    : public Chunk<ApiCall, 19, Times<3>, Value<5, &ApiCall::name>, Delta<6, &ApiCall::correlation>, Value<7, &ApiCall::result, Presence::kIfAnySaysSo>> {
 public:
  void add(const ApiCall& event) noexcept {
    thread_ = event.thread;
    api_ = event.api;
    Chunk::add(event);
  }
  void write(ProtoWriter& out) const noexcept {
    out.unsigned_field(1, thread_);
    out.unsigned_field(2, static_cast<std::uint32_t>(api_));
    Chunk::write(out);
  }
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
  [[nodiscard]] Api api() const noexcept { return api_; }

 private:
  std::uint32_t thread_ = 0;
  Api api_ = Api::kRuntime;
};

using SynchronizationChunk =
    Chunk<Synchronization, 20, Times<1>, Value<3, &Synchronization::type>, Value<4, &Synchronization::queue>, Value<5, &Synchronization::event>,
          Delta<6, &Synchronization::correlation>, Value<7, &Synchronization::event_record, Presence::kIfAnySaysSo>>;

template <std::uint32_t kFieldOfChunk>
using SpanChunk = Chunk<Span, kFieldOfChunk, Times<1>, Value<3, &Span::name>, Value<4, &Span::thread, Presence::kIfAnySaysSo>,
                        Delta<5, &Span::correlation, Presence::kIfAnySaysSo>>;
using OverheadChunk = SpanChunk<21>;
using CompilationChunk = SpanChunk<22>;

using GraphLaunchChunk = Chunk<GraphLaunch, 23, Times<1>, Value<3, &GraphLaunch::queue>, Delta<4, &GraphLaunch::correlation>, Value<5, &GraphLaunch::graph>>;

using PageFaultChunk =
    Chunk<PageFault, 27, Times<1>, Value<3, &PageFault::device, Presence::kIfAnySaysSo>, Fixed<4, &PageFault::address>, Value<5, &PageFault::count>,
          Value<6, &PageFault::access, Presence::kIfAnySaysSo>, Fixed<7, &PageFault::program_counter, Presence::kIfAnySaysSo>,
          Value<8, &PageFault::function, Presence::kIfAnySaysSo>, Value<9, &PageFault::module, Presence::kIfAnySaysSo>>;

using MemoryUsageChunk =
    Chunk<MemoryUsage, 31, Times<1, Extent::kInstants>, Value<2, &MemoryUsage::operation>, Delta<3, &MemoryUsage::address>, Value<4, &MemoryUsage::bytes>,
          Value<5, &MemoryUsage::memory_kind>, Value<6, &MemoryUsage::queue>, Delta<7, &MemoryUsage::correlation>,
          Value<8, &MemoryUsage::name, Presence::kIfAnySaysSo>, Fixed<9, &MemoryUsage::pool, Presence::kIfAnySaysSo>,
          Value<10, &MemoryUsage::pool_size, Presence::kIfAnySaysSo>, Value<11, &MemoryUsage::pool_utilized, Presence::kIfAnySaysSo>,
          Value<12, &MemoryUsage::pool_release_threshold, Presence::kIfAnySaysSo>>;

using CudaEventChunk = Chunk<CudaEvent, 32, Times<1, Extent::kInstants>, Value<2, &CudaEvent::queue>, Value<3, &CudaEvent::event>, Value<4, &CudaEvent::record>,
                             Delta<5, &CudaEvent::correlation>>;

}  // namespace lanescope::agent::encode
