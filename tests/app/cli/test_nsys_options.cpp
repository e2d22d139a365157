// Every option and value of `nsys profile` of Nsight Systems 2024.7 to 2026.2: each is accepted with the meaning that it has there, or is left out with a
// warning.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "command.h"
#include "options/capture_options.h"
#include "options/launch_options.h"
#include "ran_command.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cli;
using session::LaunchRequest;

namespace {

struct Asked {
  std::optional<LaunchRequest> request;
  std::string error;
  std::vector<UnrecordedOptions::Item> left_out;
};

Asked ask(Arguments arguments) {
  CLI::App app("", "lanescope profile");
  LaunchOptions options;
  describe_launch(app, options);
  arguments.push_back("app");
  const Result<ProgramArguments> split = split_program(app, arguments);
  if (!split) return {std::nullopt, split.error().text, {}};
  Arguments reversed(split->options.rbegin(), split->options.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, error.what(), {}};
  }
  Result<LaunchRequest> request = launch_request(options, split->program);
  if (!request) return {std::nullopt, request.error().text, {}};
  return {std::move(*request), {}, options.capture.unrecorded.items};
}

// What is printed in place of a recording; nothing if there would be one.
std::optional<std::string> help_of(Arguments arguments) {
  const test::Printed printed(std::cout);
  CLI::App app("", "lanescope profile");
  LaunchOptions options;
  describe_launch(app, options);
  arguments.push_back("app");
  const Result<ProgramArguments> split = split_program(app, arguments);
  const std::optional<int> code = split ? parse(app, split->options) : std::nullopt;
  return code == kSuccess ? std::optional(printed.text()) : std::nullopt;
}

struct Taken {
  Arguments arguments;
  bool (*holds)(const LaunchRequest&);  // what the option means
};

bool has_domain(const LaunchRequest& request, std::string_view domain) {
  const auto& domains = request.settings.domains;
  return std::find(domains.begin(), domains.end(), domain) != domains.end();
}
bool traces_library(const LaunchRequest& request, std::string_view domain, std::string_view variable, std::string_view level) {
  const auto is_it = [&](const session::EnvironmentChange& change) { return change.name == variable && change.value == level; };
  return has_domain(request, domain) && std::any_of(request.environment.begin(), request.environment.end(), is_it) && request.settings.trace_cuda &&
         request.settings.trace_nvtx;
}
bool marks(const LaunchRequest& request, session::MarkedLibrary library) {
  const auto& marked = request.settings.marked;
  return std::find(marked.begin(), marked.end(), library) != marked.end();
}
bool by_range(const LaunchRequest& request, session::CaptureTrigger trigger) { return request.settings.range.trigger == trigger; }

using L = const LaunchRequest&;
using std::chrono::seconds;
using namespace std::chrono_literals;

const std::vector<Taken> kTaken{
    {{}, [](L r) { return r.settings.trace_cuda && r.settings.trace_nvtx && !r.settings.trace_os_runtime; }},
    {{"-t", "cuda"}, [](L r) { return r.settings.trace_cuda && !r.settings.trace_nvtx; }},
    {{"-t", "cuda-sw"}, [](L r) { return r.settings.trace_cuda; }},
    {{"--trace=nvtx"}, [](L r) { return r.settings.trace_nvtx && !r.settings.trace_cuda; }},
    {{"--trace", "cuda,nvtx,osrt"}, [](L r) { return r.settings.trace_cuda && r.settings.trace_nvtx && r.settings.trace_os_runtime; }},
    {{"-t", "none"}, [](L r) { return !r.settings.trace_cuda && !r.settings.trace_nvtx && !r.settings.trace_os_runtime; }},
    {{"-t", "nccl"}, [](L r) { return has_domain(r, "NCCL"); }},
    {{"-t", "cublas"}, [](L r) { return traces_library(r, "cuBLAS", "CUBLAS_NVTX_LEVEL", "1"); }},
    {{"-t", "cublas-verbose"}, [](L r) { return traces_library(r, "cuBLAS", "CUBLASLT_NVTX_LEVEL", "2"); }},
    {{"-t", "cudnn"}, [](L r) { return traces_library(r, "cuDNN", "CUDNN_NVTX_LEVEL", "1"); }},
    {{"-t", "cusolver"}, [](L r) { return traces_library(r, "cusolverDn", "CUSOLVERDN_NVTX_LEVEL", "1"); }},
    {{"-t", "cusolver-verbose"}, [](L r) { return traces_library(r, "cusolverDn", "CUSOLVERDN_NVTX_LEVEL", "2"); }},
    {{"-t", "cusparse"}, [](L r) { return traces_library(r, "CUSPARSE", "CUSPARSE_NVTX_LEVEL", "2"); }},
    {{"-t", "cusparse-verbose"}, [](L r) { return traces_library(r, "CUSPARSE", "CUSPARSE_NVTX_LEVEL", "2"); }},
    {{"-o", "run%p"}, [](L r) { return r.output == "run%p"; }},
    {{"--output=run%q{RANK}"}, [](L r) { return r.output == "run%q{RANK}"; }},
    {{"-f", "true"}, [](L r) { return r.overwrite == Overwrite::kAllow; }},
    {{"--force-overwrite=false"}, [](L r) { return r.overwrite == Overwrite::kRefuse; }},
    {{"-y", "10"}, [](L r) { return r.delay == 10s; }},
    {{"--delay=0.5"}, [](L r) { return r.delay == 500ms; }},
    {{"-d", "5"}, [](L r) { return r.duration == 5s && r.end_signal == SIGTERM; }},
    {{"--duration=5", "--kill=none"}, [](L r) { return r.duration == 5s && !r.end_signal; }},
    {{"-d", "5", "--kill", "sigkill"}, [](L r) { return r.end_signal == SIGKILL; }},
    {{"-d", "5", "--kill=2"}, [](L r) { return r.end_signal == SIGINT; }},
    {{"-x", "true"}, [](L r) { return r.on_target_exit == session::OnTargetExit::kStop; }},
    {{"--stop-on-exit=false", "-d", "9"}, [](L r) { return r.on_target_exit == session::OnTargetExit::kGoOn; }},
    {{"--wait=primary"}, [](L r) { return r.wait_for == session::WaitFor::kPrimary; }},
    {{"--wait=all"}, [](L r) { return r.wait_for == session::WaitFor::kAll; }},
    {{"-Y", "true"}, [](L r) { return by_range(r, session::CaptureTrigger::kRequest); }},
    {{"--start-later=true"}, [](L r) { return by_range(r, session::CaptureTrigger::kRequest); }},
    {{"-c", "none"}, [](L r) { return by_range(r, session::CaptureTrigger::kNone); }},
    {{"-c", "cudaProfilerApi"}, [](L r) { return by_range(r, session::CaptureTrigger::kProfilerApi); }},
    {{"--capture-range=nvtx", "-p", "step@train"},
     [](L r) { return by_range(r, session::CaptureTrigger::kNvtxRange) && r.settings.range.name == "step" && r.settings.range.domain == "train"; }},
    {{"-c", "nvtx", "--nvtx-capture=step"}, [](L r) { return r.settings.range.domain == ""; }},
    {{"-c", "nvtx", "-p", "step@*"}, [](L r) { return !r.settings.range.domain; }},
    {{"-c", "nvtx", "-p", "me\\@home"}, [](L r) { return r.settings.range.name == "me@home"; }},
    {{"-c", "cudaProfilerApi"}, [](L r) { return r.settings.range.after == session::AfterCapture::kShutdown; }},
    {{"-c", "cudaProfilerApi", "--capture-range-end=none"}, [](L r) { return r.settings.range.after == session::AfterCapture::kGoOn; }},
    {{"-c", "cudaProfilerApi", "--capture-range-end=stop"}, [](L r) { return r.settings.range.after == session::AfterCapture::kStop; }},
    {{"-c", "cudaProfilerApi", "--capture-range-end=repeat"},
     [](L r) { return r.settings.range.after == session::AfterCapture::kRepeat && !r.settings.range.repeats; }},
    {{"-c", "cudaProfilerApi", "--capture-range-end=repeat:3:async"}, [](L r) { return r.settings.range.repeats == 3u; }},
    {{"-c", "cudaProfilerApi", "--capture-range-end=repeat-shutdown:2"},
     [](L r) { return r.settings.range.repeats == 2u && r.settings.range.after_repeats == session::AfterCapture::kShutdown; }},
    {{"--nvtx-domain-include=a,default"}, [](L r) { return has_domain(r, "a") && has_domain(r, "") && !has_domain(r, "default"); }},
    {{"--nvtx-domain-exclude=a\\,b"}, [](L r) { return has_domain(r, "a,b") && r.settings.domain_rule == session::DomainRule::kAllButListed; }},
    {{"--cuda-graph-trace=graph"}, [](L r) { return r.settings.graph_level == session::GraphLevel::kGraph; }},
    {{"--cuda-graph-trace=graph:host-only"}, [](L r) { return r.settings.graph_level == session::GraphLevel::kGraph; }},
    {{"--cuda-graph-trace", "node"}, [](L r) { return r.settings.graph_level == session::GraphLevel::kNode; }},
    {{"--cuda-memory-usage=true"}, [](L r) { return r.settings.memory_usage; }},
    {{"--cuda-um-cpu-page-faults=true"}, [](L r) { return r.settings.cpu_page_faults; }},
    {{"--cuda-um-gpu-page-faults", "true"}, [](L r) { return r.settings.gpu_page_faults; }},
    {{"--cuda-event-trace=true"}, [](L r) { return r.settings.cuda_events; }},
    {{"--cuda-event-trace=auto"}, [](L r) { return !r.settings.cuda_events; }},
    {{"--cuda-flush-interval=10000"}, [](L r) { return r.settings.flush_interval == 10s; }},
    {{"--cuda-flush-interval=0"}, [](L r) { return r.settings.flush_interval == 0s; }},
    {{"--record-memory=1024"}, [](L r) { return r.settings.pool_bytes == 1u << 30; }},
    {{"--cuda-trace-all-apis=true"}, [](L r) { return r.settings.trace_all_calls; }},
    {{"--cudabacktrace=all"}, [](L r) { return r.settings.backtraces.kernels && r.settings.backtraces.others; }},
    {{"--cudabacktrace=kernel:5000"}, [](L r) { return r.settings.backtraces.kernels && r.settings.backtraces.threshold == 5us; }},
    {{"-s", "none"}, [](L r) { return r.settings.cpu.samples == cpu::Scope::kNone; }},
    {{"--sample=process-tree"}, [](L r) { return r.settings.cpu.samples == cpu::Scope::kProcessTree; }},
    {{"-s", "cpu"}, [](L r) { return r.settings.cpu.samples == cpu::Scope::kProcessTree; }},
    {{"--sample=system-wide"}, [](L r) { return r.settings.cpu.samples == cpu::Scope::kSystemWide; }},
    {{"--cpuctxsw=none"}, [](L r) { return r.settings.cpu.thread_states == cpu::Scope::kNone; }},
    {{"-b", "dwarf"}, [](L r) { return r.settings.cpu.call_chains == cpu::CallChains::kDwarf; }},
    {{"--backtrace=lbr"}, [](L r) { return r.settings.cpu.call_chains == cpu::CallChains::kBranchRecords; }},
    {{"-b", "none"}, [](L r) { return r.settings.cpu.call_chains == cpu::CallChains::kNone; }},
    {{"--sampling-frequency=250"}, [](L r) { return r.settings.cpu.frequency == 250u; }},
    {{"--debug-symbols=/a:/b"}, [](L r) { return r.settings.cpu.debug_folders == "/a:/b"; }},
    {{"--python-sampling=true"}, [](L r) { return r.settings.cpu.python_names; }},
    {{"--python-backtrace=cuda"}, [](L r) { return r.settings.cpu.python_names && r.settings.backtraces.synchronizations; }},
    {{"--python-backtrace=cuda", "--cudabacktrace=kernel"}, [](L r) { return r.settings.cpu.python_names && !r.settings.backtraces.memory; }},
    {{"--python-backtrace=none"}, [](L r) { return !r.settings.cpu.python_names && !r.settings.backtraces.kernels; }},
    {{"--python-backtrace=cuda"}, [](L r) { return r.settings.cpu.python_names && r.settings.backtraces.kernels; }},
    {{"--pytorch=autograd-nvtx"}, [](L r) { return r.pytorch == session::PytorchRanges::kOperations; }},
    {{"-t", "mpi"}, [](L r) { return marks(r, session::MarkedLibrary::kMpi); }},
    {{"-t", "ucx"}, [](L r) { return marks(r, session::MarkedLibrary::kUcx) && has_domain(r, "UCX"); }},
    {{"-t", "cuda,openacc"}, [](L r) { return marks(r, session::MarkedLibrary::kOpenAcc) && has_domain(r, "OpenACC"); }},
    {{"-t", "cuda,openmp"}, [](L r) { return marks(r, session::MarkedLibrary::kOpenMp) && has_domain(r, "OpenMP"); }},
    {{"-t", "opengl"}, [](L r) { return marks(r, session::MarkedLibrary::kOpenGl) && has_domain(r, "OpenGL"); }},
    {{"--trace=opengl,opengl-annotations"}, [](L r) { return r.settings.marked.size() == 1 && r.settings.domains.size() == 1; }},
    {{"-t", "cuda,syscall"}, [](L r) { return r.settings.cpu.system_calls && r.settings.trace_cuda && !r.settings.trace_nvtx; }},
    {{"--syscall=process-tree"}, [](L r) { return r.settings.cpu.system_calls; }},
    {{"--syscall=none"}, [](L r) { return !r.settings.cpu.system_calls; }},
    {{"--ftrace", "sched/sched_switch,drm:drm_vblank_event"},
     [](L r) {
       return r.settings.cpu.tracepoints == std::vector<std::string>{"sched/sched_switch", "drm/drm_vblank_event"};
     }},
    {{"--ftrace=none"}, [](L r) { return r.settings.cpu.tracepoints.empty(); }},
    {{"--ftrace-keep-user-config=true"}, [](L) { return true; }},
    {{"--cpu-core-events=2"}, [](L r) { return r.settings.cpu.counted_events == std::vector<std::string>{"instructions"}; }},
    {{"--cpu-core-events", "cycles,r01c2", "-s", "none", "--cpuctxsw=none"},
     [](L r) { return r.settings.cpu.counted_events.size() == 2 && r.settings.cpu.any(); }},
    {{"--osrt-threshold=5000"}, [](L r) { return r.settings.os_runtime_threshold == 5us; }},
    {{"--osrt-file-access=true"}, [](L r) { return r.settings.trace_file_access && r.settings.trace_os_runtime; }},
    {{"-t", "osrt", "--osrt-file-access=false"}, [](L r) { return !r.settings.trace_file_access && r.settings.trace_os_runtime; }},
    {{"--osrt-backtrace-threshold=90000"}, [](L r) { return r.settings.os_runtime_backtraces == 90us; }},
    {{"--gpu-metrics-devices=all"}, [](L r) { return r.settings.gpu_metrics.devices == "all"; }},
    {{"--gpu-metrics-device=0,1"}, [](L r) { return r.settings.gpu_metrics.devices == "0,1"; }},
    {{"--gpu-metrics-frequency=20k"}, [](L r) { return r.settings.gpu_metrics.frequency == 20'000u; }},
    {{"-w", "false"}, [](L r) { return r.target_output == session::TargetOutput::kStore; }},
    {{"--show-output=true"}, [](L r) { return r.target_output == session::TargetOutput::kShowAndStore; }},
    {{"-n", "false"}, [](L r) { return r.inherit_environment == session::InheritEnvironment::kNo; }},
    {{"--inherit-environment=true"}, [](L r) { return r.inherit_environment == session::InheritEnvironment::kYes; }},
    {{"-e", "A=1,B=2"}, [](L r) { return r.environment.size() == 2 && r.environment[1].value == "2"; }},
    {{"--env-var=A=1"}, [](L r) { return r.environment[0].name == "A"; }},
    {{"-e", "X=k=v,Y=2"}, [](L r) { return r.environment.size() == 2 && r.environment[0].value == "k=v" && r.environment[1].value == "2"; }},
    {{"-e", "F=-Wl,-rpath=/x,a"}, [](L r) { return r.environment.size() == 1 && r.environment[0].value == "-Wl,-rpath=/x,a"; }},
    {{"--mpi-impl=openmpi"}, [](L r) { return r.settings.trace_cuda; }},  // MPI is found automatically
    {{"-t", "cuDNN,cuBLAS"}, [](L r) { return has_domain(r, "cuDNN") && has_domain(r, "cuBLAS"); }},
    {{"--cudabacktrace=true"}, [](L r) { return r.settings.backtraces.kernels && r.settings.backtraces.others; }},
    {{"--cudabacktrace=false"}, [](L r) { return !r.settings.backtraces.kernels; }},
    {{"-c", "cudaProfilerApi", "--stop-on-range-end=true"}, [](L r) { return r.settings.range.after == session::AfterCapture::kShutdown; }},
    {{"-c", "cudaProfilerApi", "--stop-on-range-end", "false"}, [](L r) { return r.settings.range.after == session::AfterCapture::kGoOn; }},
    // Options for what is the case anyway, or that switch something off, need no message.
    {{"--trace-fork-before-exec=true", "-t", "cuda"}, [](L r) { return !r.settings.trace_nvtx; }},
    {{"--trace-fork-before-exec", "true", "-t", "cuda"}, [](L r) { return !r.settings.trace_nvtx && r.command.size() == 1; }},
    {{"--discard-environment", "-t", "cuda"}, [](L r) { return !r.settings.trace_nvtx; }},
    {{"--flush-on-cudaprofilerstop=true"}, [](L) { return true; }},
    {{"--resolve-symbols=true", "--show-source-info=true"}, [](L) { return true; }},
    {{"--cuda-trace-scope=process-tree"}, [](L) { return true; }},
    {{"--gpuctxsw=false"}, [](L) { return true; }},
    {{"--nic-metrics", "false"}, [](L r) { return r.command.size() == 1 && !r.settings.machine_metrics.networks; }},
    {{"--nic-metrics=lf"}, [](L r) { return r.settings.machine_metrics.networks && !r.settings.machine_metrics.storage; }},
    {{"--nic-metrics=hf-via-dts"}, [](L r) { return r.settings.machine_metrics.networks; }},
    {{"--nic-metrics=true", "--storage-metrics=true"}, [](L r) { return r.settings.machine_metrics.networks && r.settings.machine_metrics.storage; }},
    {{"--storage-metrics"}, [](L r) { return r.settings.machine_metrics.storage && r.command.size() == 1; }},
    {{"--storage-metrics", "--storage-devices=all"}, [](L r) { return r.settings.machine_metrics.storage; }},
    {{"--storage-metrics=--storage-devices=nvme0n1,--interval=10"}, [](L r) { return r.settings.machine_metrics.storage; }},
    {{"--nic-metrics=lf,hf"}, [](L r) { return r.settings.machine_metrics.networks; }},
    {{"--storage-metrics=storage-devices=all"}, [](L r) { return r.settings.machine_metrics.storage; }},
    {{"--nic-metrics=efa"}, [](L r) { return r.settings.machine_metrics.networks; }},
    {{"--enable=efa_metrics"}, [](L r) { return r.settings.machine_metrics.networks; }},
    {{"--enable", "network_interface,-i10000,-dall"}, [](L r) { return r.settings.machine_metrics.networks; }},
    {{"--enable=nvml_metrics", "--enable=storage_metrics"},
     [](L r) { return r.settings.gpu_metrics.set == "nvml" && r.settings.gpu_metrics.devices == "all" && r.settings.machine_metrics.storage; }},
    {{"--event-sample=none", "--storage-metrics=none"}, [](L) { return true; }},
    // The effects of these belong to the command, and are tested with it.
    {{"--stats=true"}, [](L) { return true; }},
    {{"--export=sqlite"}, [](L) { return true; }},
    {{"--export=arrow,parquetdir"}, [](L) { return true; }},
    {{"--session-new=mine"}, [](L) { return true; }},
};

// Options that are left out, with a word of the message.
struct LeftOut {
  Arguments arguments;
  std::string advice;
};
const std::vector<LeftOut> kLeftOut{
    {{"-t", "oshmem"}, "NVTX"},
    {{"-t", "vulkan"}, "-t opengl"},
    {{"-t", "vulkan-annotations"}, "-t opengl"},
    {{"-t", "openxr"}, "-t opengl"},
    {{"-t", "cudla"}, "NVTX"},
    {{"-t", "cudla-verbose"}, "NVTX"},
    {{"-t", "gds"}, "-t osrt"},
    {{"-t", "s3"}, "-t osrt"},
    {{"-t", "nvvideo"}, "NVTX"},
    {{"-t", "tegra-accelerators"}, "Accelerators"},
    {{"-t", "cuda-hw"}, "CUPTI"},
    {{"-c", "hotkey"}, "lanescope launch"},
    {{"--hotkey-capture=F12"}, "lanescope launch"},
    {{"--cuda-graph-trace=graph:host-and-device"}, "Graphs that kernels launch"},
    {{"--cuda-graph-trace=node:nvtx-precapture"}, "Mark the graph's launches"},
    {{"--cuda-trace-scope=system-wide"}, "lanescope attach"},
    {{"--flush-on-cudaprofilerstop=false"}, "not needed"},
    {{"--sampling-period=1000000"}, "--sampling-frequency"},
    {{"--sampling-trigger=perf"}, "--sampling-frequency"},
    {{"--samples-per-backtrace=1"}, "--sampling-frequency"},
    {{"--resolve-symbols=false"}, "always looked up"},
    {{"--show-source-info=false"}, "always looked up"},
    {{"--cpu-core-events=0"}, "--cpu-core-events=help"},
    {{"--cpu-core-metrics=0"}, "--cpu-core-events"},
    {{"--cpu-socket-events=0"}, "--cpu-core-events"},
    {{"--cpu-cluster-events=0"}, "--cpu-core-events"},
    {{"--event-sample=system-wide"}, "--cpu-core-events"},
    {{"--event-sampling-interval=3"}, "--cpu-core-events"},
    {{"--os-events=0"}, "page-faults"},
    {{"--ftrace-keep-user-config=false"}, "not needed"},
    {{"--xhv-trace=x"}, "Hypervisors"},
    {{"--osrt-backtrace-depth=24"}, "whole"},
    {{"--osrt-backtrace-stack-size=6144"}, "whole"},
    {{"--python-functions-trace=/opt/nvidia/nsight/target-linux-x64/PythonFunctionsTrace/annotations.json"}, "one of yours"},
    {{"--python-sampling-frequency=500"}, "--sampling-frequency"},
    {{"--dask=functions-trace"}, "--python-functions-trace"},
    {{"--gpuctxsw=true"}, "--gpu-metrics-devices"},
    {{"--dx12-gpu-workload=true"}, "-t opengl"},
    {{"--wddm-additional-events=true"}, "Windows"},
    {{"--etw-provider=x"}, "Windows"},
    {{"--isr=true"}, "Windows"},
    {{"--qnx-kernel-events=x"}, "QNX"},
    {{"--clock-frequency-changes=true"}, "--gpu-metrics-devices"},
    {{"--gpu-video-device=all"}, "--gpu-metrics-devices"},
    {{"--soc-metrics=true"}, "--gpu-metrics-devices"},
    {{"--accelerator-trace=x"}, "not recorded"},
    {{"--ib-switch-metrics-devices=1"}, "-t osrt"},
    {{"--ib-net-info-files=f"}, "-t osrt"},
    {{"--ib-switch-congestion-devices=1"}, "-t osrt"},
    {{"--storage-metrics=--nfs-volumes=all"}, "Disks of the machine"},
    {{"--storage-metrics=lustre-volumes=all"}, "Disks of the machine"},
    {{"--storage-devices=sda"}, "All disks"},
    {{"--gds-metrics=x"}, "-t osrt"},
    {{"--nccl-trace=api"}, "NVTX"},
    {{"--enable=plugin"}, "no plugins"},
    {{"--trace-fork-before-exec=false"}, "not needed"},
    {{"--discard-environment=false"}, "never stored"},
    {{"--after-collection-start=cmd"}, "beside the recording"},
    {{"--after-report-ready=cmd"}, "behind it"},
    {{"--opengl-gpu-workload=true"}, "-t opengl"},
    {{"--vulkan-gpu-workload=batch"}, "-t opengl"},
    {{"--vsync=true"}, "-t opengl"},
    {{"--export=hdf"}, "lanescope export"},
    {{"-t", "dx11"}, "-t opengl"},
    {{"-t", "dx11-annotations"}, "-t opengl"},
    {{"-t", "dx12"}, "-t opengl"},
    {{"-t", "dx12-annotations"}, "-t opengl"},
    {{"-t", "openxr-annotations"}, "-t opengl"},
    {{"-t", "wddm"}, "Windows"},
    {{"-t", "s3-verbose"}, "-t osrt"},
    {{"-s", "xhv"}, "Hypervisors"},
    {{"--sample=xhv-system-wide"}, "Hypervisors"},
    {{"--pytorch=functions-trace"}, "autograd-nvtx"},
    {{"--pytorch=functions-trace-shapes"}, "autograd-nvtx"},
    {{"--export=arrowdir"}, "parquetdir"},
    {{"--export=jsonlines"}, "lanescope export"},
    {{"--export=info"}, "lanescope info"},
    {{"--gpu-metrics-set=gh100"}, "--gpu-metrics-set=help"},
    {{"--gpu-metrics-set=ga10x-gfxt"}, "--gpu-metrics-set=help"},
    {{"--gpu-metrics-set=file:x.config"}, "--gpu-metrics-set=help"},
    {{"--auto-report-name=true"}, "-o"},
    {{"--cpu-socket-metrics=0"}, "--cpu-core-events"},
    {{"--duration-frames=60"}, "-d"},
    {{"--start-frame-index=60"}, "-d"},
    {{"--dx-force-declare-adapter-removal-support=true"}, "-t opengl"},
    {{"--dx12-wait-calls=true"}, "-t opengl"},
    {{"--event-sampling-frequency=3"}, "--cpu-core-events"},
    {{"--event-sampling-multiplex-interval=3"}, "--cpu-core-events"},
    {{"--gds-libs-path=x"}, "-t osrt"},
    {{"--ib-net-info-devices=mlx5_0"}, "-t osrt"},
    {{"--ib-net-info-output=x"}, "-t osrt"},
    {{"--ib-switch-congestion-device=1"}, "-t osrt"},
    {{"--ib-switch-congestion-nic-device=1"}, "-t osrt"},
    {{"--ib-switch-congestion-percent=1"}, "-t osrt"},
    {{"--ib-switch-congestion-threshold-high=1"}, "-t osrt"},
    {{"--ib-switch-metrics-device=1"}, "-t osrt"},
    {{"--ib-switch-metrics-nic-device=1"}, "-t osrt"},
    {{"--process-scope=system-wide"}, "-s system-wide"},
    {{"--qnx-kernel-events-mode=fast"}, "QNX"},
    {{"--retain-etw-files=true"}, "Windows"},
    {{"--soc-metrics-frequency=10000"}, "--gpu-metrics-devices"},
    {{"--soc-metrics-set=x"}, "--gpu-metrics-devices"},
    {{"--wddm-backtraces=true"}, "Windows"},
    {{"--wddm-memory-trace=true"}, "Windows"},
    {{"--xhv-trace-events=all"}, "Hypervisors"},
    {{"--xhv-vm-symbols=x"}, "Hypervisors"},
    {{"--isr"}, "Windows"},
};

// Wrong options, with a word of the advice.
struct Named {
  Arguments arguments;
  std::string advice;
};
const std::vector<Named> kNamed{
    {{"--nvtx"}, "Did you mean --trace=cuda,nvtx?"},
    {{"--mpi"}, "Did you mean --trace="},
    {{"-c", "cuda"}, "Did you mean --trace=cuda?"},
    {{"--output-dir=x"}, "Did you mean --output?"},
    {{"--ftrase=x"}, "Did you mean --ftrace?"},
    {{"--ftrace=sched"}, "no event of the kernel such as sched/sched_switch"},
    {{"--ftrace=sched/../../etc"}, "no event of the kernel"},
    {{"--cpu-core-events=instuctions"}, "--cpu-core-events=help"},
    {{"-t", "opengll"}, "Did you mean opengl?"},
    {{"-t", "direct3d"}, "is none of cuda, nvtx"},
    {{"--pytorch=functions"}, "autograd-nvtx"},
    {{"--sample=xhw"}, "process-tree"},
    {{"--export=hdf6"}, "none of"},
    {{"--ib-quantum"}, "Unknown option --ib-quantum"},
};

std::string text_of(const Arguments& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + ' ';
  return text;
}

}  // namespace

TEST_CASE("options of nsys that we have mean what they mean there") {
  for (const char* variable : {"CUBLAS_NVTX_LEVEL", "CUBLASLT_NVTX_LEVEL", "CUDNN_NVTX_LEVEL", "CUSOLVERDN_NVTX_LEVEL", "CUSPARSE_NVTX_LEVEL"})
    unsetenv(variable);
  for (const Taken& each : kTaken) {
    const Asked asked = ask(each.arguments);
    INFO(text_of(each.arguments) << ": " << asked.error);
    CHECK(asked.request);
    CHECK(asked.left_out.empty());
    if (asked.request) CHECK(each.holds(*asked.request));
  }
}

TEST_CASE("options and values of nsys that we do not record are left out, which one line says") {
  for (const LeftOut& each : kLeftOut) {
    const Asked asked = ask(each.arguments);
    CAPTURE(text_of(each.arguments), asked.error);
    REQUIRE(asked.request);
    CHECK(asked.request->command == Arguments{"app"});
    REQUIRE(asked.left_out.size() == 1);
    CHECK_THAT(asked.left_out[0].advice, contains_text(each.advice));
    const std::string& named = asked.left_out[0].argument;
    CHECK(each.arguments[0].starts_with(named.substr(0, each.arguments[0].starts_with("--") ? named.find('=') : 1)));
  }
}

TEST_CASE("the rest of a command line is recorded when a part of it is left out") {
  const Asked all = ask({"--trace=cuda,vulkan,nvtx,osrt"});
  REQUIRE(all.request);
  CHECK(all.request->settings.trace_cuda);
  CHECK(all.request->settings.trace_nvtx);
  CHECK(all.request->settings.trace_os_runtime);
  CHECK(all.left_out.size() == 1);
  const Asked some = ask({"-t", "cuda,openxr,Vulkan", "--os-events", "1", "-f", "true", "--ib-switch-metrics-devices=1", "-s", "none"});
  REQUIRE(some.request);
  CHECK(some.left_out.size() == 4);
  CHECK(some.request->overwrite == Overwrite::kAllow);
  CHECK_FALSE(some.request->settings.trace_nvtx);
  CHECK(ask({"--cuda-graph-trace=graph:host-and-device:nvtx-live"}).request->settings.graph_level == session::GraphLevel::kGraph);
  CHECK(ask({"--cuda-graph-trace=node:nvtx-precapture"}).request->settings.graph_level == session::GraphLevel::kNode);
  CHECK(ask({"--pytorch=autograd-nvtx,functions-trace"}).request->pytorch == session::PytorchRanges::kOperations);
  for (const char* const list :
       {"functions-trace,autograd-shapes-nvtx", "autograd-shapes-nvtx,functions-trace", "Functions-Trace-Shapes,autograd-shapes-nvtx"}) {
    CAPTURE(list);
    const Asked both = ask({std::string("--pytorch=") + list});
    CHECK(both.request->pytorch == session::PytorchRanges::kOperationsAndShapes);
    REQUIRE(both.left_out.size() == 1);
    CHECK_THAT(both.left_out[0].argument, !contains_text("autograd"));
  }
  CHECK(ask({"-c", "hotkey"}).request->settings.range.trigger == session::CaptureTrigger::kNone);
  CHECK(ask({"-s", "xhv"}).request->settings.cpu.samples == cpu::Scope::kProcessTree);
  CHECK(ask({"--gpu-metrics-set=gh100"}).request->settings.gpu_metrics.set == "default");
  CHECK(ask({"-t", "cuda-hw"}).request->settings.trace_cuda);
}

TEST_CASE("every option that refuses a word by naming those it takes prints these for help") {
  CLI::App app("", "lanescope profile");
  LaunchOptions options;
  describe_launch(app, options);
  std::size_t count = 0;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_items_expected_max() == 0) continue;
    const std::string name = "--" + option->get_lnames().front();
    constexpr std::string_view kNamed = "is none of ";
    const std::string refusal = ask({name + "=quixotic"}).error;
    const std::size_t named = refusal.find(kNamed);
    if (named == std::string::npos || name.starts_with("--gpu-metrics")) continue;  // what is possible there is another program's answer
    std::string words = refusal.substr(named + kNamed.size());
    for (std::size_t comma = 0; (comma = words.find(", ")) != std::string::npos;) words.replace(comma, 2, "\n");
    CAPTURE(name);
    CHECK_THAT(help_of({name + "=help"}).value_or(""), contains_text(words));
    ++count;
  }
  CHECK(count > 8);
}

TEST_CASE("help of an option says what it takes, what there is on this machine, and what of nsys is left out") {
  const test::TemporaryFolder machine;
  const auto write = [&machine](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((machine.path() / file).parent_path());
    std::ofstream(machine.path() / file) << text;
  };
  setenv("LANESCOPE_MACHINE_ROOT", machine.path().c_str(), 1);
  CHECK(help_of({"--nic-metrics=help"}) == "none\nlf\n\nThere is no network device here whose traffic could be sampled.\n");
  write("proc/net/dev", "head\nhead\n  eth7: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  write("proc/diskstats", "8 0 sdq 1 2 3 4 5 6 7 8 9 10 11\n");
  write("sys/block/sdq/size", "8\n");
  const struct {
    Arguments arguments;
    std::vector<std::string> lines;
  } cases[] = {
      {{"--nic-metrics=help"}, {"lf", "  Network eth7: received, sent, packets received, packets sent, packets dropped"}},
      {{"--storage-metrics=help"}, {"  Disks sdq: read, written, reads, writes, busy, requests in flight"}},
      {{"--syscall=help"}, {"process-tree", "  openat", "  futex"}},
      {{"-t", "help"}, {"cuda", "nvtx", "osrt", "openmp"}},
      {{"--trace=cuda,help"}, {"cuda"}},
      {{"-c", "help"}, {"none", "cudaProfilerApi", "nvtx"}},
      {{"--capture-range-end=help"}, {"stop", "stop-shutdown", "repeat"}},
      {{"--cuda-graph-trace=help"}, {"node", "graph"}},
      {{"--cudabacktrace=help"}, {"all", "kernel", "memory", "sync", "other"}},
      {{"--kill=help"}, {"none", "sigterm", "sigkill"}},
      {{"--kernels=help"}, {"none"}},
      {{"--ftrace=help"}, {"none"}},
      {{"--enable=help"}, {"network_interface (--nic-metrics=lf)"}},
      {{"--os-events=help"}, {"--os-events is left out. Take --cpu-core-events=page-faults,context-switches"}},
      {{"--gpu-video-device=help"},
       {"--gpu-video-device is left out. Video engines are not recorded. See the GPU's other units with --gpu-metrics-devices=all"}},
  };
  for (const auto& [arguments, lines] : cases) {
    CAPTURE(arguments);
    const std::optional<std::string> help = help_of(arguments);
    REQUIRE(help);
    for (const std::string& line : lines) CHECK_THAT('\n' + *help, contains_text('\n' + line + '\n'));
  }
  unsetenv("LANESCOPE_MACHINE_ROOT");
}

TEST_CASE("options for something that is not traced are left out, which one line says") {
  for (const auto& [arguments, left_out] :
       std::vector<std::pair<Arguments, std::size_t>>{{{"-t", "nvtx", "--cuda-memory-usage=true", "--cudabacktrace=all"}, 2},
                                                      {{"-t", "cuda", "--nvtx-domain-include=x", "--osrt-threshold=5"}, 2},
                                                      {{"-t", "nvtx", "--cuda-memory-usage=false", "--cudabacktrace=none"}, 0},
                                                      {{"-t", "cuda-sw,nvtx", "--cuda-memory-usage=true", "--nvtx-domain-exclude=x"}, 0},
                                                      {{"-t", "cuda", "--osrt-file-access=true"}, 0},  // the option itself traces osrt
                                                      {{"--cuda-memory-usage=true", "--nvtx-domain-include=x", "--osrt-threshold=5"}, 0}}) {
    CAPTURE(arguments);
    const Asked asked = ask(arguments);
    CHECK(asked.request);
    CHECK(asked.left_out.size() == left_out);
  }
}

TEST_CASE("of several thresholds of --cudabacktrace the least holds, and the others are left out") {
  CHECK(ask({"--cudabacktrace=kernel:5000,sync:5000,memory"}).left_out.empty());
  const Asked asked = ask({"--cudabacktrace=kernel:1000000,sync:0"});
  REQUIRE(asked.request);
  REQUIRE(asked.left_out.size() == 1);
  CHECK(asked.left_out.front().argument == "--cudabacktrace=kernel:1000000");
  CHECK_THAT(asked.left_out.front().advice, contains_text("0 ns"));
}

TEST_CASE("--strict refuses what would be left out, before anything runs") {
  const test::Ran strict = test::run_command({"profile", "--strict", "-t", "cuda,vulkan", "--isr", "/no/such/program"});
  CHECK(strict.code == kUsage);
  CHECK_THAT(strict.messages, contains_text("--trace=vulkan") && contains_text("--isr=true"));
  const test::Ran usual = test::run_command({"profile", "-t", "cuda,vulkan", "/no/such/program"});
  CHECK(usual.code == kFailure);  // it gets as far as the program
  CHECK_THAT(usual.messages, contains_text("Warning: --trace=vulkan is left out. Of graphics, "));
}

TEST_CASE("options that are none are named, with what to do") {
  for (const Named& each : kNamed) {
    const Asked asked = ask(each.arguments);
    CAPTURE(text_of(each.arguments));
    CHECK_FALSE(asked.request);
    CHECK_THAT(asked.error, contains_text(each.advice));
  }
}

namespace {

struct Line {
  const char* text;
  bool (*holds)(const LaunchRequest&);
};
// Options as in guides and scripts of PyTorch, Megatron, NeMo, vLLM, SGLang, TensorRT, TensorRT-LLM and JAX.
const std::vector<Line> kLines{
    {"-w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu --capture-range=cudaProfilerApi --stop-on-range-end=true --cudabacktrace=true -x true "
     "-o my_profile",
     [](L r) {
       return by_range(r, session::CaptureTrigger::kProfilerApi) && r.settings.trace_os_runtime && r.settings.backtraces.memory &&
              r.settings.range.after == session::AfterCapture::kShutdown;
     }},
    {"-w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu --pytorch=autograd-nvtx --capture-range=cudaProfilerApi --capture-range-end=stop -f "
     "true "
     "-x true -o report-nsys",
     [](L r) { return r.pytorch == session::PytorchRanges::kOperations && r.settings.range.after == session::AfterCapture::kStop; }},
    {"--trace=cuda,cublas,nvtx,osrt,cudnn --force-overwrite=true -o clean", [](L r) { return r.settings.trace_os_runtime; }},
    {"--trace=cuda,nvtx --sample=none --cpuctxsw=none --force-overwrite=true -o lite", [](L r) { return !r.settings.cpu.any(); }},
    {"-s none -t nvtx,cuda -o megatron --force-overwrite true --capture-range=cudaProfilerApi --capture-range-end=stop",
     [](L r) { return r.settings.cpu.samples == cpu::Scope::kNone && r.overwrite == Overwrite::kAllow; }},
    {"--show-output=true --capture-range=cudaProfilerApi --capture-range-end=stop --force-overwrite=true -o %h.nsys-rep --sample=none -t "
     "cuda,nvtx",
     [](L r) { return r.output == "%h.nsys-rep"; }},
    {"--trace-fork-before-exec=true --cuda-graph-trace=node -o report.nsys-rep", [](L r) { return r.settings.graph_level == session::GraphLevel::kNode; }},
    {"--trace-fork-before-exec=true --cuda-graph-trace=node -o sglang.out --delay 60 --duration 70",
     [](L r) { return r.delay == 60s && r.duration == 70s && r.end_signal == SIGTERM; }},
    {"--trace-fork-before-exec=true --cuda-graph-trace=node --capture-range=cudaProfilerApi --capture-range-end repeat",
     [](L r) { return r.settings.range.after == session::AfterCapture::kRepeat; }},
    {"--force-overwrite=true --gpu-metrics-devices=cuda-visible --output=./nsys_profiling",
     [](L r) { return r.settings.gpu_metrics.devices == "cuda-visible"; }},
    {"--force-overwrite true -o /tmp/test --gpu-metrics-device all --capture-range cudaProfilerApi --trace=nvtx,cuda,cudnn "
     "--backtrace=none",
     [](L r) { return r.settings.gpu_metrics.devices == "all" && r.settings.cpu.call_chains == cpu::CallChains::kNone; }},
    {"-o trace -f true -c cudaProfilerApi --cuda-graph-trace node -t cuda,nvtx "
     "-e TLLM_PROFILE_RECORD_GC=1,TLLM_LLMAPI_ENABLE_NVTX=1,TLLM_TORCH_PROFILE_TRACE=trace.json --trace-fork-before-exec=true",
     [](L r) { return r.environment.size() == 3 && r.environment[2].value == "trace.json"; }},
    {"-c nvtx -p profile@* -e NSYS_NVTX_PROFILER_REGISTER_ONLY=0 -o range", [](L r) { return r.settings.range.name == "profile" && !r.settings.range.domain; }},
    {"--cpuctxsw=none --cuda-graph-trace=node --python-sampling=true -o jax", [](L r) { return r.settings.cpu.python_names; }},
    {"-t nvtx,osrt --force-overwrite=true --stats=true --output=quickstart.qdrep", [](L r) { return r.settings.trace_os_runtime && !r.settings.trace_cuda; }},
    {"-t cuda,mpi --mpi-impl=openmpi -o report_%q{OMPI_COMM_WORLD_RANK}", [](L r) { return marks(r, session::MarkedLibrary::kMpi); }},
    {"-w true --cuda-memory-usage=true --python-backtrace=cuda -s cpu -f true -x true -o baseline",
     [](L r) { return r.settings.memory_usage && r.settings.cpu.python_names; }},
    {"--kill none --duration=60 --sample=process-tree --export=sqlite -f true -o ex", [](L r) { return !r.end_signal && r.duration == 60s; }},
};

}  // namespace

TEST_CASE("command lines of nsys from guides and scripts are taken as they stand") {
  for (const Line& line : kLines) {
    std::istringstream words(line.text);
    const Asked asked = ask(Arguments(std::istream_iterator<std::string>(words), {}));
    INFO(line.text << ": " << asked.error);
    CHECK(asked.request);
    if (asked.request) CHECK(line.holds(*asked.request));
  }
}

TEST_CASE("commands of nsys that we do not have are named, with what to do") {
  for (const char* name : {"nvprof", "ncu", "plugins", "finalize", "service"}) {
    const test::Ran told = test::run_command({name, "x"});
    CHECK(told.code == kUsage);
    CHECK_THAT(told.messages, contains_text(std::string("There is no command ") + name + ". "));
  }
}

TEST_CASE("a boolean option stands before true and false in every command") {
  CLI::App app("", "lanescope export");
  bool overwrite = false;
  std::string file;
  app.add_flag("-f,--force-overwrite", overwrite);
  app.add_option("FILE", file);
  CHECK_FALSE(parse(app, {"-f", "true", "x.trace", "--lazy=true", "--lazy", "true"}));
  CHECK(overwrite);
  CHECK(file == "x.trace");
}

TEST_CASE("options that hold for a launch are sent there") {
  CLI::App app("", "lanescope start");
  CHECK(parse(app, {"--sample=none"}, "Give it to lanescope launch.") == kUsage);
}
