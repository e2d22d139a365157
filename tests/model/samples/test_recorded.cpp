// A real recording of tests/programs/python/cpu_loader.py: one thread compresses, the other reads JSON.
#include "model/samples/call_tree.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::samples;

namespace {

// Share of the thread's samples whose chains contain a function with this text in its name.
double share_through(const Trace& trace, ThreadId thread, std::string_view part) {
  SampleSelection selection;
  selection.threads = {thread};
  std::uint64_t through = 0, all = 0;
  for (const SampledStack& stack : sampled_stacks(trace, selection)) {
    bool found = false;
    for (const CodeLocationId location : trace.call_stacks().chain(stack.chain))
      for (const CodeFunction& function : trace.call_stacks().functions(location))
        found = found || trace.name(function.function).find(part) != std::string_view::npos;
    all += stack.weight.count;
    if (found) through += stack.weight.count;
  }
  return static_cast<double>(through) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("samples of a real program lie where its threads work") {
  const auto loaded = load_trace(test::data_file("cpu_loader.trace"));
  REQUIRE(loaded.has_value());
  const Trace& trace = **loaded;
  std::optional<ThreadId> main, loader;
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kCpuSamples)
      (trace.threads()[track.key.thread].tid == trace.processes()[track.key.process].pid ? main : loader) = track.key.thread;
  REQUIRE((main && loader));
  CHECK(share_through(trace, *loader, "zlib_compress") > 0.8);
  CHECK(share_through(trace, *main, "zlib_compress") == 0);
  CHECK(share_through(trace, *main, "_json") + share_through(trace, *main, "scan_once") > 0.2);
  CHECK(share_through(trace, *loader, "scan_once") == 0);

  // The recording is continuous: each thing that a thread did follows the one before.
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kThreadStates) continue;
    const Lane& states = trace.lane(track.lanes.front());
    for (EventIndex i = 1; i < states.size(); ++i) REQUIRE(states.start(i) == states.end(i - 1));
  }
}
