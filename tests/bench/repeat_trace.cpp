#include "repeat_trace.h"

#include <algorithm>
#include <random>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/load.h"
#include "model/trace/outline.h"
#include "model/trace/workers/parallel.h"

namespace lanescope::bench {
namespace {

constexpr std::uint32_t kInstancesOfASource = 1'000;  // distinguishes the processes of several sources
constexpr std::uint32_t kCountersOfASource = 2'000;   // distinguishes counters without a process
constexpr std::uint64_t kMostOutlined = 100'000'000;  // events: drawing more of them would take them all into memory

struct SourceFrame {
  FrameHeader header;
  std::string payload;
  proto::EventChunk chunk;  // for FRAME_EVENTS
};

struct Source {
  std::vector<SourceFrame> frames;
  std::int64_t begin = 0;   // start of its events and values of counters, CLOCK_MONOTONIC ns
  std::int64_t length = 0;  // ns
  std::int64_t largest_correlation = 0;
};

template <typename Columns>
void jitter(Columns& columns, std::mt19937& random) {
  for (auto& duration : *columns.mutable_duration()) duration -= duration * (random() % 11) / 100;
  for (int i = 1; i < columns.name_size(); ++i)
    if (random() % 10 == 0) std::swap(*columns.mutable_name()->Mutable(i), *columns.mutable_name()->Mutable(i - 1));
}

// Calls `use` with the columns of events that the chunk has.
template <typename Use>
void with_columns(proto::EventChunk& chunk, Use use) {
  switch (chunk.events_case()) {
    case proto::EventChunk::kKernels:
      use(*chunk.mutable_kernels());
      break;
    case proto::EventChunk::kCopies:
      use(*chunk.mutable_copies());
      break;
    case proto::EventChunk::kSets:
      use(*chunk.mutable_sets());
      break;
    case proto::EventChunk::kApiCalls:
      use(*chunk.mutable_api_calls());
      break;
    case proto::EventChunk::kSynchronizations:
      use(*chunk.mutable_synchronizations());
      break;
    case proto::EventChunk::kGraphLaunches:
      use(*chunk.mutable_graph_launches());
      break;
    case proto::EventChunk::kNvtxRanges:
      use(*chunk.mutable_nvtx_ranges());
      break;
    default:
      break;
  }
}

template <typename Columns>
std::int64_t correlation_sum(const Columns& columns) {
  std::int64_t correlation = 0, largest = 0;
  if constexpr (requires { columns.correlation_delta(); }) {
    for (const std::int64_t delta : columns.correlation_delta()) largest = std::max(largest, correlation += delta);
  }
  return largest;
}

Result<Source> read_source(const std::filesystem::path& path) {
  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  const auto trace = load_trace(path);
  if (!trace) return trace.error();
  Source source;
  TimeRange extent = (*trace)->extent();
  for (CounterId id = 0; id < (*trace)->counters().size(); ++id) {  // counters may be read before the first event, and after the last
    const CounterSeries& series = (*trace)->counter_series(id);
    if (!series.empty()) extent = {std::min(extent.begin, series.extent().begin), std::max(extent.end, series.extent().end)};
  }
  source.begin = extent.begin + (*trace)->provenance().monotonic_epoch;
  source.length = extent.length() + 1'000'000;
  while (const auto frame = reader->next()) {
    if (frame->header.type == proto::FRAME_OUTLINE || frame->header.type == proto::FRAME_SESSION_END) continue;
    auto payload = open_frame(*frame);
    if (!payload) return payload.error();
    SourceFrame entry{frame->header, std::move(*payload), {}};
    if (entry.header.type == proto::FRAME_EVENTS) {
      if (!entry.chunk.ParseFromString(entry.payload)) return Error{path.string() + " holds a chunk that can't be parsed."};
      with_columns(entry.chunk, [&](auto& columns) { source.largest_correlation = std::max(source.largest_correlation, correlation_sum(columns)); });
    }
    source.frames.push_back(std::move(entry));
  }
  return source;
}

// The chunk as it is written in round `round`: later in time, with later correlation ids, and with names, shapes and calls that the first round defined.
proto::EventChunk later(const proto::EventChunk& original, std::int64_t time_shift, std::int64_t correlation_shift, std::uint64_t round, std::mt19937& random) {
  proto::EventChunk chunk = original;
  chunk.set_base_time(original.base_time() + time_shift);
  if (round == 0) return chunk;
  chunk.clear_strings();
  chunk.clear_launch_shapes();
  chunk.clear_queues();
  chunk.clear_copy_shapes();
  chunk.clear_kernel_names();
  chunk.clear_code_locations();
  chunk.clear_call_nodes();
  with_columns(chunk, [&](auto& columns) {
    if constexpr (requires { columns.mutable_correlation_delta(); }) {
      if (columns.correlation_delta_size() > 0) columns.set_correlation_delta(0, columns.correlation_delta(0) + correlation_shift);
    }
    if constexpr (requires { columns.mutable_name(); }) jitter(columns, random);
  });
  return chunk;
}

// True for a frame of a session that is written only for the first source. Resources are written for each: they tell what was measured for no process, and for
// which GPUs.
bool is_of_first_alone(const FrameHeader& header) { return header.process == 0 && header.type != proto::FRAME_RESOURCES; }

std::string resources_of(std::size_t source, const std::string& payload) {
  proto::Resources resources;
  resources.ParseFromString(payload);
  for (proto::Counter& counter : *resources.mutable_counters()) counter.set_id(counter.id() + static_cast<std::uint32_t>(source) * kCountersOfASource);
  return resources.SerializeAsString();
}

void set_counters_of(std::size_t source, proto::EventChunk& chunk) {
  if (!chunk.has_counter_samples()) return;
  for (std::uint32_t& id : *chunk.mutable_counter_samples()->mutable_counter()) id += static_cast<std::uint32_t>(source) * kCountersOfASource;
}

// Frames of all sources, one after the other in time, starting at `position`.
void append_round(const std::vector<Source>& sources, std::uint64_t round, Nanoseconds position, std::vector<std::byte>& frames) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(round + 1));
  const std::int64_t origin = sources.front().begin;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Source& source = sources[s];
    for (const SourceFrame& frame : source.frames) {
      if (frame.header.type != proto::FRAME_EVENTS && (round > 0 || (s > 0 && is_of_first_alone(frame.header)))) continue;
      FrameHeader header = frame.header;
      const bool is_of_no_process = header.process == 0;
      if (!is_of_no_process) header.process += static_cast<std::uint32_t>(s) * kInstancesOfASource;
      if (header.type != proto::FRAME_EVENTS) {
        append_frame(header, is_of_no_process && header.type == proto::FRAME_RESOURCES ? resources_of(s, frame.payload) : frame.payload, frames);
        continue;
      }
      auto chunk = later(frame.chunk, origin + position - source.begin, static_cast<std::int64_t>(round) * source.largest_correlation, round, random);
      if (is_of_no_process) set_counters_of(s, chunk);
      append_frame(header, chunk.SerializeAsString(), frames);
    }
    position += source.length;
  }
}

}  // namespace

Result<std::uint64_t> repeat_trace(const std::vector<std::filesystem::path>& sources, std::uint64_t events, const std::filesystem::path& output) {
  std::vector<Source> inputs;
  for (const auto& path : sources) {
    auto source = read_source(path);
    if (!source) return source.error();
    inputs.push_back(std::move(*source));
  }
  auto writer = TraceFileWriter::create(output, Overwrite::kAllow);
  if (!writer) return writer.error();
  std::uint64_t of_round = 0;
  Nanoseconds length_of_round = 0;
  for (const Source& source : inputs) {
    for (const SourceFrame& frame : source.frames) of_round += frame.header.type == proto::FRAME_EVENTS ? frame.header.event_count : 0;
    length_of_round += source.length;
  }
  if (of_round == 0) return Error{"The recordings hold no events to repeat."};
  const std::uint64_t rounds = std::max<std::uint64_t>(1, (events + of_round - 1) / of_round);
  std::vector<std::vector<std::byte>> made(usable_cores());
  for (std::uint64_t round = 0; round < rounds; round += made.size()) {
    const auto at_once = static_cast<std::size_t>(std::min<std::uint64_t>(made.size(), rounds - round));
    parallel_for(at_once, [&](std::size_t i) {
      made[i].clear();
      append_round(inputs, round + i, static_cast<Nanoseconds>(round + i) * length_of_round, made[i]);
    });
    for (std::size_t i = 0; i < at_once; ++i)
      if (auto appended = writer->append(made[i]); !appended) return appended.error();
  }
  if (rounds * of_round > kMostOutlined) {
    if (auto finished = writer->finish(); !finished) return finished.error();
    return rounds * of_round;
  }
  // The outline is made from the frames that were written, as at the end of a recording.
  const auto trace = load_trace(output);
  if (!trace) return trace.error();
  if (auto appended = writer->append(outline_frame(**trace)); !appended) return appended.error();
  if (auto finished = writer->finish(); !finished) return finished.error();
  return rounds * of_round;
}

}  // namespace lanescope::bench
