#include "known_trace.h"

#include <span>
#include <stdexcept>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/load.h"
#include "model/trace/outline.h"

namespace lanescope::test {
namespace {

constexpr std::int64_t kEpoch = 7'000'000;  // ns
constexpr std::uint32_t kProcess = 1;
constexpr std::uint32_t kThread = 4712;

class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) : file_(create(path)) {}
  template <typename Message>
  void add(proto::FrameType type, proto::FrameSource source, const Message& message, std::uint32_t events = 0) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = type == proto::FRAME_SESSION_START || type == proto::FRAME_SESSION_END ? 0 : kProcess;
    header.source = static_cast<std::uint8_t>(source);
    header.event_count = events;
    std::vector<std::byte> bytes;
    append_frame(header, message.SerializeAsString(), bytes);
    if (!file_.append(bytes)) throw std::runtime_error("the known trace could not be written");
  }
  void append(std::span<const std::byte> frames) {
    if (!file_.append(frames)) throw std::runtime_error("the known trace could not be written");
  }
  void finish() {
    if (!file_.finish()) throw std::runtime_error("the known trace could not be finished");
  }

 private:
  static TraceFileWriter create(const std::filesystem::path& path) {
    auto file = TraceFileWriter::create(path, Overwrite::kAllow);
    if (!file) throw std::runtime_error(file.error().text);
    return std::move(*file);
  }
  TraceFileWriter file_;
};

std::int64_t kernel_start(std::size_t i, std::int64_t duration) {
  std::int64_t start = kFirstKernel;
  for (std::size_t k = 0; k < i; ++k) start += duration + kGaps[k];
  return start;
}

proto::EventChunk kernels(std::int64_t duration) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(1);
  chunk.add_strings("gemm");
  chunk.add_strings("relu");
  chunk.set_first_shape(1);
  auto* shape = chunk.add_launch_shapes();
  shape->set_grid_x(256);
  shape->set_grid_y(1);
  shape->set_grid_z(1);
  shape->set_block_x(128);
  shape->set_block_y(1);
  shape->set_block_z(1);
  shape->set_registers_per_thread(40);
  chunk.set_first_queue(1);
  auto* queue = chunk.add_queues();
  queue->set_context(1);
  queue->set_stream(7);
  auto* columns = chunk.mutable_kernels();
  for (std::size_t i = 0; i < kKernels; ++i) {
    columns->add_start_delta(i == 0 ? kernel_start(0, duration) : kernel_start(i, duration) - kernel_start(i - 1, duration));
    columns->add_duration(static_cast<std::uint64_t>(duration));
    columns->add_name(i % 2 + 1);
    columns->add_queue(1);
    columns->add_correlation_delta(1);
    columns->add_shape(1);
  }
  return chunk;
}

proto::EventChunk calls(std::int64_t duration) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(3);
  chunk.add_strings("cudaLaunchKernel_v7000");
  auto* columns = chunk.mutable_api_calls();
  columns->set_thread(kThread);
  for (std::size_t i = 0; i < kKernels; ++i) {
    columns->add_start_delta(i == 0 ? kernel_start(0, duration) - 15'000 : kernel_start(i, duration) - kernel_start(i - 1, duration));
    columns->add_duration(10'000);
    columns->add_name(3);
    columns->add_correlation_delta(1);
  }
  return chunk;
}

proto::EventChunk range(std::int64_t duration) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(1);
  chunk.add_strings("step");
  auto* columns = chunk.mutable_nvtx_ranges();
  columns->set_thread(kThread);
  columns->add_start_delta(100'000);
  columns->add_duration(static_cast<std::uint64_t>(kernel_start(kKernels - 1, duration) + duration));
  columns->add_name(1);
  columns->add_depth(0);
  return chunk;
}

// What stands in front of the events of every file: one process on one GPU.
void add_prologue(Writer& writer, std::uint32_t pid = 4711) {
  proto::SessionStart session;
  session.set_epoch(kEpoch);
  session.set_host_name("gpu01");
  writer.add(proto::FRAME_SESSION_START, proto::SOURCE_SESSION, session);
  proto::ProcessStart process;
  process.set_pid(pid);
  process.set_executable("/usr/bin/python");
  writer.add(proto::FRAME_PROCESS_START, proto::SOURCE_SESSION, process);
  proto::Resources resources;
  auto* device = resources.add_devices();
  device->set_name("NVIDIA H200");
  device->set_uuid("0123456789abcdef");
  resources.add_contexts()->set_id(1);
  writer.add(proto::FRAME_RESOURCES, proto::SOURCE_AGENT, resources);
}

void add_epilogue(Writer& writer, std::uint64_t produced) {
  proto::Counters counters;
  counters.set_produced(produced);
  writer.add(proto::FRAME_COUNTERS, proto::SOURCE_AGENT, counters);
  proto::ProcessEnd end;
  end.set_kind(proto::PROCESS_END_EXITED);
  writer.add(proto::FRAME_PROCESS_END, proto::SOURCE_SESSION, end);
  proto::SessionEnd session_end;
  session_end.set_reason(proto::END_TARGET_EXITED);
  writer.add(proto::FRAME_SESSION_END, proto::SOURCE_SESSION, session_end);
  writer.finish();
}

proto::EventChunk long_chunk(std::size_t number) {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + static_cast<std::int64_t>(number * kLongChunk) * kLongPeriod);
  if (number == 0) {
    chunk.set_first_string(1);
    chunk.add_strings("gemm");
    chunk.set_first_queue(1);
    auto* queue = chunk.add_queues();
    queue->set_context(1);
    queue->set_stream(7);
  }
  auto* columns = chunk.mutable_kernels();
  for (std::size_t i = 0; i < kLongChunk; ++i) {
    columns->add_start_delta(i == 0 ? 0 : kLongPeriod);
    columns->add_duration(kLongPeriod / 2);
    columns->add_name(1);
    columns->add_queue(1);
    columns->add_correlation_delta(1);
    columns->add_shape(0);
  }
  return chunk;
}

void write_chunks(const std::filesystem::path& path, std::size_t chunks, std::span<const std::byte> outline) {
  Writer writer(path);
  add_prologue(writer);
  for (std::size_t i = 0; i < chunks; ++i) writer.add(proto::FRAME_EVENTS, proto::SOURCE_AGENT, long_chunk(i), kLongChunk);
  if (!outline.empty()) writer.append(outline);
  add_epilogue(writer, chunks * kLongChunk);
}

}  // namespace

void write_known_trace(const std::filesystem::path& path, std::int64_t kernel_duration, std::uint32_t pid) {
  Writer writer(path);
  add_prologue(writer, pid);
  writer.add(proto::FRAME_EVENTS, proto::SOURCE_AGENT, kernels(kernel_duration), kKernels);
  writer.add(proto::FRAME_EVENTS, proto::SOURCE_AGENT, calls(kernel_duration), kKernels);
  writer.add(proto::FRAME_EVENTS, proto::SOURCE_SESSION, range(kernel_duration), 1);
  add_epilogue(writer, kEvents);
}

void write_long_trace(const std::filesystem::path& path, std::size_t chunks) {
  write_chunks(path, chunks, {});
  const auto trace = load_trace(path);
  if (!trace) throw std::runtime_error(trace.error().text);
  write_chunks(path, chunks, outline_frame(**trace));
}

}  // namespace lanescope::test
