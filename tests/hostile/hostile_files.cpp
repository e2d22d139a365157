#include "hostile_files.h"

#include <cstring>
#include <fstream>
#include <string_view>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

namespace lanescope::test {
namespace {

constexpr std::size_t kRows = 65'536;  // of a chunk
constexpr std::uint32_t kProcess = 1;
constexpr std::int64_t kEpoch = 1'000;

// Writes frames until the file has the size that was asked for.
class FileOfFrames {
 public:
  FileOfFrames(const std::filesystem::path& path, std::size_t bytes) : file_(path, std::ios::binary), most_bytes_(bytes) {
    FileHeader header{};
    std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
    header.major_version = kFormatMajor;
    header.minor_version = kFormatMinor;
    put({reinterpret_cast<const char*>(&header), sizeof(header)});
    proto::SessionStart start;
    start.set_epoch(kEpoch);
    start.set_utc_epoch(1'790'000'000'000'000'000);
    start.set_lanescope_version("0.1.0");
    add(proto::FRAME_SESSION_START, start, 0);
    proto::ProcessStart process;
    process.set_pid(4242);
    process.set_time(kEpoch);
    process.set_executable("/bin/program");
    add(proto::FRAME_PROCESS_START, process);
  }
  ~FileOfFrames() {
    if (has_index_) return;
    proto::SessionEnd end;
    end.set_time(1'000'000'000);
    end.set_reason(proto::END_TARGET_EXITED);
    add(proto::FRAME_SESSION_END, end, 0);
  }
  FileOfFrames(const FileOfFrames&) = delete;
  FileOfFrames& operator=(const FileOfFrames&) = delete;

  [[nodiscard]] bool is_full() const { return bytes_ + 256 >= most_bytes_; }
  [[nodiscard]] std::uint64_t position() const { return bytes_; }
  [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }

  template <typename Message>
  void add(int type, const Message& message, std::uint32_t process = kProcess, int source = 0, std::uint32_t events = 0) {
    add_payload(type, message.SerializeAsString(), process, source, events);
  }
  void add_payload(int type, const std::string& payload, std::uint32_t process = kProcess, int source = 0, std::uint32_t events = 0) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = process;
    header.source = static_cast<std::uint8_t>(source);
    header.event_count = events;
    std::vector<std::byte> frame;
    append_frame(header, payload, frame);
    put({reinterpret_cast<const char*>(frame.data()), frame.size()});
  }
  // The same frame until the file is full.
  void fill_with(int type, const std::string& payload, std::uint32_t events = 0) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = kProcess;
    header.event_count = events;
    std::vector<std::byte> frame;
    append_frame(header, payload, frame);
    do put({reinterpret_cast<const char*>(frame.data()), frame.size()});
    while (bytes_ + frame.size() < most_bytes_);
  }
  template <typename Message>
  void fill_with(int type, const Message& message) {
    fill_with(type, message.SerializeAsString());
  }
  // The index, and with it the end of the file.
  void add_index(const std::vector<std::string>& payloads) {
    FileTrailer trailer{};
    trailer.index_offset = bytes_;
    std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
    for (const std::string& payload : payloads) add_payload(proto::FRAME_INDEX, payload, 0);
    put({reinterpret_cast<const char*>(&trailer), sizeof(trailer)});
    has_index_ = true;
  }
  void put(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes_ += bytes.size();
  }

 private:
  std::ofstream file_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  bool has_index_ = false;
};

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number > 127; number >>= 7) bytes += static_cast<char>((number & 127) | 128);
  return bytes + static_cast<char>(number);
}
std::string field(std::uint32_t number, std::string_view content) { return varint(number << 3 | 2) + varint(content.size()).append(content); }
std::string number_field(std::uint32_t number, std::uint64_t value) { return varint(number << 3) + varint(value); }

// The payload of a chunk: columns of `rows` zeros.
std::string zeros(std::uint32_t events_field, std::initializer_list<std::uint32_t> columns, std::size_t rows, std::size_t width = 1) {
  std::string events;
  for (const std::uint32_t column : columns) events += field(column, std::string(rows * width, '\0'));
  return number_field(proto::EventChunk::kBaseTimeFieldNumber, 2'000) + field(events_field, events);
}

template <typename Column, typename Value>
void repeat(Column& column, Value value, std::size_t times = kRows) {
  column.Clear();
  column.Resize(static_cast<int>(times), value);
}
template <typename Column>
void count_up(Column& column, std::uint64_t from, std::size_t times = kRows) {
  column.Clear();
  for (std::size_t i = 0; i < times; ++i) column.Add(static_cast<typename Column::value_type>(from + i));
}

proto::EventChunk chunk_at(std::int64_t time) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + time);
  return chunk;
}

// Kernels one behind the other, each of 1 ns.
proto::Kernels& kernels_in(proto::EventChunk& chunk, std::size_t rows = kRows) {
  proto::Kernels& kernels = *chunk.mutable_kernels();
  repeat(*kernels.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*kernels.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*kernels.mutable_name(), 0u, rows);
  repeat(*kernels.mutable_queue(), 0u, rows);
  repeat(*kernels.mutable_correlation_delta(), std::int64_t{0}, rows);
  repeat(*kernels.mutable_shape(), 0u, rows);
  return kernels;
}
proto::NvtxRanges& ranges_in(proto::EventChunk& chunk, proto::NvtxStyle style, std::size_t rows = kRows) {
  proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
  ranges.set_thread(5);
  ranges.set_style(style);
  repeat(*ranges.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*ranges.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*ranges.mutable_name(), 0u, rows);
  if (style == proto::NVTX_PUSH_POP) repeat(*ranges.mutable_depth(), 0u, rows);
  return ranges;
}
proto::ApiCalls& calls_in(proto::EventChunk& chunk, std::size_t rows = kRows) {
  proto::ApiCalls& calls = *chunk.mutable_api_calls();
  calls.set_thread(5);
  repeat(*calls.mutable_start_delta(), std::int64_t{2}, rows);
  repeat(*calls.mutable_duration(), std::uint64_t{1}, rows);
  repeat(*calls.mutable_name(), 0u, rows);
  repeat(*calls.mutable_correlation_delta(), std::int64_t{0}, rows);
  return calls;
}

// Chunks that follow each other, made by `make(chunk)`, until the file is full. Each is `span` ns behind the one before.
template <typename Make>
void fill_with_chunks(FileOfFrames& file, std::int64_t span, Make make) {
  for (std::int64_t time = 0; !file.is_full(); time += span) {
    proto::EventChunk chunk = chunk_at(time);
    make(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
template <typename Make>
void fill_with_resources(FileOfFrames& file, Make make, std::uint32_t process = kProcess) {
  constexpr std::uint32_t kEntriesOfFrame = 20'000;
  for (std::uint32_t next = 1; !file.is_full();) {
    proto::Resources resources;
    for (std::uint32_t i = 0; i < kEntriesOfFrame; ++i) make(resources, next++);
    file.add(proto::FRAME_RESOURCES, resources, process);
  }
}

using Path = std::filesystem::path;
constexpr std::int64_t kChunkSpan = 2 * static_cast<std::int64_t>(kRows) + 2;

// ---- columns of zeros

constexpr std::size_t kHugeColumns = 60u << 20;

template <std::uint32_t events, std::uint32_t... columns>
void huge_zero_columns(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(events, {columns...}, kHugeColumns / sizeof...(columns)), kRows);
}
template <std::uint32_t events, std::uint32_t... columns>
void zero_columns(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(events, {columns...}, kRows), kRows);
}
void zero_memory_usage(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, zeros(31, {1, 2, 3, 4, 5, 6, 7}, kRows), kRows);
}
void zero_counters(const Path& path, std::size_t bytes) {
  constexpr std::uint32_t kCounters = 100;
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 1; i <= kCounters; ++i) {
    resources.add_counters()->set_id(i);
    resources.mutable_counters(static_cast<int>(i) - 1)->set_name("counter " + std::to_string(i));
  }
  file.add(proto::FRAME_RESOURCES, resources);
  for (std::int64_t time = 0; !file.is_full(); time += static_cast<std::int64_t>(kRows)) {
    proto::EventChunk chunk = chunk_at(time);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    repeat(*samples.mutable_time_delta(), std::int64_t{1});
    samples.set_time_delta(0, 0);
    samples.set_last_duration(1);
    for (std::uint32_t i = 1; i <= kCounters; ++i) {
      samples.add_counter(i);
      repeat(*samples.add_columns()->mutable_value_delta(), std::int64_t{0});
    }
    file.add(proto::FRAME_EVENTS, chunk);
  }
}
void many_counter_columns(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string empty_columns;
  for (std::size_t i = 0; i < (std::size_t{20} << 20); ++i) empty_columns += std::string_view("\x1a\0", 2);
  file.fill_with(proto::FRAME_EVENTS, number_field(1, 2'000) + field(30, field(2, std::string_view("\0", 1)) + empty_columns), kRows);
}

// ---- entries of nothing

void empty_texts(const Path& path, std::size_t bytes) {
  std::string texts = number_field(proto::EventChunk::kFirstStringFieldNumber, 1);
  while (texts.size() < kHugeColumns) texts += std::string_view("\x1a\0", 2);
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, texts);
}
template <std::uint32_t first_field, std::uint32_t entry_field>
void empty_entries(const Path& path, std::size_t bytes) {
  std::string entries = number_field(first_field, 1);
  while (entries.size() < (4u << 20)) entries += field(entry_field, "");
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, entries);
}
void unknown_frames(const Path& path, std::size_t bytes) { FileOfFrames(path, bytes).fill_with(99, std::string(64u << 20, '\0')); }
void unknown_fields(const Path& path, std::size_t bytes) {
  std::string fields;
  while (fields.size() < kHugeColumns) fields += field(99, "");
  FileOfFrames(path, bytes).fill_with(proto::FRAME_EVENTS, fields);
}

// ---- damage that looks like frames

void false_magic(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  while (!file.is_full()) {
    FrameHeader header;
    header.type = proto::FRAME_EVENTS;
    header.stored_size = static_cast<std::uint32_t>(std::min<std::size_t>(64u << 20, bytes - file.position() - 200));
    header.raw_size = header.stored_size;
    file.put({reinterpret_cast<const char*>(&header), 16});
  }
}
void false_magic_between_frames(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  while (!file.is_full()) {
    for (int i = 0; i < 20; ++i) {
      FrameHeader header;
      header.type = proto::FRAME_EVENTS;
      header.stored_size = header.raw_size = static_cast<std::uint32_t>(bytes / 2);
      file.put({reinterpret_cast<const char*>(&header), 16});
    }
    file.add(proto::FRAME_DIAGNOSTIC, proto::Diagnostic());
  }
}

// ---- overlaps, and events that come late

void overlapping_kernels(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) { repeat(*kernels_in(chunk).mutable_duration(), std::uint64_t{1} << 40); });
}
void overlapping_calls(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) { repeat(*calls_in(chunk).mutable_duration(), std::uint64_t{1} << 40); });
}
void open_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) {
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_START_END);
    repeat(*ranges.mutable_duration(), std::uint64_t{1} << 40);
    count_up(*ranges.mutable_unfinished(), 0);
  });
}
void overlapping_at_one_depth(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan,
                   [](proto::EventChunk& chunk) { repeat(*ranges_in(chunk, proto::NVTX_PUSH_POP).mutable_duration(), std::uint64_t{1} << 40); });
}
void deep_ranges_of_many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t domain = 1; !file.is_full(); ++domain) {
    proto::EventChunk chunk = chunk_at(0);
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, 1);
    ranges.set_domain(domain);
    ranges.set_depth(0, 100'000);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
// Frames, each before the one before.
template <typename Make>
void fill_with_falling_chunks(FileOfFrames& file, Make make) {
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 1'000) {
    proto::EventChunk chunk = chunk_at(time);
    make(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
void falling_marks(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_falling_chunks(file, [](proto::EventChunk& chunk) {
    chunk.mutable_nvtx_marks()->set_thread(5);
    chunk.mutable_nvtx_marks()->add_time_delta(0);
    chunk.mutable_nvtx_marks()->add_name(0);
  });
}
void falling_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_falling_chunks(file, [](proto::EventChunk& chunk) { ranges_in(chunk, proto::NVTX_PUSH_POP, 1); });
}
void falling_ranges_of_one_chunk_each(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 2 * kChunkSpan) {
    proto::EventChunk chunk = chunk_at(time);
    ranges_in(chunk, proto::NVTX_PUSH_POP);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
void falling_kernels(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t time = std::int64_t{1} << 40; !file.is_full(); time -= 2 * kChunkSpan) {
    proto::EventChunk chunk = chunk_at(time);
    kernels_in(chunk);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kRows);
  }
}
void kernels_in_turn_at_begin_and_end(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::int64_t i = 0; !file.is_full(); ++i) {
    proto::EventChunk chunk = chunk_at((i % 2 == 0 ? i : -i) * 10 + (std::int64_t{1} << 30));
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}

// ---- things that events are on, and their names

void many_streams(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kStreams = 8'192;
    chunk.set_first_queue(next);
    for (std::uint32_t i = 0; i < kStreams; ++i) chunk.add_queues()->set_stream(next + i);
    proto::Kernels& kernels = kernels_in(chunk, kStreams);
    kernels.clear_queue();
    count_up(*kernels.mutable_queue(), next, kStreams);
    next += kStreams;
  });
}
void many_devices_of_events(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kDevices = 8'192;
    chunk.set_first_queue(next);
    for (std::uint32_t i = 0; i < kDevices; ++i) chunk.add_queues()->set_device(next + i);
    proto::Kernels& kernels = kernels_in(chunk, kDevices);
    kernels.clear_queue();
    count_up(*kernels.mutable_queue(), next, kDevices);
    next += kDevices;
  });
}
void many_stream_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) {
    resources.add_streams()->set_id(i);
    resources.mutable_streams(resources.streams_size() - 1)->set_name("s");
  });
}
void many_devices(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_devices()->set_id(i); });
}
void many_gpus(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) {
    proto::Device& device = *resources.add_devices();
    device.set_id(0);
    std::string uuid(16, 'u');
    std::memcpy(uuid.data(), &i, sizeof(i));
    device.set_uuid(uuid);
    device.set_name("GPU");
  }, 0);
}
void many_contexts(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_contexts()->set_id(i); });
}
void many_cuda_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) {
    resources.add_cuda_names()->set_id(i);
    resources.mutable_cuda_names(resources.cuda_names_size() - 1)->set_resource(proto::CUDA_RESOURCE_EVENT);
  });
}
void many_named_cuda_events(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    resources.add_cuda_names()->set_id(i);
    resources.mutable_cuda_names(resources.cuda_names_size() - 1)->set_resource(proto::CUDA_RESOURCE_EVENT);
  }
  file.add(proto::FRAME_RESOURCES, resources);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) {
    proto::CudaEvents& events = *chunk.mutable_cuda_events();
    repeat(*events.mutable_time_delta(), std::int64_t{1});
    repeat(*events.mutable_queue(), 0u);
    repeat(*events.mutable_event(), 19'999u);
    repeat(*events.mutable_record(), std::uint64_t{0});
    repeat(*events.mutable_correlation_delta(), std::int64_t{0});
  });
}
void many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_nvtx_domains()->set_id(i); });
}
void ranges_of_many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t domain = 1; !file.is_full(); ++domain) {
    proto::Resources resources;
    resources.add_nvtx_domains()->set_id(domain);
    resources.mutable_nvtx_domains(0)->set_name("d");
    file.add(proto::FRAME_RESOURCES, resources);
    proto::EventChunk chunk = chunk_at(domain);
    ranges_in(chunk, proto::NVTX_PUSH_POP, 1).set_domain(domain);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
void many_categories(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_nvtx_categories()->set_id(i); });
}
void many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_threads()->set_id(i); });
}
void calls_of_many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kThreads = 8'192;
    proto::Spans& spans = *chunk.mutable_os_runtime();
    repeat(*spans.mutable_start_delta(), std::int64_t{2}, kThreads);
    repeat(*spans.mutable_duration(), std::uint64_t{1}, kThreads);
    repeat(*spans.mutable_name(), 0u, kThreads);
    count_up(*spans.mutable_thread(), next, kThreads);
    next += kThreads;
  });
}
void many_processes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t process = 2; !file.is_full(); ++process) {
    proto::EventChunk chunk = chunk_at(process);
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, process, 0, 1);
  }
}
void many_sources(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t i = 0; !file.is_full(); ++i) {
    proto::Resources resources;
    resources.add_counters()->set_id(65'535);
    file.add(proto::FRAME_RESOURCES, resources, 2 + i / 256, static_cast<int>(i % 256));
  }
}
void many_counters(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (int source = 0; source < 256 && !file.is_full(); ++source) {
    proto::Resources resources;
    for (std::uint32_t i = 1; i < 20'000; ++i) {
      proto::Counter& counter = *resources.add_counters();
      counter.set_id(i);
      counter.set_name(std::to_string(source) + " " + std::to_string(i));
    }
    file.add(proto::FRAME_RESOURCES, resources, kProcess, source);
  }
}
void samples_of_many_counters(const Path& path, std::size_t bytes) {
  constexpr std::uint32_t kCounters = 60'000;
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 1; i <= kCounters; ++i) {
    resources.add_counters()->set_id(i);
    resources.mutable_counters(static_cast<int>(i) - 1)->set_name(std::to_string(i));
  }
  file.add(proto::FRAME_RESOURCES, resources);
  for (std::int64_t time = 0; !file.is_full(); time += 10) {
    proto::EventChunk chunk = chunk_at(time);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    samples.add_time_delta(0);
    samples.set_last_duration(5);
    for (std::uint32_t i = 1; i <= kCounters; ++i) {
      samples.add_counter(i);
      samples.add_columns()->add_value_delta(time);
    }
    file.add(proto::FRAME_EVENTS, chunk);
  }
}
void states_on_many_processors(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kProcessors = 8'192;
    proto::ThreadStates& states = *chunk.mutable_thread_states();
    states.set_thread(5);
    repeat(*states.mutable_start_delta(), std::int64_t{2}, kProcessors);
    repeat(*states.mutable_duration(), std::uint64_t{1}, kProcessors);
    repeat(*states.mutable_state(), 1u, kProcessors);
    count_up(*states.mutable_processor(), next, kProcessors);
    next += kProcessors;
  });
}

// ---- dictionaries

void growing_ids(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint64_t source = 0; !file.is_full(); ++source) {
    for (std::uint32_t id = 1; id != 0 && id < (1u << 31); id *= 2) {
      proto::EventChunk chunk;
      chunk.set_first_string(id);
      chunk.add_strings("s");
      chunk.set_first_shape(id);
      chunk.add_launch_shapes();
      chunk.set_first_queue(id);
      chunk.add_queues();
      chunk.set_first_copy_shape(id);
      chunk.add_copy_shapes();
      chunk.set_first_kernel_name(id);
      chunk.add_kernel_names();
      chunk.set_first_code_location(id);
      chunk.add_code_locations();
      chunk.set_first_call_node(id);
      chunk.add_call_nodes();
      file.add(proto::FRAME_EVENTS, chunk, static_cast<std::uint32_t>(1 + source / 256), static_cast<int>(source % 256));
    }
  }
}
void kernels_of_many_dictionaries(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t i = 0; !file.is_full(); ++i) {
    proto::EventChunk chunk = chunk_at(i);
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, 1 + i / 256, static_cast<int>(i % 256), 1);
  }
}
void distinct_texts(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t next = 1; !file.is_full();) {
    proto::EventChunk chunk;
    chunk.set_first_string(next);
    for (int i = 0; i < 200'000; ++i) chunk.add_strings(std::to_string(next++));
    file.add(proto::FRAME_EVENTS, chunk);
  }
}
void ranges_of_distinct_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(next);
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP);
    ranges.clear_name();
    count_up(*ranges.mutable_name(), next);
    for (std::size_t i = 0; i < kRows; ++i) chunk.add_strings(std::to_string(next++));
  });
}
void long_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(next);
    chunk.add_strings(std::string(7u << 20, 'n') + std::to_string(next));
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, 1);
    ranges.set_name(0, next++);
  });
}
void distinct_graph_nodes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [&, next = std::int64_t{1}](proto::EventChunk& chunk) mutable {
    proto::Kernels& kernels = kernels_in(chunk);
    repeat(*kernels.mutable_graph_node_delta(), std::int64_t{1});
    kernels.set_graph_node_delta(0, next);
    next += static_cast<std::int64_t>(kRows);
  });
}
void distinct_allocations(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_chunks(file, kChunkSpan, [&, next = std::int64_t{1}](proto::EventChunk& chunk) mutable {
    proto::MemoryUsage& usage = *chunk.mutable_memory_usage();
    repeat(*usage.mutable_time_delta(), std::int64_t{1});
    repeat(*usage.mutable_operation(), 1u);
    repeat(*usage.mutable_address_delta(), std::int64_t{8});
    usage.set_address_delta(0, next);
    repeat(*usage.mutable_bytes(), std::uint64_t{1});
    repeat(*usage.mutable_memory_kind(), 3u);
    repeat(*usage.mutable_queue(), 0u);
    repeat(*usage.mutable_correlation_delta(), std::int64_t{0});
    next += 8 * static_cast<std::int64_t>(kRows);
  });
}

// `level` types that each hold the one before twice.
std::string nested_types(int level, const std::string& before) {
  const auto reference = [](int number) {
    if (number == 0) return std::string("S_");
    std::string digits;
    for (--number; digits.empty() || number > 0; number /= 36) digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
    return "S" + digits + "_";
  };
  std::string mangled = "_Z1f" + before + "1aIiiE";
  for (int i = 1; i <= level; ++i) mangled += "S_I" + reference(i) + reference(i) + "E";
  return mangled;
}
void kernels_named(const Path& path, std::size_t bytes, const std::string& suffix, std::string (*name)(const std::string&)) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kNames = 1'000;
    chunk.set_first_string(next);
    proto::Kernels& kernels = kernels_in(chunk, kNames);
    kernels.clear_name();
    count_up(*kernels.mutable_name(), next, kNames);
    for (std::size_t i = 0; i < kNames; ++i) {
      const std::string number = std::to_string(next++);
      chunk.add_strings(name(std::to_string(number.size() + 1) + "n" + number + suffix));
    }
  });
}
void names_that_grow_when_demangled(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) { return nested_types(60, "") + type; });
}
void names_that_are_searched_for_packs(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) {
    std::string name = nested_types(60, "");
    return name.insert(name.find("1aIiiE"), "Dp") + type;
  });
}
void long_mangled_names(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) { return "_Z1f" + std::string(800, 'P') + type; });
}

// ---- calls and their chains

void one_correlation_id(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t time = 0;
  while (!file.is_full()) {
    proto::EventChunk calls = chunk_at(time);
    calls_in(calls).set_correlation_delta(0, 7);
    file.add(proto::FRAME_EVENTS, calls, kProcess, 0, kRows);
    proto::EventChunk kernels = chunk_at(time);
    kernels_in(kernels).set_correlation_delta(0, 7);
    file.add(proto::FRAME_EVENTS, kernels, kProcess, 0, kRows);
    time += kChunkSpan;
  }
}
void falling_correlation_ids(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t time = 0;
  for (std::int64_t first = std::int64_t{1} << 31; !file.is_full(); first -= static_cast<std::int64_t>(kRows)) {
    proto::EventChunk calls = chunk_at(time);
    repeat(*calls_in(calls).mutable_correlation_delta(), std::int64_t{-1});
    calls.mutable_api_calls()->set_correlation_delta(0, first);
    file.add(proto::FRAME_EVENTS, calls, kProcess, 0, kRows);
    proto::EventChunk kernels = chunk_at(time);
    repeat(*kernels_in(kernels).mutable_correlation_delta(), std::int64_t{-1});
    kernels.mutable_kernels()->set_correlation_delta(0, first);
    file.add(proto::FRAME_EVENTS, kernels, kProcess, 0, kRows);
    time += kChunkSpan;
  }
}
// Samples of one call chain of `depth` calls each, the chains of a chunk longer than those before.
void deep_call_chains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    chunk.set_first_string(1);
    chunk.add_strings("f");
    chunk.set_first_code_location(1);
    chunk.add_code_locations()->set_function(1);
    chunk.set_first_call_node(next);
    for (std::size_t i = 0; i < kRows; ++i, ++next) {
      proto::CallNode& call = *chunk.add_call_nodes();
      call.set_parent(next - 1);
      call.set_location(1);
    }
    proto::Samples& samples = *chunk.mutable_samples();
    samples.set_thread(5);
    samples.set_period(1'000);
    repeat(*samples.mutable_time_delta(), std::int64_t{2});
    count_up(*samples.mutable_call_node(), next - kRows);
  });
}
void functions_of_one_location(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::EventChunk chunk;
  chunk.set_first_string(1);
  chunk.add_strings("f");
  for (std::uint32_t i = 1; i <= 1'000; ++i) chunk.add_code_locations()->set_address(i);
  chunk.set_first_code_location(1);
  file.add(proto::FRAME_EVENTS, chunk);
  proto::Symbols symbols;
  for (std::uint32_t location = 1; location <= 2; ++location) {
    proto::LocationSymbol& symbol = *symbols.add_locations();
    symbol.set_location(location);
    for (int i = 0; i < 250'000; ++i) symbol.add_functions()->set_function(1);
  }
  file.fill_with(proto::FRAME_SYMBOLS, symbols);
}

// ---- messages

void long_output(const Path& path, std::size_t bytes) {
  proto::Output output;
  output.set_time(kEpoch);
  output.set_data(std::string(7u << 20, 'x'));
  FileOfFrames(path, bytes).fill_with(proto::FRAME_OUTPUT, output);
}
void many_messages(const Path& path, std::size_t bytes) {
  FileOfFrames(path, bytes).fill_with(proto::FRAME_DIAGNOSTIC, proto::Diagnostic());
}
void many_arguments(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::ProcessStart start;
  for (int i = 0; i < 300'000; ++i) start.add_arguments("");
  const std::string payload = start.SerializeAsString();
  for (std::uint32_t process = 2; !file.is_full(); ++process) file.add_payload(proto::FRAME_PROCESS_START, payload, process);
}

// ---- index and outline

void index_that_repeats_a_frame(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  const std::uint64_t frame = file.position();
  std::string noise(bytes / 2, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1'664'525u + 1'013'904'223u) >> 24);
  proto::Resources resources;
  resources.add_threads()->set_name(noise);
  file.add(proto::FRAME_RESOURCES, resources);
  proto::EventChunk chunk = chunk_at(0);
  kernels_in(chunk, 1);
  file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  const std::uint64_t outline_at = file.position();
  proto::Outline outline;
  outline.set_bucket_length(1'000);
  file.add(proto::FRAME_OUTLINE, outline, 0);
  proto::Index index;
  for (int i = 0; i < 100'000; ++i) {
    proto::IndexEntry& entry = *index.add_entries();
    entry.set_offset(frame);
    entry.set_type(proto::FRAME_RESOURCES);
  }
  index.add_entries()->set_offset(outline_at);
  index.mutable_entries(100'000)->set_type(proto::FRAME_OUTLINE);
  file.add_index({index.SerializeAsString()});
}
void index_of_empty_entries(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string entries;
  while (entries.size() < kHugeColumns) entries += std::string_view("\x0a\0", 2);
  std::vector<std::string> frames(std::max<std::size_t>(1, bytes / 8'192), entries);
  if (frames.size() > 40) frames.resize(40);
  file.add_index(frames);
}
void outline_of_deep_lanes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::vector<std::uint64_t> outlines;
  proto::Outline outline;
  outline.set_bucket_length(1'000);
  outline.set_begin(kEpoch);
  outline.add_names("n");
  for (std::uint32_t i = 0; i < bytes / 40; ++i) {
    proto::OutlineLane& lane = *outline.add_lanes();
    lane.set_track_kind(4);
    lane.set_process(1);
    lane.set_thread(i + 1);
    lane.set_depth(511);
    lane.add_bucket_delta(1);
    lane.add_busy(1);
    lane.add_name(0);
  }
  const std::uint64_t at = file.position();
  file.add(proto::FRAME_OUTLINE, outline, 0);
  proto::Index index;
  index.add_entries()->set_offset(at);
  index.mutable_entries(0)->set_type(proto::FRAME_OUTLINE);
  index.mutable_entries(0)->set_stored_size(static_cast<std::uint32_t>(file.position() - at - sizeof(FrameHeader)));
  file.add_index({index.SerializeAsString()});
}

}  // namespace

const std::vector<HostileFile>& hostile_files() {
  using Chunk = proto::EventChunk;
  static const std::vector<HostileFile> files = {
      {"huge_zero_kernels", &huge_zero_columns<Chunk::kKernelsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"huge_zero_copies", &huge_zero_columns<Chunk::kCopiesFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"huge_zero_ranges", &huge_zero_columns<Chunk::kNvtxRangesFieldNumber, 4, 5, 6, 7>},
      {"huge_zero_calls", &huge_zero_columns<Chunk::kApiCallsFieldNumber, 3, 4, 5, 6>},
      {"zero_kernels", &zero_columns<Chunk::kKernelsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_copies", &zero_columns<Chunk::kCopiesFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_sets", &zero_columns<Chunk::kSetsFieldNumber, 1, 2, 3, 4, 5, 6, 7>},
      {"zero_calls", &zero_columns<Chunk::kApiCallsFieldNumber, 3, 4, 5, 6>},
      {"zero_synchronizations", &zero_columns<Chunk::kSynchronizationsFieldNumber, 1, 2, 3, 4, 5, 6>},
      {"zero_graph_launches", &zero_columns<Chunk::kGraphLaunchesFieldNumber, 1, 2, 3, 4, 5>},
      {"zero_ranges", &zero_columns<Chunk::kNvtxRangesFieldNumber, 4, 5, 6, 7>},
      {"zero_marks", &zero_columns<Chunk::kNvtxMarksFieldNumber, 3, 4>},
      {"zero_spans", &zero_columns<Chunk::kOsRuntimeFieldNumber, 1, 2, 3>},
      {"zero_states", &zero_columns<Chunk::kThreadStatesFieldNumber, 2, 3, 4>},
      {"zero_samples", &zero_columns<Chunk::kSamplesFieldNumber, 4, 5>},
      {"zero_memory_usage", &zero_memory_usage},
      {"zero_cuda_events", &zero_columns<Chunk::kCudaEventsFieldNumber, 1, 2, 3, 4, 5>},
      {"zero_counters", &zero_counters},
      {"many_counter_columns", &many_counter_columns},
      {"empty_texts", &empty_texts},
      {"empty_shapes", &empty_entries<Chunk::kFirstShapeFieldNumber, Chunk::kLaunchShapesFieldNumber>},
      {"empty_queues", &empty_entries<Chunk::kFirstQueueFieldNumber, Chunk::kQueuesFieldNumber>},
      {"empty_locations", &empty_entries<Chunk::kFirstCodeLocationFieldNumber, Chunk::kCodeLocationsFieldNumber>},
      {"empty_call_nodes", &empty_entries<Chunk::kFirstCallNodeFieldNumber, Chunk::kCallNodesFieldNumber>},
      {"unknown_frames", &unknown_frames},
      {"unknown_fields", &unknown_fields},
      {"false_magic", &false_magic},
      {"false_magic_between_frames", &false_magic_between_frames},
      {"overlapping_kernels", &overlapping_kernels},
      {"overlapping_calls", &overlapping_calls},
      {"open_ranges", &open_ranges},
      {"overlapping_at_one_depth", &overlapping_at_one_depth},
      {"deep_ranges_of_many_domains", &deep_ranges_of_many_domains},
      {"falling_marks", &falling_marks},
      {"falling_ranges", &falling_ranges},
      {"falling_ranges_of_one_chunk_each", &falling_ranges_of_one_chunk_each},
      {"falling_kernels", &falling_kernels},
      {"kernels_in_turn_at_begin_and_end", &kernels_in_turn_at_begin_and_end},
      {"many_streams", &many_streams},
      {"many_devices_of_events", &many_devices_of_events},
      {"many_stream_names", &many_stream_names},
      {"many_devices", &many_devices},
      {"many_gpus", &many_gpus},
      {"many_contexts", &many_contexts},
      {"many_cuda_names", &many_cuda_names},
      {"many_named_cuda_events", &many_named_cuda_events},
      {"many_domains", &many_domains},
      {"ranges_of_many_domains", &ranges_of_many_domains},
      {"many_categories", &many_categories},
      {"many_threads", &many_threads},
      {"calls_of_many_threads", &calls_of_many_threads},
      {"many_processes", &many_processes},
      {"many_sources", &many_sources},
      {"many_counters", &many_counters},
      {"samples_of_many_counters", &samples_of_many_counters},
      {"states_on_many_processors", &states_on_many_processors},
      {"growing_ids", &growing_ids},
      {"kernels_of_many_dictionaries", &kernels_of_many_dictionaries},
      {"distinct_texts", &distinct_texts},
      {"ranges_of_distinct_names", &ranges_of_distinct_names},
      {"long_names", &long_names},
      {"distinct_graph_nodes", &distinct_graph_nodes},
      {"distinct_allocations", &distinct_allocations},
      {"names_that_grow_when_demangled", &names_that_grow_when_demangled},
      {"names_that_are_searched_for_packs", &names_that_are_searched_for_packs},
      {"long_mangled_names", &long_mangled_names},
      {"one_correlation_id", &one_correlation_id},
      {"falling_correlation_ids", &falling_correlation_ids},
      {"deep_call_chains", &deep_call_chains},
      {"functions_of_one_location", &functions_of_one_location},
      {"long_output", &long_output},
      {"many_messages", &many_messages},
      {"many_arguments", &many_arguments},
      {"index_that_repeats_a_frame", &index_that_repeats_a_frame},
      {"index_of_empty_entries", &index_of_empty_entries},
      {"outline_of_deep_lanes", &outline_of_deep_lanes},
  };
  return files;
}

}  // namespace lanescope::test
