// The monitors of monitors.h behind the functions of the library below CUPTI. Records of a sample take bytes in a buffer of a known size, and the newest
// record may be incomplete. Decoding into another image than the one that holds its start loses it. Room is free once it is acknowledged. Times are on a
// clock of the GPU's own.
#pragma once

#include <algorithm>

#include "monitors.h"
#include "samplers/nvperf.h"

namespace lanescope::gpu_metrics {

struct Records {
  static constexpr std::size_t kRecordBytes = 14'000;     // for a sample
  static constexpr std::size_t kQuietBytes = 9'000;       // for a sample in which the GPU does nothing
  static constexpr std::size_t kPart = 5'000;             // of the newest sample, which is incomplete
  static constexpr std::uint64_t kAhead = 7'000'000'000;  // ns by which the GPU's clock is ahead of CLOCK_REALTIME
  static constexpr std::size_t kLargest = 4094ull << 20;  // bytes, of the buffer
  static constexpr const char* kBusId = "0000:1b:00.0";

  // What tests may set.
  int begin_answer = 0;
  int decode_answer = 0;
  std::size_t most_memory = SIZE_MAX;  // limit of the buffer
  std::uint64_t quiet_samples = 0;     // number of quiet samples at the start

  // What tests can read.
  std::vector<std::size_t> buffers_asked_for;
  std::size_t total = 0;
  int decodes = 0;
  bool keeps_units = false;
  bool in_session = false;
  std::size_t unacknowledged = 0;  // bytes
  std::uint64_t part = 0;          // 1 + the sample of which a part was decoded; 0: none
  int torn = 0;                    // samples

  [[nodiscard]] std::size_t bytes_of(std::uint64_t sample) const { return sample < quiet_samples ? kQuietBytes : kRecordBytes; }
};

inline Records* records = nullptr;

inline int answer_of(bool holds) {
  if (!holds) ++monitors->mistakes;
  return holds ? 0 : 8;
}

inline std::size_t unread_bytes() {
  std::size_t bytes = monitors->started && !monitors->overflowed ? Records::kPart : 0;
  for (const std::uint64_t sample : monitors->held) bytes += records->bytes_of(sample);
  return bytes - (records->part > 0 && bytes > 0 ? Records::kPart : 0);
}

inline nvperf::Functions functions_of_records() {
  nvperf::Functions f;
  f.get_device_count = [](nvperf::DeviceCount* p) {
    p->devices = 2;
    return 0;
  };
  f.get_bus_ids = [](nvperf::BusIds* p) {
    if (p->devices != 2) return answer_of(false);
    p->ids[0] = {0, 0x1a, 0};
    p->ids[1] = {0, 0x1b, 0};
    return 0;
  };
  f.begin_session = [](nvperf::BeginSession* p) {
    records->buffers_asked_for.push_back(p->buffer_size);
    if (p->buffer_size > records->most_memory) return nvperf::kOutOfMemory;
    if (records->begin_answer != 0) return records->begin_answer;
    records->total = std::min(p->buffer_size, Records::kLargest);
    monitors->hardware_samples = records->total / Records::kRecordBytes;
    records->in_session = true;
    return answer_of(p->device == 1 && p->interval == Monitors::kInterval && *p->triggers == nvperf::BeginSession::kTimeInterval);
  };
  f.end_session = [](nvperf::OfDevice*) {
    const bool was = std::exchange(records->in_session, false);
    return answer_of(was && !monitors->started);
  };
  f.set_config = [](nvperf::SetConfig* p) {
    monitors->overflowed = false;
    monitors->configured = true;
    return answer_of(records->in_session && !monitors->started && p->config_size > 0 && monitors->unacknowledged == 0);
  };
  f.start = [](nvperf::OfDevice*) {
    const bool fits = records->in_session && monitors->configured && !monitors->started;
    monitors->started = true;
    ++monitors->starts;
    return answer_of(fits);
  };
  f.stop = [](nvperf::OfDevice*) { return answer_of(std::exchange(monitors->started, false)); };
  f.get_image_size = [](nvperf::ImageSize* p) {
    p->size = Monitors::kHeaderBytes + p->options->samples * Monitors::kSampleBytes;
    return answer_of(p->options->prefix_size > 0);
  };
  f.initialize_image = [](nvperf::InitializeImage* p) {
    ++monitors->images_made_fresh;
    std::memset(p->image, 0xA5, p->size);
    const ImageHeader header{ImageHeader::kMagic, p->options->samples, 0, p->size, 0};
    std::memcpy(p->image, &header, sizeof(header));
    return answer_of(records->in_session);
  };
  f.get_buffer_status = [](nvperf::BufferStatus* p) {
    p->total = records->total;
    p->unread = unread_bytes();
    p->overflow = monitors->overflowed ? 1 : 0;
    return answer_of(records->in_session);
  };
  f.decode = [](nvperf::Decode* p) {
    ++records->decodes;
    if (records->decode_answer != 0) return std::exchange(records->decode_answer, 0);
    ImageHeader header = header_of(p->image, p->image_size);
    std::size_t taken = 0;
    for (; taken < monitors->held.size() && header.held < header.room; ++taken) {
      const std::uint64_t sample = monitors->held[taken];
      const std::uint64_t part = std::exchange(records->part, 0);
      p->consumed += records->bytes_of(sample) - (part > 0 ? Records::kPart : 0);
      if (part > 0 && std::exchange(header.part, 0) != part) {
        ++records->torn;
        continue;
      }
      std::uint8_t* bytes = p->image + Monitors::kHeaderBytes + header.held++ * Monitors::kSampleBytes;
      std::memcpy(bytes, &sample, sizeof(sample));
      for (std::size_t i = sizeof(sample); i < Monitors::kSampleBytes; ++i) bytes[i] = static_cast<std::uint8_t>(sample + i);
    }
    // If there is room, the part of the newest sample is decoded, too.
    if (taken == monitors->held.size() && header.held < header.room && monitors->started && !monitors->overflowed && records->part == 0) {
      header.part = records->part = monitors->next + 1;
      p->consumed += Records::kPart;
    }
    std::memcpy(p->image, &header, sizeof(header));
    monitors->held.erase(monitors->held.begin(), monitors->held.begin() + static_cast<std::ptrdiff_t>(taken));
    monitors->unacknowledged += taken;
    records->unacknowledged += p->consumed;
    return answer_of(records->in_session && p->most_bytes >= p->consumed);
  };
  f.acknowledge = [](nvperf::Acknowledge* p) {
    monitors->unacknowledged = 0;
    return answer_of(records->in_session && p->bytes == std::exchange(records->unacknowledged, 0));
  };
  f.get_gpu_time = [](nvperf::GpuTime* p) {
    p->time = static_cast<std::uint64_t>(channel::realtime_now()) + Records::kAhead;
    return 0;
  };
  f.get_image_info = [](nvperf::ImageInfo* p) {
    const ImageHeader header = header_of(p->image, p->image_size);
    p->room = header.room;
    p->completed = header.held;
    p->begun = header.held + (header.part > 0 ? 1 : 0);
    return 0;
  };
  f.get_sample_times = [](nvperf::SampleTimes* p) {
    std::uint64_t sample = 0;
    std::memcpy(&sample, p->image + Monitors::kHeaderBytes + p->index * Monitors::kSampleBytes, sizeof(sample));
    p->begin = monitors->begin_of(sample) + Records::kAhead;
    p->end = monitors->begin_of(sample + 1) + Records::kAhead;
    return 0;
  };
  f.get_config_counters = [](nvperf::ConfigCounters* p) {
    p->count = 2;
    if (p->names != nullptr) p->names[0] = "0x1", p->names[1] = "0x2";
    return 0;
  };
  f.create_builder = [](nvperf::CreateBuilder* p) {
    p->builder = new int{0};
    return 0;
  };
  f.add_counters = [](nvperf::AddCounters* p) {
    records->keeps_units = std::all_of(p->requests, p->requests + p->count, [](const nvperf::CounterRequest& one) { return one.keeps_instances != 0; });
    return answer_of(p->count == 2);
  };
  f.get_prefix = [](nvperf::GetPrefix* p) {
    p->size = 8;
    if (p->bytes != nullptr) std::memset(p->bytes, 1, p->room);
    return 0;
  };
  f.destroy_builder = [](nvperf::DestroyBuilder* p) {
    delete static_cast<int*>(p->builder);
    return 0;
  };
  return f;
}

}  // namespace lanescope::gpu_metrics
