// How often events happen in programs, read ten times a second and recorded as counters. On the recorder's thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/counters/counter_stream.h"
#include "collector/cpu/counted_events.h"
#include "events/perf_event.h"
#include "outbox.h"

namespace lanescope::cpu {

class EventCounters final : private counters::CounterSink {
 public:
  enum class Of { kThreads, kMachine };

  // Counts for threads and everything that they start, or for all processors. Counting begins with their exec (Begin::kOnExec), or when
  // start() is called. Events that are not available are left out, each with a sentence in `lacks`.
  EventCounters(const std::vector<std::string>& events, Of of, std::span<const pid_t> threads, Begin begin, KernelCode kernel_code, Outbox& outbox,
                std::vector<std::string>& lacks);
  EventCounters(const EventCounters&) = delete;
  EventCounters& operator=(const EventCounters&) = delete;

  static constexpr std::int64_t kPeriod = 100'000'000;  // ns between readings

  // Begins counting, or continues it. Times here are CLOCK_MONOTONIC ns.
  void start(std::int64_t now);
  // Reads what has happened since the last reading, if a period has passed.
  void read(std::int64_t now);
  // Reads now, stops counting, and hands over everything.
  void finish(std::int64_t now);
  void flush();

 private:
  struct Counted {
    std::vector<FileDescriptor> descriptors;
    double total = 0;  // at the last reading
  };
  void write(proto::FrameType type, const google::protobuf::MessageLite& message) override;
  std::uint32_t new_counter_id() override { return ++ids_; }
  void ask_all(unsigned long request);  // PERF_EVENT_IOC_...
  void take(std::int64_t now);

  Outbox& outbox_;
  std::vector<Counted> counted_;
  std::optional<counters::CounterStream> stream_;
  std::uint32_t ids_ = 0;
  bool recording_ = false;
  std::int64_t read_at_ = 0;
};

}  // namespace lanescope::cpu
