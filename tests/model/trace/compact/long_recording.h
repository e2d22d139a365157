// A recording of as many events as are asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
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

}  // namespace lanescope::test
