#include <algorithm>
#include <array>
#include <random>
#include <sstream>

#include "hand_made.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::stats;

namespace {

std::string csv(std::string_view request, const ReportOptions& options = {}) {
  const auto parsed = parse_report(request, options);
  REQUIRE(parsed);
  const auto table = make_report(*parsed->report, *test::hand_made(), parsed->options);
  REQUIRE(table);
  return format_table(*table, Format::kCsv);
}

}  // namespace

TEST_CASE("API calls of a name are summed without the version of four digits") {
  CHECK(csv("cuda_api_sum") ==
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "57.1,40,2,20.0,20.0,10,30,14.1,cudaLaunchKernel\n"  // deviation: sqrt((10^2 + 10^2) / 1)
        "28.6,20,1,20.0,20.0,20,20,0.0,cudaMemcpyAsync\n"
        "14.3,10,1,10.0,10.0,10,10,0.0,cudaMemset\n");
}

// Twelve kernels of 9e17 ns (28 years) each run at once: together longer than a number of 64 bits can say.
TEST_CASE("a sum that is too long stays at the longest, and its mean is right") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  for (std::uint32_t stream = 1; stream <= 12; ++stream) {
    TrackKey key;
    key.kind = TrackKind::kKernels;
    key.process = process;
    key.gpu = builder.gpu_of_device(process, 0);
    key.stream = stream;
    builder.add(key, {Event{0, 900'000'000'000'000'000, builder.intern("k"), 0, 0}});
  }
  const auto trace = builder.snapshot();
  const auto parsed = parse_report("cuda_gpu_kern_sum", {});
  REQUIRE(parsed);
  const auto table = make_report(*parsed->report, *trace, parsed->options);
  REQUIRE(table);
  CHECK(format_table(*table, Format::kCsv) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "100.0,9223372036854775807,12,900000000000000000.0,900000000000000000.0,900000000000000000,900000000000000000,0.0,k\n");
}

TEST_CASE("events are summed by columns that are chosen, and others are named where there is none of the name") {
  CHECK(csv("event_sum:by=kind:by=grid").find(",150,Kernel,") != std::string::npos);
  // Two kernels of 50 and 150 ns, four calls of 70 ns together.
  const std::string kernels = csv("event_sum:by=kind:kind=kernel"), both = csv("event_sum:by=kind:kind=kernel:kind=cuda-api");
  CHECK(std::count(kernels.begin(), kernels.end(), '\n') == 2);
  CHECK(kernels.find(",200,2,") != std::string::npos);
  CHECK(std::count(both.begin(), both.end(), '\n') == 3);
  CHECK(both.find(",70,4,") != std::string::npos);
  for (const char* kind : {"colour", "thread-state"}) {
    const auto unknown = parse_report(std::string("event_sum:kind=") + kind, {});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().text.find("of events to be summed. It is one of: kernel, copy, set,") != std::string::npos);
  }
  const auto wrong = parse_report("event_sum:by=colour", {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text.find("no column colour to be summed by. It is one of: name, family, kind,") != std::string::npos);
}

TEST_CASE("kernels are summed by their demangled, base or mangled name") {
  const std::string header = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";
  CHECK(csv("cuda_gpu_kern_sum") == header + "100.0,200,2,100.0,100.0,50,150,70.7,void add<float>(float*)\n");
  CHECK(csv("cuda_gpu_kern_sum:base") == header + "100.0,200,2,100.0,100.0,50,150,70.7,add\n");
  CHECK(csv("cuda_gpu_kern_sum:mangled") == header + "100.0,200,2,100.0,100.0,50,150,70.7,_Z3addIfEvPT_\n");
}

TEST_CASE("a kernel's range is the innermost that encloses its launching call") {
  CHECK(csv("cuda_gpu_kern_sum:nvtx-name:base") ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "75.0,150,1,150.0,150.0,150,150,0.0,forward/add\n"
        "25.0,50,1,50.0,50.0,50,50,0.0,step/add\n");
}

TEST_CASE("kernels of a name are told apart by grid and block") {
  CHECK(csv("cuda_gpu_kern_gb_sum:base") ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n"
        "100.0,200,2,100.0,100.0,50,150,70.7,1024    1    1, 128    1    1,add\n");
}

TEST_CASE("launches of a shape are one row of occupancy, but where the split of shared memory leaves room for other numbers of blocks") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.compute_major = 9;
  gpu.multiprocessor_count = 132;
  builder.set_device(process, 0, gpu);
  const TrackKey stream{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
  KernelDetail shape;
  shape.grid[0] = 264, shape.grid[1] = shape.grid[2] = 1;
  shape.block[0] = 1024, shape.block[1] = shape.block[2] = 1;
  shape.registers_per_thread = 32;  // two blocks by registers, and by warps
  shape.dynamic_shared_memory = 36'352;
  const NameId name = builder.intern("reduce");
  // The splits: unknown, one too small for one block, one of another kernel with room for three, six times the kernel's own, and one with room for one block.
  Nanoseconds t = 0;
  for (const std::uint32_t split : {0u, 32'768u, 233'472u, 233'472u, 233'472u, 135'168u, 233'472u, 233'472u, 65'536u, 233'472u}) {
    shape.shared_memory_executed = split;
    builder.add(stream, {{t += 100, 10, name, 0, builder.intern(shape)}});
  }
  const auto parsed = parse_report("occupancy_sum", {});
  REQUIRE(parsed);
  const auto table = make_report(*parsed->report, *builder.snapshot(), parsed->options);
  REQUIRE(table);
  const std::string rows = format_table(*table, Format::kCsv);
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 3);
  CHECK(rows.find("90.0,90,9,10.0,10.0,10,10,0.0,100.0,warps and registers,,2,1.0,") != std::string::npos);
  CHECK(rows.find("10.0,10,1,10.0,10.0,10,10,0.0,50.0,shared memory,") != std::string::npos);
}

TEST_CASE("copies and sets are summed by time and by size") {
  CHECK(csv("cuda_gpu_mem_time_sum") ==
        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
        "83.3,100,1,100.0,100.0,100,100,0.0,[CUDA memcpy Host-to-Device]\n"
        "16.7,20,1,20.0,20.0,20,20,0.0,[CUDA memset]\n");
  CHECK(csv("cuda_gpu_mem_size_sum") ==
        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
        "2.000,1,2.000,2.000,2.000,2.000,0.000,[CUDA memcpy Host-to-Device]\n"
        "0.001,1,0.001,0.001,0.001,0.001,0.000,[CUDA memset]\n");
}

TEST_CASE("the shares of calls, kernels and memory operations are of all three together") {
  CHECK(csv("cuda_gpu_sum:base") ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation\n"
        "62.5,200,2,100.0,100.0,50,150,70.7,CUDA_KERNEL,add\n"  // of 320 ns
        "31.3,100,1,100.0,100.0,100,100,0.0,MEMORY_OPER,[CUDA memcpy Host-to-Device]\n"
        "6.3,20,1,20.0,20.0,20,20,0.0,MEMORY_OPER,[CUDA memset]\n");
  CHECK(csv("cuda_api_gpu_sum:base:rows=1") ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation\n"
        "51.3,200,2,100.0,100.0,50,150,70.7,CUDA_KERNEL,add\n");  // of 390 ns
}

TEST_CASE("the trace of calls names thread and priority") {
  CHECK(csv("cuda_api_trace:rows=2") ==
        "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
        "100,10,cudaLaunchKernel,0,1,100,101,20,main\n"
        "200,30,cudaLaunchKernel,0,2,100,101,20,main\n");
}

TEST_CASE("the trace of the GPU tells shapes of kernels, and sizes, memory and throughput of copies") {
  CHECK(csv("cuda_gpu_trace:base") ==
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput "
        "(MB/s),SrcMemKd,DstMemKd,"
        "Device,Ctx,GreenCtx,Strm,Name\n"
        "105,50,1,1024,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,,7,add\n"
        "260,150,2,1024,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,,7,add\n"
        "500,100,3,,,,,,,,,,2.000,20000000.000,Pageable,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy Host-to-Device]\n"
        "620,20,4,,,,,,,,,,0.001,25600.000,Device,,NVIDIA H200 (0),1,,7,[CUDA memset]\n");
}

TEST_CASE("a kernel waits in the queue from the end of its call, unless it started before") {
  CHECK(csv("cuda_kern_exec_trace:base") ==
        "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),Total Dur (ns),PID,TID,DevId,API "
        "Function,GridXYZ,"
        "BlockXYZ,Kernel Name\n"
        "100,10,,,105,50,55,100,101,0,cudaLaunchKernel,1024    1    1, 128    1    1,add\n"
        "200,30,230,30,260,150,210,100,101,0,cudaLaunchKernel,1024    1    1, 128    1    1,add\n");
  const std::string sum = csv("cuda_kern_exec_sum:base");
  CHECK(sum.substr(sum.find('\n') + 1) ==
        "100,101,0,2,1,"
        "132.5,132.5,55,210,109.6,"  // T: 55 and 210
        "20.0,20.0,10,30,14.1,"      // A: 10 and 30
        "30.0,30.0,30,30,0.0,"       // Q: 30
        "100.0,100.0,50,150,70.7,"   // K: 50 and 150
        "cudaLaunchKernel,add\n");
}

TEST_CASE("ranges are called by domain and text; inner time counts in the outer range") {
  const std::string rows =
      "85.2,260,1,260.0,260.0,260,260,0.0,PushPop,:step\n"
      "14.8,45,1,45.0,45.0,45,45,0.0,PushPop,net:forward\n";
  CHECK(csv("nvtx_sum") == "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\n" + rows);
  CHECK(csv("nvtx_startend_sum") == "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Range\n");
}

TEST_CASE("ranges nest across domains") {
  CHECK(csv("nvtx_pushpop_trace") ==
        "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n"
        "90,350,260,45,215,:step,100,101,0,1,1,,:1,:step\n"
        "195,240,45,0,45,net:forward,100,101,1,0,2,1,:1:2,--net:forward\n");
}

TEST_CASE("a range is projected from its first GPU operation to its last") {
  CHECK(csv("nvtx_gpu_proj_trace") ==
        "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration "
        "(ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack\n"
        ":step,105,495,90,260,PushPop,100,101,3,0,1,1,,:1\n"  // two kernels and the copy, not the memset, which was called after the range
        "net:forward,260,150,195,45,PushPop,100,101,1,1,0,2,1,:1:2\n");
  CHECK(csv("nvtx_gpu_proj_sum:rows=1") ==
        "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),Proj Min (ns),Proj Max "
        "(ns),Proj StdDev (ns),"
        "Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
        ":step,PushPop,495,260,1,495.0,495.0,495,495,0.0,3,3.0,0.0,1.0\n");
}

TEST_CASE("a kernel counts in every range around its launch") {
  CHECK(csv("nvtx_kern_sum:base") ==
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Kernel Name\n"
        ":step,PushPop,100,101,1,2,200,100.0,100.0,50,150,70.7,add\n"
        "net:forward,PushPop,100,101,1,1,150,150.0,150.0,150,150,0.0,add\n");
}

TEST_CASE("calls that the recording cut are not counted") {
  CHECK(csv("osrt_sum") ==
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "100.0,1000,1,1000.0,1000.0,1000,1000,0.0,poll\n");
}

TEST_CASE("a time filter keeps the events that overlap it") {
  ReportOptions options;
  options.time_range = *parse_time_range("300ns/500ns");
  CHECK(csv("cuda_gpu_kern_sum:base", options).find("100.0,150,1,") != std::string::npos);  // only the second kernel
  CHECK(csv("cuda_gpu_mem_time_sum", options).find("memcpy") == std::string::npos);         // it starts where the range ends
}

TEST_CASE("an NVTX filter keeps the calls during a range and the work that they enqueued") {
  ReportOptions options;
  options.range = *parse_range_filter("forward@net");
  CHECK(csv("cuda_gpu_kern_sum:base", options).find("100.0,150,1,") != std::string::npos);
  CHECK(csv("cuda_api_sum", options).find("100.0,30,1,") != std::string::npos);

  const auto why_not = [](std::string_view range) {
    ReportOptions wrong;
    wrong.range = *parse_range_filter(range);
    const auto table = make_report(*find_report("cuda_api_sum"), *test::hand_made(), wrong);
    return table ? std::string() : table.error().text;
  };
  CHECK_THAT(why_not("forward"), contains_text("in another domain: name it as forward@net."));
  CHECK_THAT(why_not("forward@net/7"), contains_text("in a process at most"));
  CHECK_THAT(why_not("step@net"), contains_text("in the default domain"));
  CHECK_THAT(why_not("nothing"), contains_text("has no NVTX range nothing"));
  options.range = *parse_range_filter("forward");  // not in the default domain
  const auto refused = make_report(*find_report("cuda_api_sum"), *test::hand_made(), options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
}

TEST_CASE("a time and an NVTX filter together keep the range's work of that time, wherever the range lies") {
  ReportOptions options;
  options.range = *parse_range_filter("step");  // 90 to 350 ns
  options.time_range = *parse_time_range("380ns/505ns");
  CHECK(csv("cuda_gpu_kern_sum:base", options).find("100.0,150,1,") != std::string::npos);  // the second kernel: it runs until 410 ns
  CHECK(csv("cuda_gpu_mem_time_sum", options).find("memcpy") != std::string::npos);         // called at 300 ns, and runs from 500 on
  CHECK(csv("cuda_api_sum", options).find("cuda") == std::string::npos);                    // no range was active
  options.time_range = *parse_time_range("0ns/100ns");
  options.range = *parse_range_filter("forward@net/0");  // from 195 ns on
  CHECK(csv("cuda_gpu_kern_sum:base", options).find("add") == std::string::npos);
}

TEST_CASE("an NVTX filter tells launches apart whose correlation ids are the same, and knows ranges that end on another thread") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 101);
  const NameId call = builder.intern("cudaLaunchKernel"), first = builder.intern("first()"), second = builder.intern("second()");
  builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, {{1'000, 10, call, 5, 0}, {100'000, 10, call, 5, 0}});
  builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7},
              {{1'020, 50, first, 5, 0}, {100'020, 70, second, 5, 0}});
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread},
              {{900, 1'000, builder.intern("a"), 0, 0}, {99'000, 2'000, builder.intern("b"), 0, 0}});
  builder.add({.kind = TrackKind::kNvtxProcessRanges, .process = process, .thread = thread}, {{50'000, 60'000, builder.intern("request"), 1, 0}});
  const auto trace = builder.snapshot();
  const auto kernels = [&](const char* range) {
    ReportOptions options;
    options.range = *parse_range_filter(range);
    return format_table(*make_report(*find_report("cuda_gpu_kern_sum"), *trace, options), Format::kCsv);
  };
  for (const char* range : {"b", "request"}) {
    CHECK(kernels(range).find("second()") != std::string::npos);
    CHECK(kernels(range).find("first()") == std::string::npos);
  }
  CHECK(kernels("a").find("first()") != std::string::npos);
  CHECK(kernels("a").find("second()") == std::string::npos);
}

TEST_CASE("an NVTX filter keeps what other threads launched during the range") {
  const auto trace = load_trace(test::data_file("torch_training_workers0.trace"));
  REQUIRE(trace);
  ReportOptions options;
  options.range = *parse_range_filter("step 3");
  const auto kernels = make_report(*find_report("cuda_gpu_trace"), **trace, options);
  REQUIRE(kernels);
  std::istringstream lines(format_table(*kernels, Format::kCsv));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find("[CUDA ") == std::string::npos ? 1 : 0;
  CHECK(count - 1 == 46);  // without the header; torch.profiler counted as many in this step, half of them on the thread of the backward pass
}

TEST_CASE("filters are read as they are written in the manual") {
  CHECK(*parse_time_range("1.5s/2s") == TimeRange{1'500'000'000, 2'000'000'000});
  CHECK(*parse_time_range("100/2us") == TimeRange{100, 2'000});
  CHECK(parse_time_range("/1ms")->end == 1'000'000);
  for (const char* wrong : {"", "5", "a/b", "1s/2x", "2s/1s", "nan/1s", "0/inf", "/infs", "1e300s/", "-1e12s/"}) CHECK_FALSE(parse_time_range(wrong));

  const auto filter = parse_range_filter("a\\/b@d\\@e/2");
  REQUIRE(filter);
  CHECK(filter->range == "a/b");
  CHECK(filter->domain == "d@e");
  CHECK(filter->index == 2);
  for (const char* wrong : {"", "@d", "a/b"}) CHECK_FALSE(parse_range_filter(wrong));
}

TEST_CASE("percentiles lie between two values, and the 50th is the median") {
  // Of two durations, 50 and 150, the 51st percentile lies at 51 of a hundred between both.
  CHECK(csv("cuda_gpu_kern_sum:base:p50:p51") ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),P50 (ns),P51 (ns),Name\n"
        "100.0,200,2,100.0,100.0,50,150,70.7,100.0,101.0,add\n");
  CHECK(csv("cuda_gpu_mem_size_sum:p99:rows=1") ==
        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),P99 (MB),Operation\n"
        "2.000,1,2.000,2.000,2.000,2.000,0.000,2.000,[CUDA memcpy Host-to-Device]\n");
  for (const char* wrong : {"cuda_gpu_kern_sum:p0", "cuda_gpu_kern_sum:p100", "cuda_gpu_kern_sum:p9x", "cuda_gpu_trace:p95"}) CHECK_FALSE(parse_report(wrong));
}

TEST_CASE("percentiles split the samples where a count of each value says so") {
  auto seed = GENERATE(range(0u, 20u));
  std::mt19937 random(seed);
  TraceBuilder builder;
  TrackKey calls{.kind = TrackKind::kCudaApi, .process = builder.process_of_instance(1)};
  calls.thread = builder.thread(calls.process, 1);
  std::vector<Event> events;
  std::vector<Nanoseconds> durations;
  for (unsigned i = 0; i < 1 + random() % 300; ++i) {
    durations.push_back(random() % 50);
    events.push_back({i * 100, durations.back(), builder.intern("call"), 0, 0});
  }
  builder.add(calls, events);
  const int percent = GENERATE(1, 50, 95, 99);
  const auto request = parse_report("cuda_api_sum:p" + std::to_string(percent));
  const auto table = make_report(*request->report, *builder.snapshot(), request->options);
  const double found = table->columns()[8].real(0);
  // At most so many of the samples lie below it, and at least so many do not lie above it.
  const auto count = [&](auto which) { return std::count_if(durations.begin(), durations.end(), which); };
  const auto place = static_cast<std::ptrdiff_t>(durations.size() - 1) * percent / 100;
  CHECK(count([&](Nanoseconds duration) { return static_cast<double>(duration) < found; }) <= place + 1);
  CHECK(count([&](Nanoseconds duration) { return static_cast<double>(duration) <= found; }) >= place + 1);
}

TEST_CASE("reports of a series are those that are made alone") {
  const auto trace = test::hand_made();
  const ReportSeries series(*trace);
  for (const Report& report : reports()) {
    INFO(report.name);
    const auto alone = make_report(report, *trace), together = series.make(report);
    REQUIRE(alone);
    REQUIRE(together);
    CHECK(format_table(*alone, Format::kCsv) == format_table(*together, Format::kCsv));
  }
}

TEST_CASE("NCCL kernels are summed by the collective that enqueued them, with its size") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey calls{.kind = TrackKind::kCudaApi, .process = process};
  calls.thread = builder.thread(process, 1);
  builder.add(calls, {{100, 10, builder.intern("cuLaunchKernelEx"), 1, 0},
                      {200, 10, builder.intern("cuLaunchKernelEx"), 2, 0},
                      {300, 10, builder.intern("cuLaunchKernelEx"), 3, 0},
                      {400, 10, builder.intern("cudaLaunchKernel"), 4, 0}});
  builder.set_domain(process, 7, "NCCL");
  TrackKey ranges = calls;
  ranges.kind = TrackKind::kNvtxRanges;
  builder.add(ranges, {{50, 200, builder.intern("step"), 0, 0}});  // not a range of NCCL
  ranges.domain = 7;
  NvtxDetail size;
  size.payload_type = PayloadType::kUnsigned;
  size.payload = 3'000'000;
  NvtxDetail described;
  described.payload_json = builder.intern(R"({"NCCL communicator ID":77,"Message size [bytes]":3000000,"Reduction operation":"Sum"})");
  builder.add(ranges,
              {{95, 20, builder.intern("ncclAllReduce"), 0, builder.intern(size)}, {195, 20, builder.intern("ncclAllReduce"), 0, builder.intern(described)}});
  TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)};
  const NameId ring = builder.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  builder.add(kernels, {{1'000, 300, ring, 1, 0}, {2'000, 100, ring, 2, 0}, {3'000, 100, ring, 3, 0}, {4'000, 500, builder.intern("gemm"), 4, 0}});
  const auto table = make_report(*find_report("nccl_sum"), *builder.snapshot());
  REQUIRE(table);
  CHECK(format_table(*table, Format::kCsv) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Total (MB),Algorithm Bandwidth "
        "(MB/s),Unmatched,Collective,Name\n"
        "80.0,400,2,200.0,200.0,100,300,141.4,6.000,15000000.000,0,ncclAllReduce,ncclDevKernel_AllReduce_Sum_f32_RING_LL("
        "ncclDevKernelArgsStorage<4096ul>)\n"
        "20.0,100,1,100.0,100.0,100,100,0.0,,,,,ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)\n");
}

namespace {

// Ranks of one communicator. Each kernel is launched within NCCL's range for its call, with 3,000,000 B.
class CollectivesOfRanks {
 public:
  explicit CollectivesOfRanks(bool are_one_process = false) : are_one_process_(are_one_process) {
    described_.payload_json = builder_.intern(R"({"NCCL communicator ID":12433202088602036422,"Message size [bytes]":3000000})");
  }
  void add(std::uint32_t rank, Nanoseconds begin, Nanoseconds end, std::string_view call = "ncclAllReduce") {
    const ProcessId process = builder_.process_of_instance(are_one_process_ ? 1 : rank + 1);
    TrackKey calls{.kind = TrackKind::kCudaApi, .process = process};
    calls.thread = builder_.thread(process, rank + 1);
    builder_.set_domain(process, 7, "NCCL");
    TrackKey ranges = calls;
    ranges.kind = TrackKind::kNvtxRanges;
    ranges.domain = 7;
    const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder_.gpu_of_device(process, are_one_process_ ? rank : 0)};
    ++correlation_;
    builder_.add(ranges, {{begin - 50, 30, builder_.intern(call), 0, builder_.intern(described_)}});
    builder_.add(calls, {{begin - 40, 10, builder_.intern("cudaLaunchKernel"), correlation_, 0}});
    builder_.add(kernels, {{begin, end - begin, builder_.intern("ncclDevKernel"), correlation_, 0}});
  }
  [[nodiscard]] std::string report(const ReportOptions& options = {}) {
    const auto table = make_report(*find_report("nccl_sum"), *builder_.snapshot(), options);
    REQUIRE(table);
    return format_table(*table, Format::kCsv);
  }

 private:
  bool are_one_process_;
  TraceBuilder builder_;
  NvtxDetail described_;
  std::uint32_t correlation_ = 0;
};

}  // namespace

TEST_CASE("the bandwidth of a collective is that of its transfer, and not of waiting for the rank that comes last") {
  const bool is_one_process = GENERATE(false, true);  // one process with a GPU for each rank
  CollectivesOfRanks ranks(is_one_process);
  // Both ranks end at 2'000 and at 4'000. The second rank comes last to the first collective, which transfers for 100 ns; the first rank comes last to the
  // second, which transfers for 200 ns.
  ranks.add(0, 1'000, 2'000);
  ranks.add(0, 3'800, 4'000);
  ranks.add(1, 1'900, 2'000);
  ranks.add(1, 2'500, 4'000);
  // 12,000,000 B in 2 * 100 + 2 * 200 ns.
  CHECK_THAT(ranks.report(), contains_text(",12.000,20000000.000,0,ncclAllReduce,"));
}

TEST_CASE("collectives are matched though ranks were recorded from different ones on, and what has no match is left out of the bandwidth") {
  // 100 collectives, one every 10 us. In each, rank 0 waits 5 us for rank 1, which transfers for 1 us. The first 37 of rank 1 are not recorded, and of the
  // others, those from 60 to 64 are not.
  CollectivesOfRanks ranks;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds end = 10'000 * (i + 1);
    ranks.add(0, end - 6'000, end);
    if (i >= 37 && (i < 60 || i >= 65)) ranks.add(1, end - 1'000, end);
  }
  // 58 collectives are known on both ranks: 1 us for each kernel of 3 MB. 42 of rank 0 have no match.
  CHECK_THAT(ranks.report(), contains_text(",474.000,3000000.000,42,ncclAllReduce,"));
  // The same for a part of the time, although rank 0 called its first collective before it, and rank 1 its last one after it: 10 kernels of each, and one of
  // rank 0.
  ReportOptions part;  // collectives 40 to 49, and the start of 50
  part.time_range = TimeRange{10'000 * 41 - 1'500, 10'000 * 51 - 2'000};
  CHECK_THAT(ranks.report(part), contains_text(",63.000,3000000.000,0,ncclAllReduce,"));
}

TEST_CASE("collectives of several captures are matched within their capture, whose processes are others") {
  CollectivesOfRanks ranks;
  for (std::uint32_t capture = 0; capture < 3; ++capture)
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds end = 1'000'000 * capture + 10'000 * (i + 1);
      ranks.add(2 * capture, end - 6'000, end);
      if (i >= 4 * static_cast<int>(capture)) ranks.add(2 * capture + 1, end - 1'000, end);  // the first collectives of the second rank are missing
    }
  // 3 * 20 of the first ranks and 48 of the second: 1 us for each of the 96 that both have, and 12 that only one has.
  CHECK_THAT(ranks.report(), contains_text(",324.000,3000000.000,12,ncclAllReduce,"));
}

TEST_CASE("sends between two ranks do not change which collectives of a communicator belong together") {
  CollectivesOfRanks ranks;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds end = 10'000 * (i + 1);
    if (i % 3 == 0) ranks.add(0, end - 9'500, end - 7'500, "ncclSend");
    ranks.add(0, end - 6'000, end);
    ranks.add(1, end - 1'000, end);
  }
  const std::string table = ranks.report();
  CHECK_THAT(table, contains_text(",120.000,3000000.000,0,ncclAllReduce,"));
  CHECK_THAT(table, contains_text(",21.000,1500000.000,0,ncclSend,"));  // 2 us each; how much of this was waiting is not known
}

TEST_CASE("of a GPU that two recordings of one run saw, what a process of either ran is no idle time") {
  const auto recording = [](std::uint32_t pid, std::vector<TimeRange> kernels) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(pid);
    Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = std::string(16, 'u');
    builder.set_device(process, 0, gpu);
    for (const TimeRange& time : kernels)
      builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)},
                  {{time.begin, time.length(), builder.intern("kernel"), 0, 0}});
    builder.provenance().boot_id = "a boot";
    return builder.snapshot();
  };
  // They take turns, except for 100 ns at the end.
  const std::vector<TraceSource> sources{{recording(1, {{0, 400}, {1'000, 1'400}}), "rank0", 0, {}},
                                         {recording(2, {{400, 1'000}, {1'500, 1'600}}), "rank1", 0, {}}};
  const auto idle = [&](GpusSeenTwice gpus) {
    const auto table = make_report(*find_report("gpu_idle_sum"), *combine_traces(sources, {}, gpus));
    REQUIRE(table);
    Nanoseconds sum = 0;
    for (std::size_t row = 0; row < table->row_count(); ++row) sum += table->columns()[1].integer(row);
    return sum;
  };
  CHECK(idle(GpusSeenTwice::kAreOne) == 100);
  CHECK(idle(GpusSeenTwice::kAreTwo) == 600 + 500);
}

TEST_CASE("launches of processes of several files are summed by process, though all their numbers are the same") {
  const auto recording = [](Nanoseconds kernel) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(77);
    builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 10)}, {{0, 10, builder.intern("cudaLaunchKernel"), 1, 0}});
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)}, {{20, kernel, builder.intern("kernel"), 1, 0}});
    return builder.snapshot();
  };
  const std::vector<TraceSource> sources{{recording(100), "rank0", 0, {}}, {recording(300), "rank1", 0, {}}};
  const auto table = make_report(*find_report("cuda_kern_exec_sum"), *combine_traces(sources, {}, GpusSeenTwice::kAreTwo));
  REQUIRE(table);
  REQUIRE(table->row_count() == 2);
  const auto column = [&](std::string_view name) -> const Column& {
    return *std::find_if(table->columns().begin(), table->columns().end(), [&](const Column& each) { return each.title == name; });
  };
  for (std::size_t row = 0; row < 2; ++row) {  // the slowest first
    CHECK(column("Count").integer(row) == 1);
    CHECK(column("KMin").integer(row) == (row == 0 ? 300 : 100));
    CHECK(table->text(column("File").text(row)) == (row == 0 ? "rank1" : "rank0"));
  }
}

TEST_CASE("reports with numbers of processes name the file, if processes of several files have the same numbers") {
  // Rank 0 takes 100 ns for all but the call, rank 1 takes 300 ns; the call takes half.
  const auto recording = [](Nanoseconds length) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(77);
    builder.process(process).pid = 77;
    const ThreadId thread = builder.thread(process, 10);
    builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, {{0, length, builder.intern("step"), 0, 0}});
    builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, {{10, length / 2, builder.intern("cudaLaunchKernel"), 1, 0}});
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)}, {{20, length, builder.intern("kernel"), 1, 0}});
    builder.add({.kind = TrackKind::kThreadStates, .process = process, .thread = thread},
                {{0, length, builder.intern("Running"), 0, builder.intern(ThreadStateDetail{.state = ThreadState::kRunning})}});
    return builder.snapshot();
  };
  const auto [report, time] = GENERATE(table<std::string, std::string>({{"nvtx_kern_sum", "Total Time"},
                                                                        {"thread_states", "Running"},
                                                                        {"nvtx_pushpop_trace", "Duration"},
                                                                        {"cuda_api_trace", "Duration"},
                                                                        {"cuda_gpu_trace", "Duration"},
                                                                        {"cuda_kern_exec_trace", "Kernel Dur"},
                                                                        {"nvtx_gpu_proj_trace", "Projected Duration"}}));
  CAPTURE(report);
  const std::vector<TraceSource> sources{{recording(100), "rank0", 0, {}}, {recording(300), "rank1", 0, {}}};
  const auto of_both = make_report(*find_report(report), *combine_traces(sources, {}, GpusSeenTwice::kAreTwo));
  REQUIRE(of_both);
  REQUIRE(of_both->row_count() == 2);
  const auto column = [&](const Table& of, std::string_view name) {
    return std::find_if(of.columns().begin(), of.columns().end(), [&](const Column& each) { return each.title == name && each.unit != Unit::kPercent; });
  };
  std::map<std::string, std::int64_t> times;
  for (std::size_t row = 0; row < 2; ++row) times[std::string(of_both->text(column(*of_both, "File")->text(row)))] = column(*of_both, time)->integer(row);
  const std::int64_t parts = report == "cuda_api_trace" ? 2 : 1;
  CHECK(times == std::map<std::string, std::int64_t>{{"rank0", 100 / parts}, {"rank1", 300 / parts}});
  const auto of_one = make_report(*find_report(report), *recording(100));
  REQUIRE(of_one);
  CHECK(column(*of_one, "File") == of_one->columns().end());
}

TEST_CASE("a GPU's idle time is the sum of its causes") {
  // GPU work: [105,155) [260,410) [500,600) [620,640): 535 ns long, 320 ns busy.
  const auto total = [](const ReportOptions& options) {
    const auto table = make_report(*find_report("gpu_idle_sum"), *test::hand_made(), options);
    REQUIRE(table);
    Nanoseconds sum = 0;
    for (std::size_t row = 0; row < table->row_count(); ++row) sum += table->columns()[1].integer(row);
    return std::array{sum, table->columns()[6].integer(0), table->columns()[7].integer(0), table->columns()[8].integer(0)};
  };
  CHECK(total({}) == std::array<Nanoseconds, 4>{215, 535, 320, 215});
  ReportOptions window;
  window.time_range = TimeRange{150, 300};  // busy [150,155) and [260,300)
  CHECK(total(window) == std::array<Nanoseconds, 4>{105, 150, 45, 105});
  ReportOptions range;
  range.range = RangeFilter{"forward", "net", 0};  // [195,240)
  CHECK(total(range) == std::array<Nanoseconds, 4>{45, 45, 0, 45});
}

TEST_CASE("what moved in unified memory, and the faults that moved it, are summed by address, in all and by code") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey memory{.kind = TrackKind::kMemory, .process = process, .gpu = builder.gpu_of_device(process, 0)};
  const auto copy = [&](Nanoseconds start, Nanoseconds duration, CopyKind kind, std::uint64_t address, std::uint64_t bytes) {
    MemoryDetail detail;
    detail.copy_kind = kind;
    detail.virtual_address = address;
    detail.bytes = bytes;
    builder.add(memory, {{start, duration, builder.intern(memory_operation_name(detail)), 0, builder.intern(detail)}});
  };
  copy(0, 100, CopyKind::kUnifiedHostToDevice, 0x2000, 3'000'000);
  copy(200, 300, CopyKind::kUnifiedDeviceToHost, 0x2000, 1'000'000);
  copy(600, 100, CopyKind::kHostToDevice, 0, 9'000'000);  // not unified memory
  const auto fault = [&](GpuId gpu, std::uint64_t address, std::uint32_t count, std::string_view function, std::uint32_t line) {
    PageFaultDetail detail;
    detail.address = address;
    detail.count = count;
    detail.program_counter = 0x40;
    detail.function = builder.intern(function);
    if (line > 0) detail.source_file = builder.intern("fill.cpp");
    detail.source_line = line;
    builder.add({.kind = TrackKind::kPageFaults, .process = process, .gpu = gpu},
                {{static_cast<Nanoseconds>(address) + count, 0, builder.intern("fault"), 0, builder.intern(detail)}});
  };
  fault(memory.gpu, 0x2000, 7, "", 0);
  fault(kNone, 0x1000, 1, "fill", 12);
  fault(kNone, 0x3000, 1, "fill", 12);
  fault(kNone, 0x2000, 1, "", 0);
  const auto trace = builder.snapshot();
  const auto of = [&](std::string_view name) { return format_table(*make_report(*find_report(name), *trace), Format::kCsv); };
  CHECK(of("um_sum") ==
        "Virtual Address,HtoD Migration size (MB),DtoH Migration size (MB),CPU Page Faults, GPU Page Faults,Migration Throughput (MB/s)\n"
        "0x2000,3.000,1.000,1,7,10000000.000\n"  // 4 MB in 400 ns
        "0x1000,,,1,,\n"
        "0x3000,,,1,,\n");
  CHECK(of("um_total_sum") ==
        "Total HtoD Migration Size (MB),Total DtoH Migration Size (MB),Total CPU Page Faults,Total GPU PageFaults,"
        "Minimum Virtual Address,Maximum Virtual Address\n"
        "3.000,1.000,3,7,0x1000,0x3000\n");
  CHECK(of("um_cpu_page_faults_sum") ==
        "CPU Page Faults,CPU Instruction Address,Source File,Source Line\n"
        "2,fill,fill.cpp,12\n"
        "1,0x40,,\n");
  CHECK(parse_report("um_sum")->options.rows == 10u);
  CHECK(parse_report("um_sum:rows=3")->options.rows == 3u);
  CHECK_FALSE(parse_report("um_sum:rows=-1")->options.rows);
}

TEST_CASE("unknown reports and modifiers are refused with what there is") {
  for (const char* wrong : {"no_such_report", "cuda_api_sum:base", "nvtx_kern_sum:nvtx-name", "cuda_gpu_kern_sum:rows=many"}) {
    const auto refused = parse_report(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::kUsage);
  }
}

TEST_CASE("a trace without data gives empty tables") {
  TraceBuilder empty;
  const auto trace = empty.snapshot();
  for (const Report& report : reports()) {
    INFO(report.name);
    const auto table = make_report(report, *trace);
    REQUIRE(table);
    CHECK(table->empty());
  }
}

TEST_CASE("an NVTX range stands for what its own process did; of ranks, for each one's own") {
  TraceBuilder builder;
  // Ranks 1 and 2 have two ranges "step" each, at different times; a process without ranges works all the time. Each launches a kernel every 10 ns from 0 to
  // 200.
  const auto add = [&](std::uint32_t instance, std::vector<Nanoseconds> steps) {
    const ProcessId process = builder.process_of_instance(instance);
    const ThreadId thread = builder.thread(process, instance);
    std::vector<Event> calls, kernels, ranges;
    for (std::uint32_t i = 0; i < 20; ++i) {
      calls.push_back({10 * i, 5, builder.intern("cudaLaunchKernel"), i + 1, 0});
      kernels.push_back({1'000 + 10 * i, 5, builder.intern("kernel " + std::to_string(instance)), i + 1, 0});
    }
    for (const Nanoseconds begin : steps) ranges.push_back({begin, 30, builder.intern("step"), 0, 0});
    builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, calls);
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7}, kernels);
    builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, ranges);
  };
  add(1, {10, 100});
  add(2, {60, 150});
  add(3, {});
  const auto trace = builder.snapshot();
  const auto count = [&](std::string_view report, std::size_t index) {
    ReportOptions options;
    options.range = RangeFilter{"step", std::nullopt, index};
    const auto table = make_report(*find_report(report), *trace, options);
    REQUIRE(table);
    return table->row_count();
  };
  for (const std::size_t index : {0u, 1u}) {
    CHECK(count("cuda_api_trace", index) == 2 * 3);  // three calls start in 30 ns, in each rank
    CHECK(count("cuda_gpu_trace", index) == 2 * 3);  // and the work that they enqueued
    CHECK(count("cuda_gpu_kern_sum", index) == 2);   // nothing of process 3
  }
  ReportOptions options;
  options.range = RangeFilter{"step", std::nullopt, 2};
  CHECK_FALSE(make_report(*find_report("cuda_api_trace"), *trace, options));
}

TEST_CASE("a report that is asked to stop looks at no further events") {
  std::stop_source asked;
  ReportOptions options;
  options.stop = asked.get_token();
  for (const char* name : {"cuda_gpu_kern_sum", "cuda_gpu_trace", "nvtx_sum", "gpu_idle_sum"}) {
    INFO(name);
    CHECK_FALSE(make_report(*find_report(name), *test::hand_made(), options)->empty());
  }
  asked.request_stop();
  for (const Report& report : reports()) {
    INFO(report.name);
    CHECK(make_report(report, *test::hand_made(), options)->empty());
  }
}
