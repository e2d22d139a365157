// The agent's counting over a range profiler that a test controls: which launches it counts, and what happens to the others.
#include "agent/kernel_counters/collection.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>

#include <cupti.h>

#include "agent/kernel_counters/choice/launch_table.h"
#include "agent/kernel_counters/plan.h"
#include "agent/nvtx/included_range.h"
#include "agent/nvtx/names.h"
#include "counted_program.h"
#include "kernel_metrics/evaluation.h"
#include "kernel_metrics/records.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace counters = lanescope::agent::kernel_counters;

TEST_CASE("launches are counted by name, number and count") {
  channel::LaunchChoice choice = all_launches();
  choice.name_rule = channel::KernelNameRule::kExact;
  std::strcpy(choice.name, "saxpy");
  choice.skip = 2;
  choice.count = 3;
  Program program(choice, {{"GA100", "none "}, {"GH100", "x    "}});
  for (int i = 0; i < 8; ++i) {
    program.launch("_Z5otherv");
    CHECK_FALSE(program.was_counted());
    program.launch("_Z5saxpyifPKfPf");
    CHECK(program.was_counted() == (i >= 2 && i < 5));
  }
  CHECK(program.counted() == std::vector<std::uint32_t>{6, 8, 10});
  const auto records = program.records();
  CHECK(records.counted[0].kernel == "_Z5saxpyifPKfPf");
  CHECK(records.counted[0].record.set == 1);
  CHECK(records.counted[0].image.at(1) == 'x');  // the configuration of this chip
  CHECK(program.mock().mistakes == 0);
  CHECK(program.mock().stops == 3);
}

TEST_CASE("launches are counted while a range is open that was named") {
  namespace nvtx = lanescope::agent::nvtx;
  const auto name_range = [](const char* name) {
    setenv(channel::kKernelRangeVariable, name, 1);
    nvtx::read_included_range();
  };
  const std::uint32_t other = nvtx::domain_named("loader")->id;
  channel::LaunchChoice choice = all_launches();
  choice.skip = 1;
  {
    name_range("step 3");
    Program program(choice, {{"GH100", "x    "}});
    const auto launch = [&program] { program.launch("_Z5saxpyifPKfPf"); };
    launch();  // 1
    nvtx::begin_included(0, "step 2", 7);
    nvtx::begin_included(other, "step 3", 8);
    launch();  // 2
    nvtx::begin_included(0, "step 3", 9);
    launch();                               // 3: the first that counts, skipped
    launch();                               // 4
    nvtx::begin_included(0, "step 3", 10);  // on another thread
    nvtx::end_included(7);
    nvtx::end_included(9);
    launch();  // 5
    nvtx::end_included(10);
    launch();  // 6
    CHECK(program.counted() == std::vector<std::uint32_t>{4, 5});
  }
  {
    name_range("loader@step 3");
    Program program(choice, {{"GH100", "x    "}});
    nvtx::begin_included(0, "step 3", 9);
    program.launch("_Z5saxpyifPKfPf");
    nvtx::begin_included(other, "step 3", 10);
    program.launch("_Z5saxpyifPKfPf");
    program.launch("_Z5saxpyifPKfPf");
    program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_ENTER);
    program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_EXIT);
    CHECK(program.counted() == std::vector<std::uint32_t>{3});
  }
  name_range("");
  CHECK(nvtx::is_included());
}

TEST_CASE("of sampled launches the first and the tenth are counted, with one after the other of the sets") {
  channel::LaunchChoice choice = all_launches();
  choice.is_sampled = 1;
  Program program(choice, {{"GH100", "1    "}, {"GH100", "2    "}});
  for (int i = 0; i < 30; ++i) {
    if (i == 10) std::this_thread::sleep_for(std::chrono::milliseconds(150));  // changes of the set keep a minimum distance
    program.launch("_Z4gemmv");
  }
  CHECK(program.counted() == std::vector<std::uint32_t>{1, 2, 10, 11});
  const auto counted = program.records().counted;
  CHECK(counted[0].record.group == counted[1].record.group);
  CHECK(counted[2].record.group == counted[3].record.group);
  CHECK(counted[0].record.group != counted[2].record.group);
  const std::vector<std::uint32_t> sets{0, 1, 1, 0};  // the set that is already counted comes first
  for (std::size_t i = 0; i < counted.size(); ++i) {
    CHECK(counted[i].record.set == sets[i]);
    const std::uint8_t set = sets[i] == 0 ? '1' : '2';
    CHECK(counted[i].image.at(1) == set);  // what the hardware counted
    CHECK(counted[i].image.at(2) == set);  // what its image is laid out for
  }
  CHECK(program.mock().enabled == 1);
}

TEST_CASE("of kernels and shapes that were chosen the first launch is counted, and the one that was named") {
  channel::LaunchChoice choice = all_launches();
  choice.is_sampled = 1;
  choice.kinds = 2;
  choice.chosen[0] = {channel::launch_kind("_Z4gemmv", {128, 0, 0, 0, 0, 0, 0}), 4};
  choice.chosen[1] = {channel::launch_kind("_Z4onlyv", {128, 0, 0, 0, 0, 0, 0}), 0};
  Program program(choice, {{"GH100", "1    "}});
  for (int i = 0; i < 12; ++i)
    for (const char* name : {"_Z4gemmv", "_Z4onlyv", "_Z5otherv"}) program.launch(name);
  CHECK(program.counted() == std::vector<std::uint32_t>{1, 2, 3 * 4 + 1});
}

TEST_CASE("a kernel whose first counts took long is counted a second time as well") {
  channel::LaunchChoice choice = all_launches();
  choice.is_sampled = 1;
  Program program(choice, {{"GH100", "1    "}, {"GH100", "2    "}, {"GH100", "3    "}});
  // Changes of the set keep a minimum distance, so the third set comes after the tenth launch.
  const auto launch_until_counted = [&](std::size_t counts) {
    for (int tries = 0; tries < 1000 && program.counted().size() < counts; ++tries) {
      program.launch("_Z4gemmv");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  launch_until_counted(3);
  launch_until_counted(6);
  const auto counted = program.records().counted;
  REQUIRE(counted.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK((counted[i].record.group == counted[0].record.group) == (i < 3));
}

TEST_CASE("launches that take sets in turn are one of those that were asked for") {
  channel::LaunchChoice choice = all_launches();
  choice.count = 1;
  Program program(choice, {{"GH100", "1    "}, {"GH100", "2    "}});
  for (int i = 0; i < 5; ++i)
    for (const char* name : {"_Z1av", "_Z1bv"}) program.launch(name);
  const auto counted = program.records().counted;
  REQUIRE(counted.size() == 2);
  for (const auto& each : counted) {
    CHECK(each.kernel == "_Z1av");
    CHECK(each.record.group == counted[0].record.group);
  }
  CHECK(counted[0].record.set != counted[1].record.set);
}

TEST_CASE("where each run of the program counts one set, every launch has that of its run, cooperative ones too") {
  for (const char* const run : {"0", "1", "2"}) {
    setenv(channel::kKernelRunVariable, run, 1);
    Program program(all_launches(), {{"GA100", "none "}, {"GH100", "1    "}, {"GH100", "2    "}}, channel::CounterReplay::kApplication);
    program.launch("_Z4gemmv");
    program.launch("_Z4gridv", CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
    program.launch("_Z4gemmv");
    const auto counted = program.records().counted;
    REQUIRE(counted.size() == (*run == '2' ? 0 : 3));  // the chip has no third set
    for (const auto& each : counted) {
      CHECK(each.record.outcome == channel::CounterOutcome::kMeasured);
      CHECK(each.record.set == (*run == '0' ? 1u : 2u));
    }
    CHECK(program.mock().mistakes == 0);
  }
  unsetenv(channel::kKernelRunVariable);
}

TEST_CASE("all that is launched while a range is open is counted together, from the first launch in it to its end") {
  namespace nvtx = lanescope::agent::nvtx;
  setenv(channel::kKernelRangeVariable, "step 3", 1);
  setenv(channel::kKernelRunVariable, "1", 1);
  nvtx::read_included_range();
  channel::LaunchChoice choice = all_launches();
  choice.skip = 1;
  choice.count = 3;
  {
    Program program(choice, {{"GH100", "1    "}, {"GH100", "2    "}}, channel::CounterReplay::kRange);
    CHECK(counters::excludes_activity());
    const auto range = [&program](int launches) {
      nvtx::begin_included(0, "step 3", 7);
      CHECK_FALSE(program.mock().is_started);
      for (int i = 0; i < launches; ++i)
        program.launch("_Z4gridv", i == 1 ? CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch : CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
      nvtx::end_included(7);
      CHECK_FALSE(program.mock().is_started);
      program.launch("_Z5otherv");
    };
    program.launch("_Z5otherv");
    range(1);  // skipped
    range(3);
    range(0);  // without launches
    nvtx::begin_included(0, "step 3", 1);
    program.launch("_Z4gemmv");
    nvtx::begin_included(0, "step 3", 2);  // within it, or on another thread: counts as the same range
    program.launch("_Z4gemmv");
    nvtx::end_included(1);
    program.launch("_Z4gemmv");
    nvtx::end_included(2);
    CHECK_FALSE(program.mock().is_started);
    range(1);
    range(1);  // beyond the maximum count
    const auto records = program.records();
    REQUIRE(records.counted.size() == 3);
    REQUIRE(records.kernels.size() == 3);
    const std::uint32_t launches[] = {3, 3, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      const kernel_metrics::Counted& counted = records.counted[i];
      CHECK(counted.record.outcome == channel::CounterOutcome::kMeasured);
      CHECK(counted.kernel == "NVTX range step 3");
      CHECK(counted.record.launches == launches[i]);
      CHECK(counted.image.at(3) == launches[i]);
      CHECK(counted.record.set == 1);  // the set of this run
      CHECK(records.kernels[i].record.correlation == counted.record.correlation);
      CHECK(records.kernels[i].record.grid[0] == 0);
    }
    CHECK(program.mock().starts == 3);
    CHECK(program.mock().stops == 3);
    CHECK(program.mock().mistakes == 0);
  }
  {
    // A range that ends while a graph is captured cannot be waited for: it ends with a later launch, and is left out.
    Program program(all_launches(), {{"GH100", "1    "}, {"GH100", "2    "}}, channel::CounterReplay::kRange);
    nvtx::begin_included(0, "step 3", 7);
    program.launch("_Z1av");
    program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
    nvtx::end_included(7);
    CHECK(program.mock().is_started);
    program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
    program.launch("_Z1av");
    CHECK_FALSE(program.mock().is_started);
    const auto counted = program.records().counted;
    REQUIRE(counted.size() == 1);
    CHECK(counted[0].record.outcome == channel::CounterOutcome::kLeftOut);
    CHECK(counted[0].reason.find("graph was being captured") != std::string::npos);
    CHECK(program.mock().mistakes == 0);
  }
  unsetenv(channel::kKernelRunVariable);
  setenv(channel::kKernelRangeVariable, "", 1);
  nvtx::read_included_range();
}

TEST_CASE("what runs from cudaProfilerStart to cudaProfilerStop is a range, and says which launches are measured") {
  namespace nvtx = lanescope::agent::nvtx;
  setenv(channel::kKernelRangeVariable, channel::kProfilerRange, 1);
  setenv(channel::kKernelRunVariable, "0", 1);
  nvtx::read_included_range();
  const auto replay = GENERATE(channel::CounterReplay::kRange, channel::CounterReplay::kKernel);
  {
    Program program(all_launches(), {{"GH100", "1    "}}, replay);
    const auto call = [&program](CUpti_CallbackId id) {
      CUresult done = CUDA_SUCCESS;
      for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
        CUpti_CallbackData data{};
        data.callbackSite = site;
        data.functionReturnValue = &done;
        counters::follow_call(id, data);
      }
    };
    program.launch("_Z6beforev");
    call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
    call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);  // has no effect
    program.launch("_Z1av");
    program.launch("_Z1bv");
    call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    for (const char* const text : {"", "@", "cudaProfilerStart"}) {  // NVTX ranges do not count here, whatever their text is
      nvtx::begin_included(0, text, 1);
      program.launch("_Z6behindv");
      nvtx::end_included(1);
    }
    const auto counted = program.records().counted;
    if (replay == channel::CounterReplay::kKernel) {
      CHECK(program.counted() == std::vector<std::uint32_t>{2, 3});
    } else {
      REQUIRE(counted.size() == 1);
      CHECK(counted[0].kernel == "cudaProfilerStart to cudaProfilerStop");
      CHECK(counted[0].record.launches == 2);
    }
    CHECK(program.mock().mistakes == 0);
  }
  unsetenv(channel::kKernelRunVariable);
  setenv(channel::kKernelRangeVariable, "cudaProfilerStart", 1);
  nvtx::read_included_range();
  nvtx::begin_profiler_range(1);  // an NVTX range with this text is wanted
  CHECK_FALSE(nvtx::is_included());
  setenv(channel::kKernelRangeVariable, "", 1);
  nvtx::read_included_range();
}

TEST_CASE("launches of another run are those of the same kind and number in the first") {
  using kernel_metrics::kNoLaunch;
  const std::vector<std::uint64_t> first{7, 8, 7, 9}, second{8, 7, 7, 7, 5};
  CHECK(kernel_metrics::match_launches(first, second) == std::vector<std::size_t>{1, 0, 2, kNoLaunch, kNoLaunch});
  CHECK(kernel_metrics::match_launches({}, second) == std::vector<std::size_t>(5, kNoLaunch));
  CHECK(kernel_metrics::match_launches(first, {}).empty());
}

TEST_CASE("launches wait unmeasured for a set that is not counted at once") {
  Program program(all_launches(), {{"GH100", "1    "}, {"GH100", "2    "}});
  for (int i = 0; i < 3; ++i)
    for (const char* name : {"_Z1av", "_Z1bv", "_Z1cv"}) program.launch(name);
  // The first round counts set 0, the second set 1; the third, which follows complete groups, needs no change of the set.
  CHECK(program.counted() == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto counted = program.records().counted;
  for (std::size_t i = 0; i < counted.size(); ++i) CHECK(counted[i].record.set == (i < 3 ? 0u : 1u));
  for (const char* name : {"_Z1av", "_Z1bv"}) program.launch(name);  // now set 0 is due, but the set was changed just before
  CHECK(program.counted().size() == 9);
  CHECK(program.mock().starts == 9);
  CHECK(program.mock().mistakes == 0);
}

TEST_CASE("what would wait for others, and graphs, are left out and named once") {
  Program program(all_launches(), {{"GH100", "x    "}});
  for (int i = 0; i < 3; ++i) {
    program.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    CHECK_FALSE(program.was_counted());
    program.launch("_Z4gridv", CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
    CHECK_FALSE(program.was_counted());
    program.launch(nullptr, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
    CHECK_FALSE(program.was_counted());
  }
  std::vector<std::string> named;
  for (const auto& each : program.records().counted) {
    CHECK(each.record.outcome == channel::CounterOutcome::kLeftOut);
    CHECK_FALSE(each.reason.empty());
    named.push_back(each.kernel);
  }
  CHECK(named == std::vector<std::string>{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "_Z4gridv", "CUDA graph"});
}

TEST_CASE("nothing is counted while a stream is captured") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  program.launch("_Z4gemmv");
  CHECK_FALSE(program.was_counted());
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
  program.launch("_Z4gemmv");
  CHECK(program.was_counted());
}

TEST_CASE("a kernel that is launched while a stream is captured is named, once, and its launch does not count as one") {
  channel::LaunchChoice choice = all_launches();
  choice.skip = 1;
  Program program(choice, {{"GH100", "x    "}});
  program.launch("_Z4gemmv");  // skipped
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  program.launch("_Z4gemmv");
  program.launch("_Z4gemmv");
  program.launch("_Z5otherv");
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
  program.launch("_Z4gemmv");
  CHECK(program.was_counted());  // the second that runs
  std::vector<std::string> named;
  for (const kernel_metrics::Counted& each : program.records().counted) {
    if (each.record.outcome != channel::CounterOutcome::kLeftOut) continue;
    CHECK(each.reason == "A CUDA graph was being captured, at one launch of it at least.");
    named.push_back(each.kernel);
  }
  CHECK(named == std::vector<std::string>{"_Z4gemmv", "_Z5otherv"});
}

TEST_CASE("where CUPTI refuses, the program goes on without counting") {
  const char* function = GENERATE("cuptiProfilerInitialize", "cuptiProfilerDeviceSupported", "cuptiRangeProfilerEnable", "cuptiRangeProfilerGetCounterDataSize",
                                  "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart",
                                  "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData");
  const int result = GENERATE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_HARDWARE_BUSY, CUPTI_ERROR_UNKNOWN);
  CAPTURE(function, result);
  Program program(all_launches(), {{"GH100", "x    "}});
  program.mock().refused = function;
  program.mock().result = result;
  program.launch("_Z4gemmv");
  program.launch("_Z4gemmv");
  CHECK_FALSE(program.was_counted());
  CHECK(program.counted().empty());
  CHECK(program.mock().starts <= 1);
  std::thread other([&program] { program.launch("_Z5otherv"); });  // nothing holds it up
  other.join();
}

TEST_CASE("counts of more than the launch, or of fewer passes, are no values") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv", kLaunch, 2);
  program.launch("_Z4gemmv", kLaunch, 0);
  program.mock().leaves_passes = true;
  program.launch("_Z4gemmv");
  CHECK(program.counted().empty());
  CHECK(program.records().counted.size() == 3);
  program.mock().leaves_passes = false;
  program.launch("_Z4gemmv");
  CHECK(program.counted() == std::vector<std::uint32_t>{program.last()});
}

TEST_CASE("counting ends with its budget") {
  channel::LaunchChoice choice = all_launches();
  choice.budget = 1;  // ns
  Program program(choice, {{"GH100", "x    "}});
  for (int i = 0; i < 5; ++i) program.launch("_Z4gemmv");
  CHECK(program.counted() == std::vector<std::uint32_t>{1});
}

TEST_CASE("a GPU that was not planned for is left alone") {
  Program program(all_launches(), {{"AD102", "x    "}});
  program.launch("_Z4gemmv");
  CHECK_FALSE(program.was_counted());
  CHECK(program.mock().starts == 0);
}

TEST_CASE("the profiler of a context that ends is given back before") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  CHECK(program.mock().enabled == 1);
  counters::forget_contexts();
  CHECK(program.mock().enabled == 0);
  program.launch("_Z4gemmv");
  CHECK(program.was_counted());
}

TEST_CASE("records without times are taken of launches that were counted, and of no others") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  CUpti_ActivityKernel10 record{};
  record.name = "_Z4gemmv";
  record.gridX = 128;
  record.registersPerThread = 32;
  record.correlationId = program.last() + 1;
  CHECK_FALSE(counters::take_record(record));
  record.correlationId = program.last();
  CHECK(counters::take_record(record));
  const auto kernels = program.records().kernels;
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1].name == "_Z4gemmv");
  CHECK(kernels[1].record.grid[0] == 128);
  CHECK(kernels[1].record.registers_per_thread == 32);
}

TEST_CASE("a launch that was counted is a kernel before CUPTI's record of it comes, which may be never") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  const auto kernels = program.records().kernels;
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].name == "_Z4gemmv");
  CHECK(kernels[0].record.correlation == program.last());
  CHECK(kernels[0].record.grid[0] == 128);
  CHECK(kernels[0].record.block[0] == 0);
}

TEST_CASE("CUPTI is asked for the number of a launch's stream as it knows that stream") {
  const auto named = reinterpret_cast<CUstream>(0x1000);
  struct Asked {
    CUpti_CallbackId call;
    CUstream launched, stream;
    bool is_of_thread;
  };
  for (const Asked& asked : {Asked{kLaunch, named, named, false}, Asked{kLaunch, nullptr, nullptr, false}, Asked{kLaunch, CU_STREAM_LEGACY, nullptr, false},
                             Asked{kLaunch, CU_STREAM_PER_THREAD, nullptr, true}, Asked{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, nullptr, nullptr, true},
                             Asked{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, named, named, false}}) {
    Program program(all_launches(), {{"GH100", "x    "}});
    program.launch("_Z4gemmv", asked.call, 1, asked.launched);
    CHECK(program.mock().stream == asked.stream);
    CHECK(program.mock().is_stream_of_thread == asked.is_of_thread);
    REQUIRE(program.records().kernels.size() == 1);
    CHECK(program.records().kernels[0].record.stream == 14);
  }
}

TEST_CASE("kernels beyond those that are told from each other are left out, which is said once") {
  channel::LaunchChoice choice = all_launches();
  choice.count = 1;
  Program program(choice, {{"GH100", "x    "}});
  for (std::size_t i = 0; i < counters::LaunchTable::kPlaces / 2 + 3; ++i) program.launch(("kernel_" + std::to_string(i)).c_str());
  const auto counted = program.records().counted;
  REQUIRE(counted.size() == 2);
  CHECK(counted[1].record.outcome == channel::CounterOutcome::kLeftOut);
  CHECK(counted[1].kernel == "Further kernels");
}

TEST_CASE("a call that ends no capture leaves another thread's as it is") {
  Program program(all_launches(), {{"GH100", "x    "}});
  const auto end_capture = [&program](CUresult result) {
    CUpti_CallbackData data{};
    data.callbackSite = CUPTI_API_EXIT;
    data.context = kContext;
    data.functionReturnValue = &result;
    counters::follow_call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, data);
  };
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  for (const CUresult result : {CUDA_ERROR_ILLEGAL_STATE, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_ERROR_INVALID_VALUE}) {
    end_capture(result);
    program.launch("_Z4gemmv");
    CHECK_FALSE(program.was_counted());
  }
  end_capture(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  program.launch("_Z4gemmv");
  CHECK(program.was_counted());
}

TEST_CASE("a kernel of which CUPTI has the times is an event already") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  CUpti_ActivityKernel10 record{};
  record.name = "_Z4gemmv";
  record.correlationId = program.last();
  record.start = 1;
  record.end = 2;
  CHECK_FALSE(counters::take_record(record));
  const auto kernels = program.records().kernels;
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1].record.correlation == program.last());
  CHECK(kernels[1].name.empty());
}

TEST_CASE("CUPTI's record of a kernel counts, also where it comes while the counters are still read") {
  for (const bool has_times : {false, true}) {
    INFO(has_times);
    Program program(all_launches(), {{"GH100", "x    "}});
    cuLaunchKernel_params parameters{};
    parameters.gridDimX = 128;
    const std::uint32_t launch = program.last() + 1;
    CUpti_ActivityKernel10 record{};
    record.name = "_Z4gemmv";
    record.correlationId = launch;
    record.gridX = 128;
    record.blockX = 256;
    record.registersPerThread = 32;
    record.start = record.end = has_times ? 1 : 0;
    program.call(kLaunch, CUPTI_API_ENTER, "_Z4gemmv", &parameters, launch);
    program.mock().kernels += 1;
    CHECK(counters::take_record(record) != has_times);  // on CUPTI's own thread
    program.call(kLaunch, CUPTI_API_EXIT, "_Z4gemmv", &parameters, launch);
    REQUIRE(program.records().kernels.size() == 2);
    const kernel_metrics::RanKernels kernels = kernel_metrics::read_kernels(std::filesystem::directory_iterator(program.record_folder())->path());
    REQUIRE(kernels.size() == 1);
    CHECK(kernels.at(launch).name == (has_times ? "" : "_Z4gemmv"));
    CHECK(kernels.at(launch).record.registers_per_thread == (has_times ? 0 : 32));
  }
}

TEST_CASE("a program whose files may not grow runs on, and what does not fit is not written") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  REQUIRE(program.counted().size() == 1);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_FSIZE, &none);
    program.launch("_Z4gemmv");
    program.launch("_Z4gemmv");
    _exit(program.was_counted() ? 1 : 0);  // not after the first that had no room
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(program.counted().size() == 1);
  CHECK_FALSE(program.records().is_cut);
}

TEST_CASE("a program that closes all descriptors and opens its own gets nothing of what is counted") {
  Program program(all_launches(), {{"GH100", "x    "}});
  program.launch("_Z4gemmv");
  const test::TemporaryFolder theirs;
  const std::string file = (theirs.path() / "file").string();
  constexpr int kBeyondOurs = 600;  // the agent's lie from 512 on
  const pid_t child = fork();
  if (child == 0) {
    for (int number = 3; number < kBeyondOurs; ++number) {
      close(number);
      if (open(file.c_str(), O_WRONLY | O_CREAT, 0600) != number) _exit(2);
    }
    program.launch("_Z4gemmv");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::filesystem::file_size(file) == 0);
  CHECK(program.counted().size() == 2);
}

TEST_CASE("a launch after the end of the recording does not wait for its plan") {
  Program program(all_launches(), {{"GH100", "x    "}});
  std::filesystem::remove_all(program.folder());
  counters::Plan plan;  // it may wait for any time
  CHECK(plan.read(program.folder().c_str(), std::numeric_limits<std::int64_t>::max()) == counters::Plan::Found::kNone);
  program.launch("_Z4gemmv");
  CHECK_FALSE(program.was_counted());
}
