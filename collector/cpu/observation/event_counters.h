// How often events happen in programs, read ten times a second: counters of the recording. On the recorder's thread.
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

  // Of threads and all that they start, or of all processors. They are counted from their exec on (Begin::kOnExec), or once told to. Events
  // that can't be had are left out, each with a sentence in `lacks`.
  EventCounters(const std::vector<std::string>& events, Of of, std::span<const pid_t> threads, Begin begin, KernelCode kernel_code, Outbox& outbox,
                std::vector<std::string>& lacks);
  EventCounters(const EventCounters&) = delete;
  EventCounters& operator=(const EventCounters&) = delete;

  static constexpr std::int64_t kPeriod = 100'000'000;  // ns between readings

  // Counting begins or goes on, or stops. Times here are CLOCK_MONOTONIC ns.
  void set_recording(bool recording, std::int64_t now);
  // Reads what has happened since the last time, where a period has passed.
  void read(std::int64_t now);
  // Reads now, and hands over all of it.
  void finish(std::int64_t now);
  void flush();

 private:
  struct Counted {
    std::vector<FileDescriptor> descriptors;
    double total = 0;  // when it was read last
  };
  void write(proto::FrameType type, const google::protobuf::MessageLite& message) override;
  std::uint32_t new_counter_id() override { return ++ids_; }
  void take(std::int64_t now);

  Outbox& outbox_;
  std::vector<Counted> counted_;
  std::optional<counters::CounterStream> stream_;
  std::uint32_t ids_ = 0;
  bool recording_ = false;
  std::int64_t read_at_ = 0;
};

}  // namespace lanescope::cpu
