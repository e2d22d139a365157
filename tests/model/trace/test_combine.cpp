// Several traces as one: the contents of each must be found again, event by event, shifted in time.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::shared_ptr<const Trace> recorded(const std::string& name) {
  const auto trace = load_trace(test::data_file(name + ".trace"));
  REQUIRE(trace.has_value());
  return *trace;
}

// All that is known about an event, as text.
std::string words(const Trace& trace, const Track& track, const Event& event, Nanoseconds shift) {
  std::ostringstream text;
  text << static_cast<int>(track.key.kind) << ' ' << event.start - shift << ' ' << event.duration << ' ' << trace.name(event.name) << ' ' << event.correlation
       << ' ' << track.key.context << ' ' << track.key.stream << ' ';
  if (track.key.process != kNone) text << trace.processes()[track.key.process].pid << ' ';
  if (track.key.thread != kNone) {
    const Thread& thread = trace.threads()[track.key.thread];
    text << thread.tid << ' ' << trace.processes()[thread.process].pid << ' ';
  }
  if (track.key.gpu != kNone) text << trace.gpus()[track.key.gpu].name << ' ';
  switch (track.key.kind) {
    case TrackKind::kKernels: {
      const KernelDetail& detail = trace.kernel_detail(event.detail);
      text << trace.name(detail.short_name) << ' ' << trace.name(detail.mangled_name) << ' ' << detail.grid[0] << ' ' << detail.block[0];
      break;
    }
    case TrackKind::kMemory:
      text << trace.memory_detail(event.detail).bytes << ' ' << memory_operation_name(trace.memory_detail(event.detail));
      break;
    case TrackKind::kCudaApi:
      text << static_cast<int>(trace.api_detail(event.detail).domain) << ' ' << trace.api_detail(event.detail).result;
      break;
    case TrackKind::kNvtxRanges:
      text << trace.nvtx_detail(event.detail).color << ' ' << trace.nvtx_detail(event.detail).payload << ' '
           << trace.domain_name(track.key.process, track.key.domain);
      break;
    default:
      text << (event.detail == 0 ? "" : "detail");
  }
  return text.str();
}

// All events of tracks [first, end), lane by lane in their order.
std::vector<std::string> events(const Trace& trace, TrackId first, TrackId end, Nanoseconds shift) {
  std::vector<std::string> lines;
  for (TrackId id = first; id < end; ++id)
    for (const LaneId lane : trace.tracks()[id].lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) lines.push_back(words(trace, trace.tracks()[id], trace.lane(lane).event(i), shift));
  return lines;
}

std::vector<std::string> events(const Trace& trace) { return events(trace, 0, static_cast<TrackId>(trace.tracks().size()), 0); }

// The only range with this name in a part.
EventRef range_named(const Trace& trace, const TracePart& part, std::string_view name) {
  EventRef found;
  for (TrackId id = part.first_track; id < part.end_track; ++id) {
    const Track& track = trace.tracks()[id];
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
        if (trace.name(trace.lane(lane).name(i)) == name) found = {lane, i};
  }
  REQUIRE(found.valid());
  return found;
}

}  // namespace

TEST_CASE("what several recordings lack alike is said once, with their names") {
  std::vector<TraceSource> sources;
  const auto add = [&](const std::string& label, const std::string& condition) {
    TraceBuilder builder;
    builder.provenance().condition = condition;
    TraceSource source;
    source.trace = builder.snapshot();
    source.label = label;
    sources.push_back(std::move(source));
  };
  const auto said = [&] { return combine_traces(sources)->provenance().condition; };
  add("rank 0  r0", "It was cut off.");
  add("rank 1  r1", "");
  add("rank 2  r2", "It was cut off.");
  add("rank 3  r3", "It is damaged.");
  CHECK(said() == "rank 0 r0, rank 2 r2: It was cut off. rank 3 r3: It is damaged.");
  for (int rank = 4; rank < 64; ++rank) add("r" + std::to_string(rank), "It was cut off.");
  CHECK(said() == "rank 0 r0, rank 2 r2, r4, r5 and 58 more: It was cut off. rank 3 r3: It is damaged.");
  sources.resize(2);
  for (int rank = 2; rank < 12; ++rank) add("r" + std::to_string(rank), "Byte " + std::to_string(rank) + " is damaged.");
  CHECK(said().ends_with("r8: Byte 8 is damaged. And 3 more are not whole."));
}

TEST_CASE("every event of each source is in its part of the combined trace, with all that is known of it") {
  const Nanoseconds shift = GENERATE(Nanoseconds{0}, Nanoseconds{12'345'678'901}, Nanoseconds{-987'654'321});
  const auto a = recorded("torch_training_workers0"), b = recorded("cuda_streams"), c = recorded("torch_graph");
  const std::vector<std::string> before = events(*a);
  const auto all = combine_traces(std::vector<TraceSource>{{a, "A", 0}, {b, "B", shift}, {c, "C", -shift}});
  REQUIRE(all->parts().size() == 3);
  CHECK(all->event_count() == a->event_count() + b->event_count() + c->event_count());
  const Trace* sources[] = {a.get(), b.get(), c.get()};
  const Nanoseconds shifts[] = {0, shift, -shift};
  for (std::size_t i = 0; i < 3; ++i) {
    const TracePart& part = all->parts()[i];
    CHECK(part.clock == ClockLine(shifts[i]));
    CHECK(events(*all, part.first_track, part.end_track, shifts[i]) == events(*sources[i]));
    CHECK(part.extent == TimeRange{sources[i]->extent().begin + shifts[i], sources[i]->extent().end + shifts[i]});
  }
  CHECK(all->extent().begin == std::min({a->extent().begin, b->extent().begin + shift, c->extent().begin - shift}));
  CHECK(all->extent().end == std::max({a->extent().end, b->extent().end + shift, c->extent().end - shift}));
  CHECK(events(*a) == before);  // the first trace shares its memory and is not changed
}

TEST_CASE("a trace combined with itself has everything twice, and calls find their own work") {
  const auto trace = recorded("torch_training_workers0");
  const auto twice = combine_traces(std::vector<TraceSource>{{trace, "A", 0}, {trace, "B", 5}});
  CHECK(twice->processes().size() == 2 * trace->processes().size());
  CHECK(twice->gpus().size() == 2 * trace->gpus().size());
  CHECK(twice->name_count() == trace->name_count());
  std::map<std::uint32_t, int> instances;
  for (const Process& process : twice->processes()) CHECK(++instances[process.instance] == 1);
  const auto lanes = static_cast<LaneId>(trace->lanes().size());
  for (const Track& track : trace->tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    for (const LaneId lane : track.lanes) {
      const EventRef work{lane, 0};
      const auto launch = trace->launch_of(work);
      CHECK(twice->launch_of(work) == launch);
      const auto of_second = twice->launch_of({lane + lanes, 0});
      REQUIRE(of_second.has_value() == launch.has_value());
      if (launch) CHECK(*of_second == EventRef{launch->lane + lanes, launch->index});
    }
  }
}

TEST_CASE("two combined traces of the same first source do not disturb each other") {
  const auto a = recorded("cuda_streams"), b = recorded("torch_graph"), c = recorded("numba_streams");
  const auto with_b = combine_traces(std::vector<TraceSource>{{a, "A", 0}, {b, "B", 0}});
  const std::vector<std::string> before = events(*with_b);
  const auto with_c = combine_traces(std::vector<TraceSource>{{a, "A", 0}, {c, "C", 0}});
  CHECK(events(*with_b) == before);
  CHECK(events(*with_c, with_c->parts()[1].first_track, with_c->parts()[1].end_track, 0) == events(*c));
}

TEST_CASE("an event's counterpart is the one of its name and number in the other trace") {
  const auto a = recorded("torch_training_workers0"), b = recorded("torch_training_workers4");
  const auto pair = combine_traces(std::vector<TraceSource>{{a, "A", 0}, {b, "B", shift_by_start(*a, *b)}});
  CHECK(pair->parts()[0].extent.begin == pair->parts()[1].extent.begin);
  const EventRef first = range_named(*pair, pair->parts()[0], "step 3"), second = range_named(*pair, pair->parts()[1], "step 3");
  CHECK(counterpart(*pair, first) == second);
  CHECK(counterpart(*pair, second) == first);
}

TEST_CASE("the time of day aligns recordings of one machine") {
  const auto a = recorded("torch_training_workers0"), b = recorded("torch_training_workers4");
  const auto shift = shift_by_utc(*a, *b);
  REQUIRE(shift.has_value());
  CHECK(*shift == b->provenance().utc_epoch - a->provenance().utc_epoch);
  CHECK(a->extent().end < b->extent().begin + *shift);  // record.sh made one after the other
}

TEST_CASE("a GPU that recordings of one run saw at the same time is one, and else it is two") {
  const auto rank = [](std::uint32_t pid, const std::string& uuid, const std::string& boot, Nanoseconds begin, Nanoseconds end) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(pid);
    Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = uuid;
    builder.set_device(process, 0, gpu);
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)},
                {{begin, end - begin, builder.intern("kernel"), 0, 0}});
    builder.provenance().boot_id = boot;
    builder.provenance().monotonic_epoch = 1'000;
    return builder.snapshot();
  };
  const std::string one(16, 'a'), other(16, 'b');
  const auto first = rank(1, one, "a boot", 0, 1'000);
  const auto count = [&](const std::shared_ptr<const Trace>& second, Nanoseconds shift, GpusSeenTwice seen_twice) {
    const auto both = combine_traces(std::vector<TraceSource>{{first, "rank0", 0, {}}, {second, "rank1", shift, {}}}, {}, seen_twice);
    std::set<GpuId> used;
    for (const Track& track : both->tracks()) used.insert(track.key.gpu);
    CHECK(both->gpus().size() == used.size());
    return used.size();
  };
  CHECK(count(rank(2, one, "a boot", 500, 1'500), 0, GpusSeenTwice::kAreOne) == 1);
  CHECK(count(rank(2, one, "a boot", 500, 1'500), 0, GpusSeenTwice::kAreTwo) == 2);              // they are compared
  CHECK(count(rank(2, other, "a boot", 500, 1'500), 0, GpusSeenTwice::kAreOne) == 2);            // another GPU
  CHECK(count(rank(2, "", "a boot", 500, 1'500), 0, GpusSeenTwice::kAreOne) == 2);               // nobody knows whether it is the same
  CHECK(count(rank(2, one, "another boot", 500, 1'500), 0, GpusSeenTwice::kAreOne) == 2);        // on another machine: no GPU is in two machines
  CHECK(count(rank(2, one, "a boot", 1'000, 1'500), 0, GpusSeenTwice::kAreOne) == 2);            // a run after the first
  CHECK(count(rank(2, one, "a boot", 500, 1'500), 2'000'000'000, GpusSeenTwice::kAreOne) == 2);  // laid over it with another shift
}

TEST_CASE("combining stops when it is asked to") {
  std::stop_source asked;
  asked.request_stop();
  const auto trace = recorded("cuda_streams");
  CHECK(combine_traces(std::vector<TraceSource>{{trace, "A", 0}, {trace, "B", 0}}, asked.get_token()) == nullptr);
}
