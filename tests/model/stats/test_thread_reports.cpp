#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/building/thread_states.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::stats;

namespace {

// Two threads: one runs 30 of 100 ns, the other all of 60; samples of a recursive function, of C++ with parameters, of Python.
std::shared_ptr<const Trace> two_threads() {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 100;
  builder.name_thread(builder.thread(process, 101), "main");
  const ThreadStateSpan of_main[] = {{0, 10, {ThreadState::kRunning, 2}},
                                     {10, 60, {ThreadState::kBlocked, kNone}},
                                     {70, 5, {ThreadState::kRunnable, kNone}},
                                     {75, 20, {ThreadState::kRunning, 3}},
                                     {95, 5, {ThreadState::kUnknown, kNone}}};
  add_thread_states(builder, process, 101, of_main);
  const ThreadStateSpan of_other[] = {{20, 60, {ThreadState::kRunning, 0}}};
  add_thread_states(builder, process, 102, of_other);

  const NameId program = builder.intern("/bin/program");
  const auto native = [&](const char* name, std::uint64_t address) {
    return builder.code_location({CodeKind::kNative, program, 0, address}, {builder.intern(name), 0, 0});
  };
  const CallNodeId main = builder.call_node({0, native("main", 1)});
  const CodeLocationId recursive = native("ns::walk<int>(Node*, int)", 2);
  const CallNodeId once = builder.call_node({main, recursive});
  const CallNodeId twice = builder.call_node({once, recursive});
  const CallNodeId python =
      builder.call_node({main, builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern("load"), builder.intern("/home/user/train.py"), 30})});
  const SampleEvent samples[] = {{1, 0, {twice, SampleOrigin::kTimer}},
                                 {2, 0, {once, SampleOrigin::kTimer}},
                                 {3, 0, {main, SampleOrigin::kTimer}},
                                 {80, 0, {python, SampleOrigin::kTimer}}};
  add_samples(builder, process, 101, samples);
  return builder.snapshot();
}

std::string csv(std::string_view request, const ReportOptions& options = {}) {
  const auto parsed = parse_report(request, options);
  REQUIRE(parsed);
  const auto table = make_report(*parsed->report, *two_threads(), parsed->options);
  REQUIRE(table);
  return format_table(*table, Format::kCsv);
}

}  // namespace

TEST_CASE("samples are counted by function, once for each chain that goes through it") {
  const std::string header = "Self (%),Total (%),Self Samples,Total Samples,Function,Module,Source File,Source Line\n";
  CHECK(csv("cpu_samples") == header +
                                  "50.0,50.0,2,2,\"ns::walk<int>(Node*, int)\",program,,\n"
                                  "25.0,100.0,1,4,main,program,,\n"
                                  "25.0,25.0,1,1,load,Python,/home/user/train.py,30\n");
  CHECK(csv("cpu_samples:base:rows=1") == header + "50.0,50.0,2,2,walk,program,,\n");
  // The interpreter calls Python: of that chain, only load() is left.
  CHECK(csv("cpu_samples:python") == header +
                                         "50.0,50.0,2,2,\"ns::walk<int>(Node*, int)\",program,,\n"
                                         "25.0,75.0,1,3,main,program,,\n"
                                         "25.0,25.0,1,1,load,Python,/home/user/train.py,30\n");
  CHECK(csv("cpu_samples:no-interpreter") == csv("cpu_samples:python"));  // load() calls nothing
  ReportOptions options;
  options.time_range = TimeRange{50, 90};
  CHECK(csv("cpu_samples", options) == header +
                                           "100.0,100.0,1,1,load,Python,/home/user/train.py,30\n"
                                           "0.0,100.0,0,1,main,program,,\n");
}

TEST_CASE("states of a thread add up to the time that is known of it") {
  const std::string header = "Running (%),Running (ns),Runnable (ns),Blocked (ns),Unknown (ns),Runs,Avg Run (ns),CPUs,PID,TID,Thread Name\n";
  CHECK(csv("thread_states") == header +
                                    "100.0,60,0,0,0,1,60,1,100,102,\n"
                                    "30.0,30,5,60,5,2,15,2,100,101,main\n");
  ReportOptions options;
  options.time_range = TimeRange{60, 85};
  CHECK(csv("thread_states", options) == header +
                                             "100.0,20,0,0,0,1,20,1,100,102,\n"
                                             "40.0,10,5,10,0,1,10,1,100,101,main\n");
}
