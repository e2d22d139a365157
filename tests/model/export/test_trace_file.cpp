#include "model/export/trace_file_export.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "model/import/open_trace.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/stats/report.h"
#include "model/trace/combining/combine.h"
#include "model/trace/completeness.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "sample_trace.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/small_files.h"
#include "support/trace_text.h"
#include "trace/launches_of_part.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::shared_ptr<const Trace> saved_and_loaded(const Trace& trace, const ExportSelection& selection = {}) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "saved.trace";
  const auto written = export_trace_file(trace, path, Overwrite::kRefuse, selection);
  if (!written) FAIL(written.error().text);
  auto loaded = load_trace(path);
  if (!loaded) FAIL(loaded.error().text);
  return *loaded;
}

void require_same(const Trace& before, const Trace& after) {
  REQUIRE(difference(TraceText(before).events(), TraceText(after).events()).empty());
  REQUIRE(difference(TraceText(before).resources(), TraceText(after).resources()).empty());
}

}  // namespace

TEST_CASE("a trace that was saved loads as the same trace, event by event") {
  const auto trace = sample_trace();
  const auto loaded = saved_and_loaded(*trace);
  CHECK(difference(TraceText(*trace).events(), TraceText(*loaded).events()) == "");
  CHECK(difference(TraceText(*trace).resources(), TraceText(*loaded).resources()) == "");
  CHECK(loaded->extent() == trace->extent());
  CHECK(loaded->event_count() == trace->event_count());
  const Provenance& from = loaded->provenance();
  CHECK(from.format == "Some Format");
  CHECK(from.producer == "Some Tool 1.2");
  CHECK(from.host_name == "gpu01");
  CHECK(from.processor == "AMD EPYC 9454 48-Core Processor");
  CHECK(from.processor_count == 16);
  CHECK(from.driver_version == "580.65.06");
  CHECK(from.options == "--cpuctxsw=process-tree --sample=none");
  CHECK(from.command == std::vector<std::string>{"python", "train.py", "--fast"});
  CHECK(from.utc_epoch == trace->provenance().utc_epoch);
  CHECK(from.monotonic_epoch == trace->provenance().monotonic_epoch);
  CHECK(from.condition.empty());
  REQUIRE(loaded->diagnostics().size() == 1);
  CHECK(loaded->diagnostics()[0].text == "No driver answers.");
  CHECK(loaded->diagnostics()[0].time == 1'000);
}

TEST_CASE("a compacted file says what format its events came in, as a log does") {
  const TemporaryFolder folder;
  for (const FileForm form : {FileForm::kLog, FileForm::kCompacted}) {
    const auto path = folder.path() / ("form" + std::to_string(static_cast<int>(form)) + ".trace");
    REQUIRE(export_trace_file(*sample_trace(), path, Overwrite::kRefuse, {}, form));
    for (const EventPlace place : {EventPlace::kInMemory, EventPlace::kInFile}) {
      const auto trace = load_trace(path, {}, place);
      REQUIRE(trace);
      CHECK((*trace)->provenance().format == "Some Format");
      CHECK((*trace)->provenance().producer == "Some Tool 1.2");
    }
  }
}

TEST_CASE("saving what was loaded changes nothing") {
  const auto once = saved_and_loaded(*sample_trace());
  require_same(*once, *saved_and_loaded(*once));
}

TEST_CASE("tracks that need several chunks keep all their events") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 1;
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 1);
  std::vector<Event> calls;
  for (std::uint32_t i = 0; i < 200'000; ++i)
    calls.push_back({Nanoseconds{i} * 10, 5, builder.intern("call" + std::to_string(i % 300)), i, builder.intern(ApiDetail{ApiDomain(i % 3 == 0), i % 7})});
  builder.add(key, std::move(calls));
  const auto trace = builder.snapshot();
  require_same(*trace, *saved_and_loaded(*trace));
}

TEST_CASE("only events within the times that were asked for are saved") {
  ExportSelection selection;
  selection.window = TimeRange{1'950, 2'100};
  const auto part = saved_and_loaded(*sample_trace(), selection);
  // The range step, the first kernel and the wait lie in that time. The kernel's launch with the call within it, its call chain and the surrounding range
  // forward, which had ended by then, are kept with the kernel.
  std::vector<std::string> names;
  for (const Track& track : part->tracks())
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < part->lane(lane).size(); ++i) names.emplace_back(part->name(part->lane(lane).name(i)));
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"Backtrace of a CUDA call", "Backtrace of an OS call", "Blocked", "Running", "axpy(float*, int, float)",
                                          "cuLaunchKernel", "cudaLaunchKernel_v7000", "forward", "pthread_cond_wait", "python3 (4711)", "step"});
}

TEST_CASE("a part in which nothing happened is that part, and so is a part of it") {
  ExportSelection selection;
  selection.window = TimeRange{100'000, 200'000};
  const auto gap = saved_and_loaded(*sample_trace(), selection);
  CHECK(gap->event_count() == 0);
  REQUIRE(gap->provenance().part);
  CHECK(gap->provenance().part->time == *selection.window);
  CHECK(gap->scope() == *selection.window);
  CHECK(gap->provenance().condition.empty());
  CHECK(saved_and_loaded(*gap)->scope() == gap->scope());
  selection.window = TimeRange{150'000, 160'000};
  CHECK(saved_and_loaded(*gap, selection)->scope() == *selection.window);
  selection.window = TimeRange{150'000, 300'000};
  CHECK(saved_and_loaded(*gap, selection)->scope() == TimeRange{150'000, 200'000});
}

TEST_CASE("a part has nothing of another time, and is not saved as if it had") {
  const TemporaryFolder folder;
  ExportSelection selection;
  selection.window = TimeRange{1'950, 2'100};
  const auto part = saved_and_loaded(*sample_trace(), selection);
  selection.window = TimeRange{1'000, 1'900};  // only calls that are kept before the window lie in this one
  const auto written = export_trace_file(*part, folder.path() / "other.trace", Overwrite::kRefuse, selection);
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().text, contains_text("nothing of the time that was asked for"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

namespace {

// Kernels A, B and C of 1 s each start at 1, 3 and 5 s; each is measured and its instructions are counted. Samples were handed over in the tenth of a second
// after the kernel, except those of C, which are in the window of B.
std::shared_ptr<const Trace> trace_of_measured_kernels() {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey stream{TrackKind::kKernels, process};
  stream.gpu = builder.gpu_of_device(process, 0);
  stream.context = 1;
  std::vector<Event> kernels;
  for (const std::uint32_t number : {1u, 2u, 3u}) {
    const NameId name = builder.intern(std::string(1, static_cast<char>('@' + number)));
    kernels.push_back({(2 * Nanoseconds{number} - 1) * kSecond, kSecond, name, number, 0});
    const GpuFunctionId function = builder.gpu_function({process, 7, 0, name, name});
    const std::uint32_t metric = builder.kernel_metric("inst_executed");
    MeasuredLaunch launch;
    launch.process = process;
    launch.correlation = number;
    launch.values = {{metric, 1.0}};
    builder.add(std::move(launch));
    InstructionCounts counts;
    counts.process = process;
    counts.correlation = number;
    counts.metrics = {metric};
    counts.rows = {{function, 16}};
    counts.values = {number};
    builder.add(std::move(counts));
  }
  builder.add(stream, std::move(kernels));
  for (const std::uint32_t number : {1u, 2u}) {
    PcSampleWindow window;
    window.process = process;
    window.gpu = stream.gpu;
    window.context = 1;
    window.time = {2 * Nanoseconds{number} * kSecond, 2 * Nanoseconds{number} * kSecond + kSecond / 10};
    window.samples = {{number - 1, builder.stall_reason("barrier"), 16, 10 * number, 0}};
    if (number == 2) window.samples.push_back({2, builder.stall_reason("barrier"), 16, 5, 0});
    builder.add(std::move(window));
  }
  return builder.snapshot();
}

std::vector<std::uint32_t> measured_in(const Trace& trace) {
  std::vector<std::uint32_t> launches;
  for (const auto& launch : trace.kernel_records().measured) launches.push_back(launch->correlation);
  return launches;
}

}  // namespace

TEST_CASE("a part has the counters, counts and samples of its kernels, also where samples were handed over behind it") {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  const auto whole = trace_of_measured_kernels();
  CHECK(measured_in(*saved_and_loaded(*whole)) == std::vector<std::uint32_t>{1, 2, 3});
  ExportSelection selection;
  selection.window = TimeRange{3 * kSecond + kSecond / 2, 3 * kSecond + kSecond * 95 / 100};  // within B, and before the window of its samples
  const auto part = saved_and_loaded(*whole, selection);
  const KernelRecords& records = part->kernel_records();
  CHECK(measured_in(*part) == std::vector<std::uint32_t>{2});
  REQUIRE(records.counted.size() == 1);
  CHECK(records.counted[0]->correlation == 2);
  REQUIRE(records.windows.size() == 1);
  // C did not run in the window, so it is not known when its samples were taken.
  REQUIRE(records.windows[0]->samples.size() == 2);
  CHECK(records.windows[0]->samples[0].samples == 20);

  selection.window = TimeRange{2 * kSecond + kSecond / 2, 2 * kSecond + kSecond * 3 / 4};  // nothing ran, and nothing was handed over
  const auto idle = saved_and_loaded(*whole, selection);
  CHECK(idle->kernel_records().measured.empty());
  CHECK(idle->kernel_records().counted.empty());
  CHECK(idle->kernel_records().windows.empty());
}

TEST_CASE("a part lacks samples of a kernel that ran in their window at other times alone") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey stream{TrackKind::kKernels, process};
  stream.gpu = builder.gpu_of_device(process, 0);
  const NameId early = builder.intern("early"), late = builder.intern("late");
  builder.add(stream, {{1'000'000, 500'000, early, 1, 0}, {2'000'000, 500'000, late, 2, 0}});
  PcSampleWindow window;
  window.process = process;
  window.gpu = stream.gpu;
  window.time = {0, 10'000'000};
  for (const NameId name : {early, late})
    window.samples.push_back({builder.gpu_function({process, 7, 0, name, name}), builder.stall_reason("barrier"), 16, name == early ? 1u : 2u, 0});
  builder.add(std::move(window));
  ExportSelection selection;
  selection.window = TimeRange{1'900'000, 3'000'000};
  const auto part = saved_and_loaded(*builder.snapshot(), selection);
  REQUIRE(part->kernel_records().windows.size() == 1);
  REQUIRE(part->kernel_records().windows[0]->samples.size() == 1);
  CHECK(part->kernel_records().windows[0]->samples[0].samples == 2);
}

TEST_CASE("a part has as many samples of each kernel as the recording has of it in that time") {
  const auto whole = load_trace(std::filesystem::path(LANESCOPE_TEST_DATA) / "transpositions.trace");
  REQUIRE(whole);
  constexpr Nanoseconds kBegin = 1'380'000'000, kMillisecond = 1'000'000;  // its kernels run for 80 ms from there on
  const auto samples_of = [](const Trace& trace, TimeRange time) {
    std::map<std::string, std::uint64_t> samples;
    for (const kernels::StallSum& sum : kernels::sum_stalls(trace, kernels::SumBy::kKernel, time)) samples[std::string(trace.name(sum.kernel))] += sum.samples;
    return samples;
  };
  std::size_t kernels = 0;
  for (const auto& [begin, end] : {std::pair(2, 12), {5, 41}, {13, 77}, {33, 76}, {62, 71}}) {
    ExportSelection selection;
    selection.window = TimeRange{kBegin + begin * kMillisecond, kBegin + end * kMillisecond};
    const auto part = saved_and_loaded(**whole, selection);
    const auto expected = samples_of(**whole, *selection.window), found = samples_of(*part, part->scope());
    REQUIRE(found.size() == expected.size());
    for (const auto& [kernel, samples] : expected) {
      INFO(kernel << " from " << begin << " to " << end);
      // Whole samples are written of each of the windows, and each reason of the sum is rounded.
      CHECK(std::abs(static_cast<double>(found.at(kernel)) - static_cast<double>(samples)) <= 20);
      kernels += samples > 1'000 ? 1 : 0;
    }
  }
  CHECK(kernels > 5);
}

TEST_CASE("of several parts as one, reports count of each what is of its own time") {
  const auto part_from = [](Nanoseconds begin) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    TrackKey calls{TrackKind::kCudaApi, process};
    calls.thread = builder.thread(process, 1);
    builder.add(calls, {{begin - 50, 10, builder.intern("kept in front"), 1, 0}, {begin + 10, 10, builder.intern("of the part"), 2, 0}});
    builder.provenance().part = SavedPart{{begin, begin + 100}, begin - 50};
    return builder.snapshot();
  };
  std::vector<TraceSource> sources(2);
  sources[0] = {part_from(1'000), "first", {}, {}, false, {}};
  sources[1] = {part_from(1'080), "second", {}, {}, false, {}};  // the events kept before its start lie within the first part
  const auto both = combine_traces(sources);
  CHECK(both->scope() == TimeRange{1'000, 1'180});
  const auto report = stats::make_report(*stats::find_report("cuda_api_sum"), *both, {});
  REQUIRE(report);
  CHECK(report->row_count() == 1);
}

TEST_CASE("only events and counters of the rows that were asked for are saved") {
  const auto whole = sample_trace();
  ExportSelection selection;
  selection.rows.emplace();
  std::vector<std::string> expected;
  for (const Track& track : whole->tracks()) {
    if (track.key.kind != TrackKind::kKernels && track.key.kind != TrackKind::kCudaApi) continue;
    for (const LaneId lane : track.lanes) {
      selection.rows->lanes.push_back(lane);
      for (EventIndex i = 0; i < whole->lane(lane).size(); ++i) expected.emplace_back(whole->name(whole->lane(lane).name(i)));
    }
  }
  std::sort(selection.rows->lanes.begin(), selection.rows->lanes.end());
  std::sort(expected.begin(), expected.end());
  REQUIRE_FALSE(expected.empty());
  const auto part = saved_and_loaded(*whole, selection);
  std::vector<std::string> names;
  for (LaneId lane = 0; lane < part->lanes().size(); ++lane)
    for (EventIndex i = 0; i < part->lane(lane).size(); ++i) names.emplace_back(part->name(part->lane(lane).name(i)));
  std::sort(names.begin(), names.end());
  CHECK(names == expected);
  for (CounterId counter = 0; counter < part->counters().size(); ++counter) CHECK(part->counter_series(counter).empty());
  const auto said = [](const Trace& trace) {
    return std::count_if(trace.diagnostics().begin(), trace.diagnostics().end(),
                         [](const DiagnosticMessage& message) { return message.content.kind == DiagnosticKind::kRowsLeftOut; });
  };
  CHECK(said(*part) == 1);
  CHECK(part->provenance().condition.empty());
  CHECK(losses_text(*part).starts_with(kRowsLeftOut));  // this is shown beside answers from it
  CHECK(said(*saved_and_loaded(*part)) == 1);
  CHECK(said(*saved_and_loaded(*part, selection)) == 1);
  CHECK(said(*saved_and_loaded(*whole)) == 0);
}

TEST_CASE("an export that is asked to stop fails and leaves nothing") {
  const TemporaryFolder folder;
  std::stop_source source;
  ExportSelection selection;
  selection.stop = source.get_token();
  source.request_stop();
  for (const FileForm form : {FileForm::kLog, FileForm::kCompacted}) {
    const auto written = export_trace_file(*sample_trace(), folder.path() / "part.trace", Overwrite::kRefuse, selection, form);
    REQUIRE_FALSE(written);
    CHECK(written.error().text == stopped_export().text);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("launches of a part are looked for no longer than its export goes on") {
  const auto trace = sample_trace();
  const LaunchIndex launches(*trace);
  std::stop_source source;
  ExportSelection selection;
  selection.window = TimeRange{1'950, 2'100};
  selection.stop = source.get_token();
  CHECK_FALSE(exporters::launches_of_part(*trace, selection, launches).empty());
  source.request_stop();
  CHECK(exporters::launches_of_part(*trace, selection, launches).empty());
}

TEST_CASE("every trace of the corpus can be saved and loads as the same") {
  const auto folder = corpus();
  if (!folder) return;
  for (const char* kind : {"nsys", "kineto"})
    for (const auto& entry : std::filesystem::directory_iterator(*folder / kind)) {
      if (entry.path().extension() == ".nsys-rep") continue;
      INFO(entry.path());
      const auto trace = open_trace(entry.path());
      REQUIRE(trace.has_value());
      const auto loaded = saved_and_loaded(**trace);
      CHECK(difference(TraceText(**trace).events(), TraceText(*loaded).events()) == "");
      CHECK(difference(TraceText(**trace).resources(), TraceText(*loaded).resources()) == "");
    }
}

TEST_CASE("a damaged file is recovered: its sound frames, with an index") {
  const TemporaryFolder folder;
  const auto whole = folder.path() / "whole.trace";
  const auto cut = folder.path() / "cut.trace";
  const auto recovered = folder.path() / "recovered.trace";
  REQUIRE(export_trace_file(*sample_trace(), whole, Overwrite::kRefuse));
  std::filesystem::copy_file(whole, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  const auto condition = recover_trace_file(cut, recovered, Overwrite::kRefuse);
  REQUIRE(condition.has_value());
  CHECK_FALSE(condition->sentence().empty());
  const auto before = load_trace(cut);
  const auto after = load_trace(recovered);
  REQUIRE((before.has_value() && after.has_value()));
  CHECK((*after)->event_count() > 0);
  require_same(**before, **after);
  // The copy is complete, and says what its source lacked; so do a copy of the copy, and a compacted copy.
  CHECK((*after)->provenance().condition == condition->sentence());
  CHECK_FALSE((*after)->provenance().finished);
  const auto again = folder.path() / "again.trace";
  const auto no_news = recover_trace_file(recovered, again, Overwrite::kRefuse);
  REQUIRE(no_news.has_value());
  CHECK(no_news->sentence().empty());
  CHECK((*load_trace(again))->provenance().condition == condition->sentence());

  CHECK_THAT(recover_trace_file(cut, recovered, Overwrite::kRefuse).error().text, contains_text("exists already"));
  CHECK_THAT(recover_trace_file(cut, cut, Overwrite::kAllow).error().text, contains_text("over itself"));
}

TEST_CASE("a recording that an older version wrote too densely is read in part, and whole once it is copied") {
  constexpr std::uint32_t kEvents = 60'000, kFrames = 150;
  const TemporaryFolder folder;
  const auto dense = folder.path() / "dense.trace";
  std::vector<std::byte> bytes(sizeof(FileHeader));
  FileHeader file{};
  std::memcpy(file.magic, kFileMagic, sizeof(kFileMagic));
  file.major_version = kFormatMajor;
  std::memcpy(bytes.data(), &file, sizeof(file));
  const auto append = [&](proto::FrameType type, std::uint32_t events, const google::protobuf::MessageLite& message) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.event_count = events;
    header.process = type == proto::FRAME_EVENTS ? 1 : 0;
    append_frame(header, message.SerializeAsString(), bytes);
  };
  append(proto::FRAME_SESSION_START, 0, proto::SessionStart());
  for (std::uint32_t frame = 0; frame < kFrames; ++frame) {
    proto::EventChunk chunk;
    chunk.set_base_time(std::int64_t{frame} * kEvents);
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      chunk.mutable_nvtx_ranges()->add_start_delta(1);
      chunk.mutable_nvtx_ranges()->add_duration(1);
      chunk.mutable_nvtx_ranges()->add_name(0);
      chunk.mutable_nvtx_ranges()->add_depth(0);
    }
    append(proto::FRAME_EVENTS, kEvents, chunk);
  }
  std::ofstream(dense, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));

  const auto in_part = load_trace(dense);
  REQUIRE(in_part);
  CHECK((*in_part)->event_count() > 6'900'000);
  CHECK((*in_part)->event_count() < std::uint64_t{kEvents} * kFrames);
  CHECK_THAT((*in_part)->provenance().condition, contains_text("lanescope export -t trace --form log -o NEW.trace " + dense.string()));

  const auto copy = folder.path() / "copy.trace";
  REQUIRE(recover_trace_file(dense, copy, Overwrite::kRefuse));
  CHECK(std::filesystem::file_size(copy) < std::uint64_t{kEvents} * kFrames * 2);
  const auto whole = load_trace(copy);
  REQUIRE(whole);
  CHECK((*whole)->event_count() == std::uint64_t{kEvents} * kFrames);
}

TEST_CASE("a file that can't be written is named, and nothing is left of it") {
  CHECK_THAT(export_trace_file(*sample_trace(), "/no/such/folder/x.trace", Overwrite::kRefuse).error().text, contains_text("/no/such/folder/x.trace"));
}

TEST_CASE("a file that was to be replaced stays where its replacement finds no room") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.trace";
  std::ofstream(path) << "what was there";
  const auto written = [&] {
    const SmallFiles small(100);
    return export_trace_file(*sample_trace(), path, Overwrite::kAllow);
  }();
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().text, contains_text("x.trace") && contains_text("Nothing is kept of it; allow larger files (ulimit -f)."));
  std::string kept;
  std::getline(std::ifstream(path), kept);
  CHECK(kept == "what was there");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 1);
  REQUIRE(export_trace_file(*sample_trace(), path, Overwrite::kAllow));
  require_same(*sample_trace(), **load_trace(path));
}

TEST_CASE("frames are cut where they would become larger than writers may make them, and nothing is lost") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 1);
  std::vector<Event> ranges, samples;
  for (int i = 0; i < 1'000; ++i) ranges.push_back({i * 10, 5, builder.intern(std::string(30'000, 'n') + std::to_string(i)), 0, 0});
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, ranges);
  for (std::uint32_t tid = 2; tid < 152; ++tid) builder.name_thread(builder.thread(process, tid), std::string(60'000, 't') + std::to_string(tid));
  std::vector<CounterId> counters;
  for (int i = 0; i < 700; ++i) {
    Counter counter;
    counter.process = process;
    counter.name = std::to_string(i);
    counters.push_back(builder.counter(counter));
  }
  constexpr int kSamples = 2'000;
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> values;
  for (int i = 0; i < kSamples; ++i) {
    times.push_back(i);
    values.push_back(i % 2 == 0 ? std::int64_t{1} << 60 : -(std::int64_t{1} << 60));
  }
  REQUIRE(builder.add_samples(counters, times, std::vector(counters.size(), values), kSamples));
  const auto trace = builder.snapshot();

  const TemporaryFolder folder;
  const auto path = folder.path() / "large.trace";
  REQUIRE(export_trace_file(*trace, path, Overwrite::kRefuse));
  auto reader = TraceFileReader::open(path);
  REQUIRE(reader);
  std::uint64_t unpacked = 0;
  while (const auto frame = reader->next()) {
    CHECK(frame->header.raw_size <= limits::kWrittenPayloadBytes);
    unpacked += frame->header.raw_size;
  }
  CHECK(unpacked > 3 * limits::kWrittenPayloadBytes);
  const auto loaded = load_trace(path);
  REQUIRE(loaded);
  CHECK((*loaded)->provenance().condition.empty());
  require_same(*trace, **loaded);
  CHECK((*loaded)->threads().size() == trace->threads().size());
  CHECK((*loaded)->counter_series(699).size() == kSamples);
}
