// Lanes whose segments are decoded on demand give the same answers as lanes in memory, however little memory there is.
#include "model/trace/segments/demanded_segments.h"

#include <array>
#include <chrono>
#include <fstream>
#include <future>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <tuple>

#include "../../../../model/analysis/idle/gpu_operations.h"
#include "answers.h"
#include "in_file.h"
#include "long_recording.h"
#include "model/export/text_export.h"
#include "model/export/trace_file_export.h"
#include "model/trace/combining/combine.h"
#include "model/trace/trace_builder.h"
#include "model/trace/workers/precedence.h"
#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

std::string chrome_json(const Trace& trace) {
  std::string text;
  REQUIRE(export_chrome_json(trace, [&](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

const Lane& longest_lane(const Trace& trace) {
  return *std::max_element(trace.lanes().begin(), trace.lanes().end(), [](const Lane& a, const Lane& b) { return a.size() < b.size(); });
}

// Asks both lanes the same random questions.
void check_answers(const Lane& memory, const Lane& file, unsigned seed, int questions) {
  std::mt19937 random(seed);
  const TimeRange extent = memory.extent();
  const auto some_time = [&] { return extent.begin - 100 + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 200)); };
  int wrong = 0;
  for (int i = 0; i < questions; ++i) {
    const auto event = static_cast<EventIndex>(random() % memory.size());
    wrong += memory.event(event) != file.event(event) || memory.end(event) != file.end(event);
    const Nanoseconds t = some_time(), u = some_time();
    const TimeRange window{std::min(t, u), std::max(t, u)};
    wrong += memory.at(t) != file.at(t) || memory.lower_bound(t) != file.lower_bound(t) || memory.overlapping(window) != file.overlapping(window);
    wrong += memory.busy(window) != file.busy(window);
    const auto [first, last] = memory.overlapping(window);
    const LaneSummary a = memory.summarize(first, last), b = file.summarize(first, last);
    wrong += a.dominant != b.dominant || a.weight != b.weight || a.longest != b.longest || a.count != b.count;
    const std::uint32_t id = memory.correlation(event);
    wrong += memory.find_correlation(id) != file.find_correlation(id) || memory.find_correlation(id + 1, event) != file.find_correlation(id + 1, event);
    std::array<Nanoseconds, 40> times{};
    for (Nanoseconds& time : times) time = some_time();
    std::sort(times.begin(), times.end());
    std::array<EventIndex, 40> in_memory{}, in_file{};
    memory.lower_bounds(times, in_memory);
    file.lower_bounds(times, in_file);
    wrong += in_memory != in_file;
  }
  if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " answers differ");
}

}  // namespace

TEST_CASE("a trace is there with all its lanes and counters before a segment of any is decoded") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "compact.trace";
  compacted(recording, path);
  const auto memory = loaded(path);
  const MemoryBudget budget(256 << 10);
  const auto has_values = [](const Trace& trace) {
    bool any = false;
    for (CounterId id = 0; id < trace.counters().size(); ++id)
      any = any || (trace.counters()[id].origin == CounterOrigin::kRead && !trace.counter_series(id).empty());
    return any;
  };
  const auto decoded = [] { return SegmentCache::of_process().use().decoded + SegmentCache::of_process().use().counters; };
  const std::uint64_t before = decoded();
  std::shared_ptr<const Trace> first;
  double done = 0;
  const auto file = load_trace(
      path,
      [&](double fraction, std::shared_ptr<const Trace> partial) {
        REQUIRE(fraction >= done);
        done = fraction;
        if (!partial) return LoadStep::kContinue;
        REQUIRE_FALSE(first);
        CHECK(decoded() == before);
        first = std::move(partial);
        return LoadStep::kContinue;
      },
      EventPlace::kInFile);
  REQUIRE(file);
  CHECK(has_values(**file) == has_values(*memory));
  if (!first) {  // nothing is decoded later
    CHECK(decoded() == before);
    return;
  }
  REQUIRE(first->lanes().size() == (*file)->lanes().size());
  for (LaneId id = 0; id < first->lanes().size(); ++id) {
    const Lane &a = first->lane(id), &b = (*file)->lane(id);
    REQUIRE((first->track_of(id).key == (*file)->track_of(id).key && a.size() == b.size()));
    for (std::size_t s = 0; s < a.segment_count(); ++s) CHECK(a.segment_identity(s) == b.segment_identity(s));
  }
  CHECK(has_values(*first) == has_values(*memory));

  REQUIRE((*file)->counters().size() == memory->counters().size());
  for (CounterId id = 0; id < memory->counters().size(); ++id) {
    const CounterSeries &a = memory->counter_series(id), &b = (*file)->counter_series(id);
    CHECK((*file)->counters()[id].name == memory->counters()[id].name);
    REQUIRE(a.size() == b.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      wrong += a.sample(i).time != b.sample(i).time || a.sample(i).duration != b.sample(i).duration || a.sample(i).value != b.sample(i).value;
    CHECK(wrong == 0);
  }

  const auto cancelled = load_trace(
      path, [](double, const std::shared_ptr<const Trace>&) { return LoadStep::kCancel; }, EventPlace::kInFile);
  REQUIRE(cancelled);
  CHECK(has_values(**cancelled) == has_values(*memory));
  CHECK((*cancelled)->event_count() == memory->event_count());
}

TEST_CASE("values of counters of an older file are read when the pictures that somebody waits for are there") {
  const TemporaryFolder folder;
  compacted(fs::path(LANESCOPE_TEST_DATA) / "gpu_metrics.trace", folder.path() / "compact.trace");
  const fs::path path = without_counter_heads(folder.path() / "compact.trace", folder.path() / "older.trace");
  std::string order;
  std::promise<void> shown;
  std::optional<Urgent> picture(std::in_place);
  std::jthread loading([&] {
    (void)load_trace(
        path,
        [&](double, const std::shared_ptr<const Trace>& partial) {
          if (partial) return shown.set_value(), LoadStep::kContinue;
          order += "v";
          return LoadStep::kContinue;
        },
        EventPlace::kInFile);
  });
  shown.get_future().wait();
  order += "picture ";
  picture.reset();
  loading.join();
  CHECK(order.starts_with("picture v"));
}

TEST_CASE("every recording answers the same from its file, with memory for next to nothing") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  compacted(recording, folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const MemoryBudget budget(64 << 10);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  const std::size_t problems = SegmentCache::of_process().problems().size();
  const auto file = opened_in_file(folder.path() / "compact.trace");
  for (const Lane& lane : file->lanes()) CHECK(lane.holds_segments() == lane.empty());
  check_same(*memory, *file);
  check_lacks_as_much(*memory, *file);
  CHECK(chrome_json(*memory) == chrome_json(*file));
  CHECK(file->provenance().finished);
  CHECK(file->provenance().format == memory->provenance().format);
  const SegmentCache::Use after = SegmentCache::of_process().use();
  CHECK(after.decoded > before.decoded);
  CHECK(SegmentCache::of_process().problems().size() == problems);
}

TEST_CASE("when events run is the same where nothing else of them is decoded, and takes less memory") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  compacted(recording, folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  // The segments decoded while opening are forgotten: by the cache, and with the thread that holds some of them.
  std::shared_ptr<const Trace> file;
  std::jthread([&] { file = opened_in_file(folder.path() / "compact.trace"); }).join();
  { const MemoryBudget none(0); }
  const MemoryBudget budget(64 << 20);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  std::uint64_t segments = 0;
  for (LaneId id = 0; id < file->lanes().size(); ++id) {
    const Lane &expected = memory->lane(id), &lane = file->lane(id);
    for (std::size_t s = 0; s < lane.segment_count(); ++s, ++segments) {
      const SegmentTimes times = lane.times(s);
      const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
      REQUIRE(first + times.size() <= expected.size());
      int wrong = 0;
      for (EventIndex i = 0; i < times.size(); ++i) wrong += times.start(i) != expected.start(first + i) || times.end(i) != expected.end(first + i);
      CHECK(wrong == 0);
      CHECK(lane.segment_end(s) == expected.end(first + times.size() - 1));
      const Nanoseconds middle = times.start(times.size() / 2);
      CHECK(first + times.lower_bound(middle) == expected.lower_bound(middle));
      CHECK(lane.segment_at(middle) == expected.lower_bound(middle) / LaneSegment::kCapacity);
    }
  }
  const SegmentCache::Use of_times = SegmentCache::of_process().use();
  CHECK(of_times.decoded == before.decoded);
  CHECK(of_times.times - before.times == segments);

  // Times stay in the cache, and are replaced by the whole segment when that is requested.
  for (const Lane& lane : file->lanes())
    for (std::size_t s = 0; s < lane.segment_count(); ++s) (void)lane.times(s);
  CHECK(SegmentCache::of_process().use().times == of_times.times);
  for (const Lane& lane : file->lanes())
    for (std::size_t s = 0; s < lane.segment_count(); ++s) CHECK(lane.segment(s)->size() == lane.times(s).size());
  const SegmentCache::Use of_all = SegmentCache::of_process().use();
  CHECK(of_all.decoded - before.decoded == segments);
  CHECK(of_all.times == of_times.times);
  if (segments > 0) CHECK(of_times.used - before.used < of_all.used - of_times.used);
}

TEST_CASE("when events run that can't be read is what stands for them") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 150'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const MemoryBudget budget(64 << 20);
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const Lane& lane = longest_lane(*file);
  fs::resize_file(folder.path() / "compact.trace", 100);
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const SegmentTimes times = lane.times(s);
    const auto segment = lane.segment(s);
    REQUIRE(times.size() == segment->size());
    int wrong = 0;
    for (EventIndex i = 0; i < times.size(); ++i) wrong += times.start(i) != segment->start(i) || times.duration(i) != segment->duration(i);
    CHECK(wrong == 0);
  }
  CHECK(has_substitutes(*file));
  CHECK_FALSE(SegmentCache::of_process().take_problems().empty());
}

TEST_CASE("events are summed by any column of theirs from the file, with memory for next to nothing") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  compacted(recording, folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const MemoryBudget budget(64 << 10);
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const auto sums = [](const Trace& trace, const std::string& columns) {
    const auto request = stats::parse_report("event_sum" + columns);
    REQUIRE(request);
    const auto table = stats::make_report(*request->report, trace, request->options);
    REQUIRE(table);
    return stats::format_table(*table, stats::Format::kCsv);
  };
  for (const char* columns : {":by=range-family:by=kind", ":by=stream:by=grid", ":by=name:by=thread", ":by=memory:by=bytes", ":by=occupancy"})
    CHECK(sums(*memory, columns) == sums(*file, columns));
}

TEST_CASE("to ask for the work of a call reads no calls where there is none, and no other work than is asked for") {
  // Two threads whose calls take ids in turn; every fourth call of the first thread copies, every other fourth launches a kernel.
  constexpr std::uint32_t kCalls = 4'000;
  const TemporaryFolder folder;
  {
    TraceBuilder builder;
    builder.provenance().finished = true;
    const ProcessId process = builder.process_of_instance(1);
    builder.process(process).pid = 1;
    const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
    builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
    const NameId name = builder.intern("name");
    std::vector<Event> calls[2], copies, kernels;
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      const Nanoseconds time = Nanoseconds{i} * 1'000;
      calls[i % 2].push_back({time, 500, name, i + 1, 0});
      if (i % 8 == 0) copies.push_back({time + 600, 200, name, i + 1, 0});
      if (i % 8 == 4) kernels.push_back({time + 600, 200, name, i + 1, 0});
    }
    for (std::uint32_t thread = 0; thread < 2; ++thread)
      builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 7 + thread)}, std::move(calls[thread]));
    builder.add({.kind = TrackKind::kMemory, .process = process, .gpu = gpu, .context = 1, .stream = 7}, std::move(copies));
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7}, std::move(kernels));
    REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  }
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  static constexpr TrackKind kKernels[] = {TrackKind::kKernels};
  const auto first_call = [](const Trace& trace) {
    for (const Track& track : trace.tracks())
      if (track.key.kind == TrackKind::kCudaApi && trace.threads()[track.key.thread].tid == 7) return track.lanes.front();
    return LaneId{kNone};
  };
  const auto decoded_by = [&](EventIndex call, auto ask) {
    const auto file = opened_in_file(folder.path() / "compact.trace");
    const EventRef event{first_call(*file), call};
    const std::uint64_t before = SegmentCache::of_process().use().decoded;
    CHECK(ask(*file, event) == ask(*memory, event));
    return SegmentCache::of_process().use().decoded - before;
  };
  const auto all = [](const Trace& trace, EventRef call) { return trace.work_of(call).size(); };
  const auto of_kernels = [](const Trace& trace, EventRef call) { return trace.work_of(call, kKernels).size(); };
  REQUIRE(all(*memory, {first_call(*memory), 400}) == 1);  // a copy
  REQUIRE(all(*memory, {first_call(*memory), 401}) == 0);
  REQUIRE(all(*memory, {first_call(*memory), 402}) == 1);  // a kernel
  CHECK(of_kernels(*memory, {first_call(*memory), 400}) == 0);
  CHECK(of_kernels(*memory, {first_call(*memory), 402}) == 1);
  CHECK(decoded_by(401, all) == 3);         // the call, copies and kernels; not the calls of the other thread
  CHECK(decoded_by(400, of_kernels) == 2);  // the call and kernels
  CHECK(decoded_by(402, all) == 4);
}

TEST_CASE("to go through the work of a GPU reads each segment once, though there is no memory for one of each stream") {
  constexpr std::uint32_t kStreams = 100, kKernels = 2'000;
  const TemporaryFolder folder;
  {
    TraceBuilder builder;
    builder.provenance().finished = true;
    const ProcessId process = builder.process_of_instance(1);
    builder.process(process).pid = 1;
    const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
    builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
    for (std::uint32_t stream = 0; stream < kStreams; ++stream) {  // one after another, except the last few kernels of each
      std::vector<Event> kernels;
      for (std::uint32_t i = 0; i < kKernels; ++i)
        kernels.push_back({(Nanoseconds{stream} * (kKernels - 3) + i) * 1'000, 900, builder.intern("kernel"), stream * kKernels + i + 1, 0});
      builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7 + stream}, std::move(kernels));
    }
    REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  }
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto operations_of = [](const Trace& trace) {
    std::vector<std::tuple<Nanoseconds, Nanoseconds, LaneId, EventIndex>> all;
    analysis::GpuOperations operations(trace, GpuId{0});
    while (const auto operation = operations.next())
      all.emplace_back(operation->range.begin, operation->range.end, operation->event.lane, operation->event.index);
    return all;
  };
  const auto in_memory = operations_of(*loaded(folder.path() / "compact.trace"));
  REQUIRE(in_memory.size() == kStreams * kKernels);
  CHECK(std::is_sorted(in_memory.begin(), in_memory.end(), [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); }));
  const MemoryBudget nothing(1);
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const std::uint64_t before = SegmentCache::of_process().use().decoded;
  CHECK(operations_of(*file) == in_memory);
  CHECK(SegmentCache::of_process().use().decoded - before == kStreams);
}

TEST_CASE("rules that are asked together decode the work of GPUs as often as one of them does") {
  const TemporaryFolder folder;
  write_long_program(folder.path() / "log.trace", 600'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const MemoryBudget nothing(1);
  const auto file = opened_in_file(folder.path() / "compact.trace");
  std::uint64_t of_work = 0;  // segments
  for (const Track& track : file->tracks())
    if (is_gpu_work(track.key.kind))
      for (const LaneId lane : track.lanes) of_work += file->lane(lane).segment_count();
  REQUIRE(of_work >= 6);
  const auto decoded_by = [&](std::span<const char* const> rules) {
    std::vector<analysis::RuleRequest> requests;
    for (const char* const rule : rules) requests.push_back(*analysis::parse_rule(rule));
    const std::uint64_t before = SegmentCache::of_process().use().decoded;
    REQUIRE(analysis::apply_rules(*file, requests));
    return SegmentCache::of_process().use().decoded - before;
  };
  // None of these rules needs more than the loop and all work.
  constexpr std::array<const char*, 4> kAll{"small_kernels", "no_overlap", "low_occupancy", "tail_wave"};
  const std::uint64_t alone = decoded_by(std::span(kAll).first(1)), together = decoded_by(kAll);
  CHECK(alone >= of_work);
  CHECK(together < alone + of_work);
}

TEST_CASE("a lane's next segments are decoded ahead though all memory for events is used, each once") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 2'000'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const Lane& lane = longest_lane(*file);
  const std::size_t count = lane.segment_count();
  REQUIRE(count == 31);
  const MemoryBudget less(std::uint64_t{13} << 20);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  const auto decoded = [&] { return SegmentCache::of_process().use().decoded - before.decoded; };
  const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (std::size_t s = 0; s < count; ++s) {
    CHECK(lane.segment(s)->size() > 0);
    if (s == 0) continue;  // so far no two consecutive segments were requested
    while (decoded() < std::min(s + 2, count) && std::chrono::steady_clock::now() < give_up_at) std::this_thread::yield();
  }
  CHECK(decoded() == count);
  CHECK(SegmentCache::of_process().use().ahead - before.ahead == count - 2);
  CHECK(SegmentCache::of_process().use().dropped > before.dropped);
}

TEST_CASE("a lane answers the same from its file to many threads, while its segments come and go") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 1'000'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const auto segments = GENERATE(0u, 3u, 100u);
  const MemoryBudget budget(segments * std::uint64_t{2} << 20);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  {
    const auto file = opened_in_file(folder.path() / "compact.trace");
    CHECK(SegmentCache::of_process().use().decoded == before.decoded);  // opening it needs no segment
    CHECK(file->extent() == memory->extent());
    CHECK(file->event_count() == 1'000'000);
    const Lane& lane = longest_lane(*file);
    REQUIRE(lane.segment_count() == 16);
    std::atomic<int> failures{0};
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back([&, seed] {
        try {
          check_answers(longest_lane(*memory), lane, seed, segments < 100 ? 12 : 300);
        } catch (const std::exception&) {
          ++failures;
        }
      });
    threads.clear();
    CHECK(failures == 0);
    for (std::size_t s = 0; s < lane.segment_count(); ++s) {
      const auto held = lane.segment(s);
      CHECK(held->common_prefix(*longest_lane(*memory).segment(s)) == held->size());
      CHECK(lane.segment_start(s) == held->start(0));
      CHECK(lane.segment_correlations(s).least == held->smallest_correlation());
      CHECK(lane.segment_correlations(s).greatest == held->largest_correlation());
    }
    const SegmentCache::Use use = SegmentCache::of_process().use();
    if (segments < 100)
      CHECK(use.dropped > before.dropped);
    else
      CHECK(use.decoded <= before.decoded + 16);
  }
  CHECK(SegmentCache::of_process().use().segments == 0);
}

TEST_CASE("a recording whose clock drifts answers the same from its file as from memory, beside another") {
  const double drift = GENERATE(2e-5, -2e-5, -3.9e-4);
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", path = folder.path() / "compact.trace";
  if (const std::string recorded = GENERATE("", "ranks_late1.trace"); recorded.empty())
    write_long_recording(log, 200'000);
  else
    fs::copy_file(fs::path(LANESCOPE_TEST_DATA) / recorded, log);
  compacted(log, path);
  const auto first = loaded(fs::path(LANESCOPE_TEST_DATA) / "ranks_late0.trace"), memory = loaded(path);
  const ClockLine clock(-3'000'000, drift, 1'000'000'000);
  const auto beside = [&](const std::shared_ptr<const Trace>& second) {
    return combine_traces(std::vector<TraceSource>{{first, "a", 0}, {second, "b", clock}});
  };
  const auto in_memory = beside(memory);
  const MemoryBudget budget(1 << 20);
  const auto in_file = beside(opened_in_file(path));
  CHECK_FALSE(holds_events(*in_file));
  check_same(*in_memory, *in_file);

  const auto first_lane = static_cast<LaneId>(first->lanes().size());
  for (LaneId id = 0; id < memory->lanes().size(); ++id) {
    const Lane &own = memory->lane(id), &set = in_file->lane(first_lane + id);
    REQUIRE(own.size() == set.size());
    if (own.empty()) continue;
    std::size_t wrong = 0;
    Nanoseconds busy = 0;
    for (EventIndex i = 0; i < own.size(); ++i) {
      wrong += set.start(i) != clock(own.start(i)) || set.end(i) != clock(own.end(i)) || (i > 0 && set.start(i) < set.end(i - 1));
      busy += set.duration(i);
    }
    CHECK(wrong == 0);
    CHECK(busy_total(set) == busy);
    check_answers(in_memory->lane(first_lane + id), set, id, 50);
  }
}

TEST_CASE("what the cache holds stays within its budget, but for what threads have pinned") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 3'000'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  constexpr std::uint64_t kBudget = 20 << 20;
  const MemoryBudget budget(kBudget);
  std::uint64_t most = 0;
  std::jthread([&] {  // the thread's pins end with it
    const auto file = opened_in_file(folder.path() / "compact.trace");
    const Lane& lane = longest_lane(*file);
    Nanoseconds busy = 0;
    for (EventIndex i = 0; i < lane.size(); ++i) {
      busy += lane.duration(i);
      if (i % 10'000 == 0) most = std::max(most, SegmentCache::of_process().use().used);
    }
    CHECK(busy == lane.busy(lane.extent()));
  })
      .join();
  CHECK(most > kBudget / 2);
  CHECK(most < kBudget + (14 << 20));  // eight segments of at most 1.7 MB
}

TEST_CASE("a file that is cut, damaged or replaced while it is open is noticed once, and nothing ends") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "compact.trace";
  write_long_recording(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", path);
  const auto memory = loaded(path);
  const MemoryBudget budget(0);
  const auto file = opened_in_file(path);
  const Lane& lane = longest_lane(*file);

  // If the file is replaced by another one, the open file stays as it was.
  fs::rename(path, folder.path() / "elsewhere.trace");
  compacted(data_file("cuda_streams.trace"), path);
  std::jthread([&] { check_answers(longest_lane(*memory), lane, 1, 20); }).join();
  const std::size_t before = SegmentCache::of_process().problems().size();

  fs::resize_file(folder.path() / "elsewhere.trace", 1'000);
  std::jthread([&] {
    Nanoseconds end = lane.extent().begin, busy = 0;
    for (EventIndex i = 0; i < lane.size(); ++i) {
      REQUIRE(lane.start(i) >= end);
      end = lane.end(i);
      busy += lane.duration(i);
      REQUIRE(file->name(lane.name(i)).empty());
    }
    CHECK(end == lane.extent().end);
    // What heads say still holds, except for remainders of the division by the number of events.
    CHECK(busy <= lane.busy(lane.extent()));
    CHECK(busy > lane.busy(lane.extent()) - 300'000);
  }).join();
  const std::vector<std::string> problems = SegmentCache::of_process().problems();
  REQUIRE(problems.size() == before + 1);
  CHECK(problems.back().find(path.string()) != std::string::npos);
  CHECK(problems.back().find("can be read any more") != std::string::npos);
}

TEST_CASE("who asks whether all of a trace was read hears of its files alone") {
  const TemporaryFolder folder;
  const MemoryBudget budget(0);
  const auto opened = [&](const char* name) {
    write_long_recording(folder.path() / "log.trace", 300'000);
    compacted(folder.path() / "log.trace", folder.path() / name);
    return opened_in_file(folder.path() / name);
  };
  const auto read = [](const Trace& trace) {
    std::jthread([&] {
      const Lane& lane = longest_lane(trace);
      for (EventIndex i = 0; i < lane.size(); ++i) (void)lane.start(i);
    }).join();
  };
  const auto one = opened("one.trace"), other = opened("other.trace"), whole = opened("whole.trace");
  for (const char* name : {"one.trace", "other.trace"}) fs::resize_file(folder.path() / name, 1'000);
  for (const auto& trace : {one, other, whole}) read(*trace);
  CHECK(check_all_was_read(*whole));
  const auto names = [&](const Trace& trace, const char* name) {
    const Result<void> checked = check_all_was_read(trace);
    return !checked && checked.error().text.find(name) != std::string::npos;
  };
  CHECK(names(*one, "one.trace"));
  CHECK_FALSE(names(*one, "other.trace"));
  CHECK(names(*other, "other.trace"));
  CHECK_FALSE(names(*other, "one.trace"));
  const auto both = combine_traces(std::vector<TraceSource>{{one, "A", 0}, {other, "B", 0}});
  read(*both);
  CHECK(names(*both, "one.trace"));
  CHECK(names(*both, "other.trace"));
}

TEST_CASE("files that are not compacted, or are cut, have their events in memory") {
  const TemporaryFolder folder;
  const auto trace = opened_in_file(data_file("cuda_streams.trace"));
  for (const Lane& lane : trace->lanes()) CHECK(lane.holds_segments());
  compacted(data_file("cuda_streams.trace"), folder.path() / "cut.trace");
  fs::resize_file(folder.path() / "cut.trace", fs::file_size(folder.path() / "cut.trace") - 1);
  const auto cut = opened_in_file(folder.path() / "cut.trace");
  CHECK(cut->event_count() > 0);
  CHECK_FALSE(cut->provenance().finished);
  for (const Lane& lane : cut->lanes()) CHECK(lane.holds_segments());
}
