// A recording of one rank, which runs all-reduces with other ranks of one communicator. By construction it is known when on its clock each ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recording.h"

namespace lanescope::test {

enum class CollectiveKernels : std::uint8_t { kRecorded, kNotRecorded };

struct RankOfCollectives {
  std::string boot;                                    // of the machine
  std::int64_t utc_epoch = 1'700'000'000'000'000'000;  // from that machine's clock
  std::int64_t epoch = kEpoch;                         // start of the recording, on the machine's clock
  std::function<std::int64_t(std::int64_t)> clock = [](std::int64_t true_time) { return kEpoch + true_time; };  // reading of its clock at a true time
  CollectiveKernels kernels = CollectiveKernels::kRecorded;
  std::uint32_t rank = 0;
};

// `add_frame` is called with the frames of a recording except its start, as Recording::add. At each true time, in ns, the rank calls ncclAllReduce within 20
// us; its kernel starts 10 us later and ends 1 ms after that.
template <typename AddFrame>
void add_collectives(const RankOfCollectives& rank, std::span<const std::int64_t> times, const AddFrame& add_frame) {
  proto::ProcessStart process;
  process.set_pid(100 + rank.rank);
  process.set_time(rank.epoch);
  process.set_executable("/usr/bin/train");
  process.mutable_place()->set_rank(rank.rank);
  add_frame(proto::FRAME_PROCESS_START, process, 0);
  proto::Resources resources;
  auto* domain = resources.add_nvtx_domains();
  domain->set_id(1);
  domain->set_name("NCCL");
  resources.add_devices()->set_name("H200");
  auto* context = resources.add_contexts();
  context->set_id(1);
  auto* stream = resources.add_streams();
  stream->set_id(7);
  stream->set_context(1);
  add_frame(proto::FRAME_RESOURCES, resources, 0);

  constexpr std::size_t kOfChunk = 10'000;
  for (std::size_t first = 0; first < times.size(); first += kOfChunk) {
    const std::span<const std::int64_t> some = times.subspan(first, std::min(kOfChunk, times.size() - first));
    proto::EventChunk ranges, launches, kernels;
    const auto begin = [&](proto::EventChunk& chunk, auto& columns, std::int64_t true_time, std::int64_t until, std::int64_t& last) {
      const std::int64_t start = rank.clock(true_time), end = rank.clock(until);
      if (columns.start_delta_size() == 0) chunk.set_base_time(start);
      columns.add_start_delta(columns.start_delta_size() == 0 ? 0 : start - last);
      columns.add_duration(static_cast<std::uint64_t>(end - start));
      last = start;
    };
    std::int64_t last_range = 0, last_launch = 0, last_kernel = 0;
    auto& range = *ranges.mutable_nvtx_ranges();
    range.set_thread(100 + rank.rank);
    range.set_domain(1);
    auto& launch = *launches.mutable_api_calls();
    launch.set_thread(100 + rank.rank);
    auto& kernel = *kernels.mutable_kernels();
    if (first == 0) {
      ranges.set_first_string(1);
      for (const char* text : {"ncclCommInitRank", "ncclAllReduce", R"({"NCCL communicator ID":1234})", "cudaLaunchKernel", "ncclDevKernel_AllReduce"})
        ranges.add_strings(text);
      begin(ranges, range, some.front() - 100'000, some.front() - 80'000, last_range);
      range.add_name(1);
      range.add_payload_json(3);
      range.add_depth(0);
      auto& queue = *kernels.add_queues();
      queue.set_context(1);
      queue.set_stream(7);
      kernels.set_first_queue(1);
      kernels.add_launch_shapes()->set_grid_x(1);
      kernels.set_first_shape(1);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      begin(ranges, range, some[i], some[i] + 20'000, last_range);
      range.add_name(2);
      range.add_payload_json(3);
      range.add_depth(0);
      const std::int64_t correlation = i == 0 ? static_cast<std::int64_t>(first) + 1 : 1;
      begin(launches, launch, some[i] + 1'000, some[i] + 6'000, last_launch);
      launch.add_name(4);
      launch.add_correlation_delta(correlation);
      begin(kernels, kernel, some[i] + 10'000, some[i] + 1'010'000, last_kernel);
      kernel.add_name(5);
      kernel.add_queue(1);
      kernel.add_shape(1);
      kernel.add_correlation_delta(correlation);
    }
    add_frame(proto::FRAME_EVENTS, ranges, range.start_delta_size());
    if (rank.kernels == CollectiveKernels::kNotRecorded) continue;
    add_frame(proto::FRAME_EVENTS, launches, launch.start_delta_size());
    add_frame(proto::FRAME_EVENTS, kernels, kernel.start_delta_size());
  }
}

inline proto::SessionStart session_start(const RankOfCollectives& rank) {
  proto::SessionStart start;
  start.set_epoch(rank.epoch);
  start.set_utc_epoch(rank.utc_epoch);
  start.set_host_name(rank.boot);
  start.set_machine_id(rank.boot);
  start.set_boot_id(rank.boot);
  return start;
}

inline std::shared_ptr<const Trace> recorded(const RankOfCollectives& rank, std::span<const std::int64_t> times) {
  Recording recording(session_start(rank));
  add_collectives(rank, times, [&](proto::FrameType type, const auto& message, int) { recording.add(type, 1, proto::SOURCE_AGENT, message); });
  return recording.trace();
}

// `count` times, evenly spread.
inline std::vector<std::int64_t> times_of_collectives(std::size_t count, std::int64_t apart) {
  std::vector<std::int64_t> times;
  for (std::size_t i = 1; i <= count; ++i) times.push_back(static_cast<std::int64_t>(i) * apart);
  return times;
}

}  // namespace lanescope::test
