// A recording with a given number of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "support/catch.h"

namespace lanescope::test {

// Whether durations and names vary, or only ids do.
enum class Calls : std::uint8_t { kVaried, kEqual };

// One process whose thread makes `count` calls one after the other, each of one launch.
inline void write_long_recording(const std::filesystem::path& path, std::uint32_t count, Calls kind = Calls::kVaried) {
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer);
  std::vector<std::byte> frames;
  FrameHeader header;
  header.type = proto::FRAME_SESSION_START;
  proto::SessionStart start;
  start.set_epoch(1'000'000);
  append_frame(header, start.SerializeAsString(), frames);
  header.process = 1;
  header.source = proto::SOURCE_AGENT;
  header.type = proto::FRAME_EVENTS;
  std::mt19937 random(1);
  for (std::uint32_t done = 0; done < count;) {
    proto::EventChunk chunk;
    chunk.set_base_time(1'000'000 + std::int64_t{done} * 2'000);
    if (done == 0) {
      chunk.set_first_string(1);
      chunk.add_strings("cudaLaunchKernel");
      chunk.add_strings("cudaMemcpyAsync");
    }
    proto::ApiCalls& calls = *chunk.mutable_api_calls();
    calls.set_thread(4711);
    header.event_count = std::min<std::uint32_t>(10'000, count - done);
    for (std::uint32_t i = 0; i < header.event_count; ++i) {
      calls.add_start_delta(i == 0 ? 0 : 2'000);
      calls.add_duration(kind == Calls::kEqual ? 1'000 : random() % 2'000);
      calls.add_name(kind == Calls::kEqual ? 1 : 1 + random() % 2);
      calls.add_correlation_delta(i == 0 ? static_cast<std::int64_t>(done) + 1 : 1);
    }
    append_frame(header, chunk.SerializeAsString(), frames);
    REQUIRE(writer->append(frames));
    frames.clear();
    done += header.event_count;
  }
  REQUIRE(writer->finish());
}

// One process that trains: steps of 100 launches within a range, whose kernels run one after the other. Every tenth is a collective on a stream of its own,
// at the same time as the next one. About `count` events.
inline void write_long_program(const std::filesystem::path& path, std::uint32_t count) {
  constexpr std::uint32_t kLaunches = 100, kStepsOfChunk = 50;
  constexpr std::int64_t kLaunch = 10'000, kStep = kLaunches * kLaunch;  // ns
  auto writer = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(writer);
  std::vector<std::byte> frames;
  FrameHeader header;
  header.type = proto::FRAME_SESSION_START;
  proto::SessionStart start;
  start.set_epoch(1'000'000);
  append_frame(header, start.SerializeAsString(), frames);
  header.process = 1;
  header.source = proto::SOURCE_AGENT;
  header.type = proto::FRAME_EVENTS;
  std::mt19937 random(1);
  std::uint32_t correlation = 0;
  for (std::int64_t step = 0; step * (2 * kLaunches + 1) < count; step += kStepsOfChunk) {
    proto::EventChunk launches, kernels, ranges;
    for (proto::EventChunk* chunk : {&launches, &kernels, &ranges}) chunk->set_base_time(1'000'000 + step * kStep);
    if (step == 0) {
      launches.set_first_string(1);
      for (const char* name : {"cudaLaunchKernel", "gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "step"}) launches.add_strings(name);
      kernels.set_first_queue(1);
      for (const std::uint32_t stream : {7u, 8u}) {
        proto::Queue& queue = *kernels.add_queues();
        queue.set_context(1);
        queue.set_stream(stream);
      }
    }
    launches.mutable_api_calls()->set_thread(4711);
    ranges.mutable_nvtx_ranges()->set_thread(4711);
    for (std::uint32_t i = 0; i < kStepsOfChunk * kLaunches; ++i) {
      const bool is_collective = i % 10 == 9;
      proto::ApiCalls& calls = *launches.mutable_api_calls();
      calls.add_start_delta(i == 0 ? 0 : kLaunch);
      calls.add_duration(1'000 + random() % 3'000);
      calls.add_name(1);
      calls.add_correlation_delta(i == 0 ? std::int64_t{correlation} + 1 : 1);
      proto::Kernels& work = *kernels.mutable_kernels();
      work.add_start_delta(i == 0 ? 5'000 : kLaunch);
      work.add_duration(is_collective ? 8'000 + random() % 8'000 : 2'000 + random() % 7'000);
      work.add_name(is_collective ? 3 : 2);
      work.add_queue(is_collective ? 2 : 1);
      work.add_shape(0);
      work.add_correlation_delta(i == 0 ? std::int64_t{correlation} + 1 : 1);
      if (i % kLaunches != 0) continue;
      proto::NvtxRanges& steps = *ranges.mutable_nvtx_ranges();
      steps.add_start_delta(i == 0 ? 0 : kStep);
      steps.add_duration(kStep - 100);
      steps.add_name(4);
      steps.add_depth(0);
    }
    correlation += kStepsOfChunk * kLaunches;
    for (const auto& [chunk, events] :
         {std::pair(&launches, kStepsOfChunk * kLaunches), std::pair(&kernels, kStepsOfChunk * kLaunches), std::pair(&ranges, kStepsOfChunk)}) {
      header.event_count = events;
      append_frame(header, chunk->SerializeAsString(), frames);
    }
    REQUIRE(writer->append(frames));
    frames.clear();
  }
  REQUIRE(writer->finish());
}

}  // namespace lanescope::test
