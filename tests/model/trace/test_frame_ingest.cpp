#include "model/trace/ingest/frame_ingest.h"

#include <limits>
#include <map>

#include "model/file/trace_file.h"
#include "model/trace/load.h"
#include "recording.h"
#include "support/catch.h"
#include "support/memory.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

proto::EventChunk two_kernels() {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + 500);
  chunk.set_first_string(1);
  chunk.add_strings("_Z4axpyPfif");
  chunk.set_first_shape(1);
  auto* shape = chunk.add_launch_shapes();
  shape->set_grid_x(256);
  shape->set_block_x(64);
  shape->set_registers_per_thread(16);
  chunk.set_first_queue(1);
  auto* queue = chunk.add_queues();
  queue->set_context(1);
  queue->set_stream(13);
  auto* kernels = chunk.mutable_kernels();
  for (const int delta : {100, 50}) {
    kernels->add_start_delta(delta);
    kernels->add_duration(20);
    kernels->add_name(1);
    kernels->add_queue(1);
    kernels->add_correlation_delta(11);
    kernels->add_shape(1);
  }
  kernels->add_unfinished(1);
  return chunk;
}

}  // namespace

TEST_CASE("a chunk of kernels becomes events with names, shapes and times since the epoch") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, two_kernels());
  const auto trace = recording.trace();
  REQUIRE(trace->tracks().size() == 1);
  const Track& track = trace->tracks()[0];
  CHECK(track.key.kind == TrackKind::kKernels);
  CHECK(track.key.stream == 13);
  const Lane& lane = trace->lane(track.lanes[0]);
  REQUIRE(lane.size() == 2);
  CHECK(lane.start(0) == 600);
  CHECK(lane.start(1) == 650);
  CHECK(lane.correlation(0) == 11);
  CHECK(lane.correlation(1) == 22);
  CHECK(trace->name(lane.name(0)) == "axpy(float*, int, float)");
  const KernelDetail& detail = trace->kernel_detail(lane.detail(0));
  CHECK(detail.grid[0] == 256);
  CHECK(detail.block[0] == 64);
  CHECK(detail.registers_per_thread == 16);
  CHECK(trace->name(detail.short_name) == "axpy");
  CHECK(trace->name(detail.mangled_name) == "_Z4axpyPfif");
  CHECK(detail.finished == Finished::kYes);
  CHECK(trace->kernel_detail(lane.detail(1)).finished == Finished::kNo);
  CHECK(trace->provenance().host_name == "gpu01");
}

TEST_CASE("a recording says what it was made on, and what was asked for") {
  proto::SessionStart start = Recording::usual_start();
  start.set_processor("AMD EPYC 9454 48-Core Processor");
  start.set_processor_count(16);
  start.set_driver_version("580.65.06");
  proto::CaptureSettings& settings = *start.mutable_settings();
  settings.set_trace_cuda(true);
  settings.set_trace_nvtx(true);
  settings.set_preset(proto::PRESET_LIGHT);
  settings.set_kernels(proto::KERNEL_COLLECTION_PC_SAMPLES);
  settings.set_pc_sampling_period(15);
  settings.set_thread_states(proto::CPU_SCOPE_PROCESS_TREE);
  settings.set_cpu_samples(proto::CPU_SCOPE_SYSTEM_WIDE);
  settings.set_call_chains(proto::CALL_CHAINS_DWARF);
  settings.set_sampling_frequency(997);
  const auto trace = Recording(start).trace();
  const Provenance& from = trace->provenance();
  CHECK(processors_text(from) == "16, AMD EPYC 9454 48-Core Processor");
  CHECK(from.driver_version == "580.65.06");
  CHECK(from.options == "--preset=light --kernels=pc:period=15 --cpuctxsw=process-tree --sample=system-wide --backtrace=dwarf --sampling-frequency=997");

  start.set_options("--trace=cuda,nvtx,mpi");  // what the settings do not say
  CHECK(Recording(start).trace()->provenance().options == "--trace=cuda,nvtx,mpi " + from.options);

  proto::SessionStart nothing = Recording::usual_start();
  nothing.mutable_settings();
  CHECK(Recording(nothing).trace()->provenance().options == "--cpuctxsw=none --sample=none");
  CHECK(Recording().trace()->provenance().options.empty());  // unknown
  CHECK(processors_text(Recording().trace()->provenance()).empty());
}

TEST_CASE("each source of a process has a dictionary of its own") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, two_kernels());
  proto::EventChunk ranges;
  ranges.set_base_time(kEpoch);
  ranges.set_first_string(1);
  ranges.add_strings("step");
  auto* columns = ranges.mutable_nvtx_ranges();
  columns->set_thread(77);
  columns->add_start_delta(10);
  columns->add_duration(5);
  columns->add_name(1);
  columns->add_depth(0);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, ranges);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, [] {
    auto chunk = two_kernels();  // a later chunk that refers to the first one's entries
    chunk.clear_strings();
    chunk.clear_launch_shapes();
    chunk.clear_queues();
    chunk.set_base_time(kEpoch + 5'000);
    return chunk;
  }());
  const auto trace = recording.trace();
  REQUIRE(trace->event_count() == 5);
  for (const Track& track : trace->tracks()) {
    const Lane& lane = trace->lane(track.lanes[0]);
    for (EventIndex i = 0; i < lane.size(); ++i)
      CHECK(trace->name(lane.name(i)) == (track.key.kind == TrackKind::kKernels ? "axpy(float*, int, float)" : "step"));
  }
}

TEST_CASE("a chunk whose columns disagree is skipped whole and counted") {
  Recording recording;
  auto chunk = two_kernels();
  chunk.mutable_kernels()->add_duration(5);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, chunk);
  CHECK(recording.malformed() == 1);
  CHECK(recording.trace()->event_count() == 0);
}

TEST_CASE("senseless payloads and ids harm nothing") {
  Recording recording;
  recording.add_raw(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, "\xff\xff\xff not protobuf");
  auto chunk = two_kernels();
  chunk.set_first_string(0xffffffffu);  // the first of its strings uses up the ids
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, chunk);
  CHECK(recording.malformed() == 2);

  auto unknown = two_kernels();
  unknown.clear_strings();
  unknown.clear_launch_shapes();
  unknown.clear_queues();
  recording.add(proto::FRAME_EVENTS, 2, proto::SOURCE_AGENT, unknown);  // the chunk that defined its ids was lost
  CHECK(recording.malformed() == 2);
  CHECK(recording.trace()->event_count() == 2);
  recording.add_raw(static_cast<proto::FrameType>(900), 1, proto::SOURCE_AGENT, "from the future");
  CHECK(recording.malformed() == 2);
}

TEST_CASE("entries behind a gap that lost chunks left are found, and their ids cost no memory") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, two_kernels());
  auto later = two_kernels();
  constexpr std::uint32_t kFar = 10'000'000;  // 10 million launch shapes would take a gigabyte
  later.set_base_time(kEpoch + 9'000);
  later.set_first_shape(kFar);
  later.mutable_launch_shapes(0)->set_grid_x(7);
  later.set_first_string(kFar);
  later.set_strings(0, "_Z4gemmv");
  later.set_first_queue(kFar);
  for (auto* ids : {later.mutable_kernels()->mutable_shape(), later.mutable_kernels()->mutable_name(), later.mutable_kernels()->mutable_queue()})
    ids->Set(0, kFar);
  const std::size_t before = resident_bytes();
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, later);
  CHECK(resident_bytes() < before + (100u << 20));
  CHECK(recording.malformed() == 0);
  const auto trace = recording.trace();
  std::map<std::string, std::uint32_t> grids;
  for (const Track& track : trace->tracks())
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace->lane(lane).size(); ++i)
        grids[std::string(trace->name(trace->lane(lane).name(i)))] = trace->kernel_detail(trace->lane(lane).detail(i)).grid[0];
  CHECK(grids == std::map<std::string, std::uint32_t>{{"axpy(float*, int, float)", 256}, {"gemm()", 7}});
}

TEST_CASE("kinds that a newer recorder may write are unknown ones") {
  Recording recording;
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_copy_shape(1);
  auto* shape = chunk.add_copy_shapes();
  shape->set_kind(static_cast<proto::CopyKind>(200));
  shape->set_source_memory(static_cast<proto::MemoryKind>(-3));
  shape->set_destination_memory(proto::MEMORY_MANAGED_STATIC);
  auto* copies = chunk.mutable_copies();
  copies->add_start_delta(10);
  copies->add_duration(5);
  copies->add_bytes(64);
  copies->add_queue(0);
  copies->add_correlation_delta(1);
  copies->add_shape(1);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, chunk);
  proto::ProcessEnd end;
  end.set_kind(static_cast<proto::ProcessEndKind>(90));
  recording.add(proto::FRAME_PROCESS_END, 1, proto::SOURCE_SESSION, end);
  const auto trace = recording.trace();
  const Lane& lane = trace->lane(trace->tracks().at(0).lanes[0]);
  const MemoryDetail& detail = trace->memory_detail(lane.detail(0));
  CHECK(detail.copy_kind == CopyKind::kUnknown);
  CHECK(detail.source_memory == MemoryKind::kUnknown);
  CHECK(detail.destination_memory == MemoryKind::kManagedStatic);
  CHECK(trace->processes()[0].end_kind == ProcessEndKind::kUnknown);
}

TEST_CASE("times that no recording has are counted as invalid, whatever counters say later") {
  Recording recording;
  auto chunk = two_kernels();
  chunk.mutable_kernels()->set_start_delta(1, std::numeric_limits<std::int64_t>::max());
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, chunk);
  auto endless = two_kernels();
  endless.set_base_time(kEpoch + 5'000);
  endless.mutable_kernels()->set_duration(1, std::uint64_t{1} << 62);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, endless);
  proto::Counters counters;
  counters.set_produced(4);
  counters.set_invalid(10);
  recording.add(proto::FRAME_COUNTERS, 1, proto::SOURCE_AGENT, counters);
  counters.set_invalid(11);
  recording.add(proto::FRAME_COUNTERS, 1, proto::SOURCE_AGENT, counters);
  const auto trace = recording.trace();
  CHECK(trace->event_count() == 2);
  CHECK(trace->extent() == TimeRange{600, 5'120});
  CHECK(trace->processes()[0].completeness.invalid == 13);
  CHECK(trace->processes()[0].completeness.produced == 4);
}

TEST_CASE("completeness adds up what the sources of a process last said") {
  Recording recording;
  proto::Counters counters;
  counters.set_produced(10);
  recording.add(proto::FRAME_COUNTERS, 1, proto::SOURCE_AGENT, counters);
  counters.set_produced(100);
  counters.set_dropped(3);
  recording.add(proto::FRAME_COUNTERS, 1, proto::SOURCE_AGENT, counters);
  counters.set_produced(7);
  counters.set_dropped(0);
  recording.add(proto::FRAME_COUNTERS, 1, proto::SOURCE_SESSION, counters);
  const Completeness total = recording.trace()->processes()[0].completeness;
  CHECK(total.produced == 107);
  CHECK(total.dropped == 3);
}

TEST_CASE("ids far beyond 2^24 stand for their texts") {
  Recording recording;
  constexpr std::uint32_t kFirst = 3'000'000'000u;
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(kFirst);
  chunk.add_strings("request 3,000,000,000");
  chunk.mutable_nvtx_marks()->set_thread(5);
  chunk.mutable_nvtx_marks()->add_time_delta(10);
  chunk.mutable_nvtx_marks()->add_name(kFirst);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, chunk);
  CHECK(recording.malformed() == 0);
  const auto trace = recording.trace();
  REQUIRE(trace->event_count() == 1);
  CHECK(trace->name(trace->lane(0).name(0)) == "request 3,000,000,000");
}

TEST_CASE("a chunk of more rows than a chunk may have is not understood") {
  Recording recording;
  const auto marks = [](int rows) {
    proto::EventChunk chunk;
    chunk.mutable_nvtx_marks()->mutable_time_delta()->Resize(rows, 0);
    chunk.mutable_nvtx_marks()->mutable_name()->Resize(rows, 0);
    return chunk;
  };
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, marks(65'536));
  CHECK(recording.malformed() == 0);
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, marks(65'537));
  CHECK(recording.malformed() == 1);
  CHECK(recording.trace()->event_count() == 65'536);
}

TEST_CASE("counters of the same names of GPUs without a UUID stay apart") {
  const bool says_which = GENERATE(false, true);  // older files lack the field for it
  Recording recording;
  proto::Resources resources;
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    resources.add_devices()->set_id(gpu);
    resources.mutable_devices(static_cast<int>(gpu))->set_name("GPU");
    proto::Counter& counter = *resources.add_counters();
    counter.set_id(gpu + 1);
    counter.set_name("SMs active");
    if (says_which) counter.set_gpu(gpu + 1);
  }
  recording.add(proto::FRAME_RESOURCES, 0, proto::SOURCE_GPU_METRICS, resources);
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    proto::EventChunk chunk;
    chunk.set_base_time(kEpoch);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    samples.add_counter(gpu + 1);
    samples.add_time_delta(5);
    samples.add_columns()->add_value_delta(40 + gpu);
    samples.set_last_duration(10);
    recording.add(proto::FRAME_EVENTS, 0, proto::SOURCE_GPU_METRICS, chunk);
  }
  CHECK(recording.malformed() == 0);
  const auto trace = recording.trace();
  REQUIRE(trace->counters().size() == 2);
  for (CounterId id = 0; id < 2; ++id) {
    REQUIRE(trace->counter_series(id).size() == 1);
    CHECK(trace->counter_series(id).sample(0).value == 40 + static_cast<std::int64_t>(id));
  }
}

TEST_CASE("a session that begins again has the labels that it says last") {
  Recording recording;
  proto::SessionStart start;
  start.set_epoch(kEpoch);
  start.add_labels()->set_key("run");
  for (int i = 0; i < 3; ++i) recording.add(proto::FRAME_SESSION_START, 0, proto::SOURCE_SESSION, start);
  CHECK(recording.trace()->provenance().labels.size() == 1);
}

TEST_CASE("what is told of processes and of the session counts as memory that the trace takes") {
  constexpr std::uint64_t kCopies = 2;  // in the builder, and in the trace that it makes
  constexpr std::size_t kLength = 10'000;
  Recording recording;
  proto::ProcessStart process;
  recording.add(proto::FRAME_PROCESS_START, 1, proto::SOURCE_SESSION, process);
  const std::uint64_t before = recording.memory_bytes();
  process.set_executable(std::string(kLength, 'x'));
  recording.add(proto::FRAME_PROCESS_START, 1, proto::SOURCE_SESSION, process);
  CHECK(recording.memory_bytes() - before >= 2 * kCopies * kLength);  // used as the executable, and as the process's name
  const std::uint64_t with_executable = recording.memory_bytes();
  proto::SessionStart session;
  session.set_epoch(kEpoch);
  session.add_labels()->set_value(std::string(kLength, 'x'));
  session.add_command(std::string(kLength, 'x'));
  recording.add(proto::FRAME_SESSION_START, 0, proto::SOURCE_SESSION, session);
  CHECK(recording.memory_bytes() - with_executable >= 2 * kCopies * kLength);
  const std::uint64_t with_session = recording.memory_bytes();
  recording.add(proto::FRAME_SESSION_START, 0, proto::SOURCE_SESSION, session);
  CHECK(recording.memory_bytes() == with_session);
}

TEST_CASE("recordings of long names, of very many short ones, and of long output, that differ in a few letters are read whole") {
  constexpr int kRanges = 1'000;
  const TemporaryFolder folder;
  const auto path = folder.path() / "names.trace";
  enum class Of { kLongNames, kShortNames, kOutput };
  const Of of = GENERATE(Of::kLongNames, Of::kShortNames, Of::kOutput);
  const bool of_output = of == Of::kOutput;
  const int chunks = of == Of::kShortNames ? 4'000 : 160;
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  const auto append = [&](proto::FrameType type, std::uint32_t events, const google::protobuf::MessageLite& message) {
    std::vector<std::byte> frame;
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.event_count = events;
    append_frame(header, message.SerializeAsString(), frame);
    REQUIRE(writer->append(frame));
  };
  proto::SessionStart start;
  start.set_epoch(kEpoch);
  append(proto::FRAME_SESSION_START, 0, start);
  const std::string letters(of == Of::kShortNames ? 0 : 1'000, 'n');
  std::uint64_t output_bytes = 0;
  for (int number = 0; number < chunks; ++number) {
    if (of_output) {
      proto::Output output;
      for (int i = 0; i < kRanges; ++i) *output.mutable_data() += std::to_string(number * kRanges + i) + letters + "\n";
      output_bytes += output.data().size();
      append(proto::FRAME_OUTPUT, 0, output);
      continue;
    }
    proto::EventChunk chunk;
    chunk.set_base_time(kEpoch + 2 * number * kRanges);
    chunk.set_first_string(1 + static_cast<std::uint32_t>(number * kRanges));
    proto::NvtxRanges& ranges = *chunk.mutable_nvtx_ranges();
    ranges.set_thread(5);
    for (int i = 0; i < kRanges; ++i) {
      chunk.add_strings(of == Of::kShortNames ? "n" : std::to_string(number * kRanges + i) + letters);
      ranges.add_start_delta(2);
      ranges.add_duration(1);
      ranges.add_name(1 + static_cast<std::uint32_t>(number * kRanges + i));
      ranges.add_depth(0);
    }
    append(proto::FRAME_EVENTS, kRanges, chunk);
  }
  REQUIRE(writer->finish());
  CHECK(std::filesystem::file_size(path) < (24u << 20));  // out of 160 MB
  const auto trace = load_trace(path);
  REQUIRE(trace);
  CHECK((*trace)->provenance().condition.empty());
  if (of != Of::kShortNames) CHECK((*trace)->memory_bytes() > chunks * kRanges * letters.size());
  if (!of_output) {
    CHECK((*trace)->event_count() == static_cast<std::uint64_t>(chunks) * kRanges);
    return;
  }
  std::uint64_t read = 0;
  for (const OutputText& text : (*trace)->output()) read += text.bytes.size();
  CHECK(read == output_bytes);
}
