#include "collector/session/recording.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "clock.h"
#include "collector/attach/candidate.h"
#include "collector/attach/inject.h"
#include "collector/channel/layout.h"
#include "launcher.h"
#include "run.h"
#include "target_environment.h"
#include "trace_output.h"

extern char** environ;

namespace lanescope::session {
namespace {

std::vector<std::string> our_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

void describe_settings(const CaptureSettings& settings, proto::CaptureSettings& described) {
  described.set_trace_cuda(settings.trace_cuda);
  described.set_trace_nvtx(settings.trace_nvtx);
  described.set_trace_os_runtime(settings.trace_os_runtime);
  described.set_preset(settings.preset == Preset::kLight  ? proto::PRESET_LIGHT
                       : settings.preset == Preset::kDeep ? proto::PRESET_DEEP
                                                          : proto::PRESET_DEFAULT);
  described.set_graph_level(settings.graph_level == GraphLevel::kGraph ? proto::GRAPH_LEVEL_GRAPH : proto::GRAPH_LEVEL_NODE);
  described.set_flush_interval_ms(static_cast<std::uint32_t>(settings.flush_interval.count()));
  described.set_memory_usage(settings.memory_usage);
  described.set_cpu_page_faults(settings.cpu_page_faults);
  described.set_gpu_page_faults(settings.gpu_page_faults);
  described.set_cuda_events(settings.cuda_events);
}

void describe_settings(const cpu::CpuSettings& settings, proto::CaptureSettings& described) {
  const auto scope = [](cpu::Scope wanted) {
    return wanted == cpu::Scope::kNone         ? proto::CPU_SCOPE_NONE
           : wanted == cpu::Scope::kSystemWide ? proto::CPU_SCOPE_SYSTEM_WIDE
                                               : proto::CPU_SCOPE_PROCESS_TREE;
  };
  described.set_thread_states(scope(settings.thread_states));
  described.set_cpu_samples(scope(settings.samples));
  if (settings.samples == cpu::Scope::kNone) return;
  described.set_sampling_frequency(settings.frequency);
  described.set_call_chains(settings.call_chains == cpu::CallChains::kFramePointers   ? proto::CALL_CHAINS_FRAME_POINTERS
                            : settings.call_chains == cpu::CallChains::kDwarf         ? proto::CALL_CHAINS_DWARF
                            : settings.call_chains == cpu::CallChains::kBranchRecords ? proto::CALL_CHAINS_BRANCH_RECORDS
                                                                                      : proto::CALL_CHAINS_NONE);
}

// What holds for every recording.
proto::SessionStart session_start(const CaptureSettings& settings) {
  proto::SessionStart start;
  start.set_epoch(monotonic_now());
  start.set_utc_epoch(realtime_now());
  start.set_host_name(host_name());
  start.set_lanescope_version(LANESCOPE_VERSION);
  describe_settings(settings, *start.mutable_settings());
  describe_settings(settings.cpu, *start.mutable_settings());
  utsname system{};
  uname(&system);
  start.set_operating_system(std::string(system.sysname) + " " + system.release + " " + system.machine);
  start.set_processor_count(std::thread::hardware_concurrency());
  return start;
}

proto::SessionStart session_start(const LaunchRequest& request, const CaptureSettings& settings) {
  proto::SessionStart start = session_start(settings);
  for (const std::string& argument : request.command) start.add_command(argument);
  std::error_code ignored;
  const std::filesystem::path directory = request.working_directory.empty() ? std::filesystem::current_path(ignored)
                                                                            : std::filesystem::absolute(request.working_directory, ignored);
  start.set_working_directory(directory.string());
  return start;
}

proto::SessionStart session_start(const AttachRequest& request) {
  proto::SessionStart start = session_start(request.settings);
  start.set_attached_pid(static_cast<std::uint32_t>(request.pid));
  std::error_code ignored;
  start.set_working_directory(std::filesystem::read_symlink("/proc/" + std::to_string(request.pid) + "/cwd", ignored).string());
  return start;
}

// How long the process stood still, for readers of the file.
void note_stop(const attach::Injection& injection, FrameLog& log) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "The agent was brought in by thread %d, which stood still for %.1f ms meanwhile.",
                static_cast<int>(injection.thread), std::chrono::duration<double, std::milli>(injection.stopped).count());
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_INFO);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_text(text.data());
  log.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
}

// What a recording of a running process has in common with one of a launched process.
LaunchRequest as_launch(AttachRequest request) {
  LaunchRequest launch;
  launch.settings = request.settings;
  launch.output = std::move(request.output);
  launch.overwrite = request.overwrite;
  launch.delay = request.delay;
  launch.duration = request.duration;
  launch.maximum_file_size = request.maximum_file_size;
  launch.keep_last = request.keep_last;
  return launch;
}

Result<void> check(const CaptureSettings& settings) {
  const CaptureRange& range = settings.range;
  if (range.trigger == CaptureTrigger::kProfilerApi && !settings.trace_cuda)
    return Error{"Captures between cudaProfilerStart and cudaProfilerStop need CUDA to be traced.", ErrorKind::kUsage};
  if (range.trigger != CaptureTrigger::kNvtxRange) return {};
  if (!settings.trace_nvtx) return Error{"Captures of an NVTX range need NVTX to be traced.", ErrorKind::kUsage};
  if (range.name.empty()) return Error{"Captures of an NVTX range need its name.", ErrorKind::kUsage};
  if (range.name.size() >= channel::kCaptureNameBytes || range.domain.value_or("").size() >= channel::kCaptureNameBytes)
    return Error{"The name of the NVTX range to capture is longer than 1,023 bytes.", ErrorKind::kUsage};
  return {};
}

// The file of the program that it asks for.
Result<std::filesystem::path> check(const LaunchRequest& request) {
  if (request.command.empty()) return Error{"There is no program to run.", ErrorKind::kUsage};
  if (request.on_target_exit == OnTargetExit::kGoOn && !request.duration)
    return Error{"A recording that goes on after its program ended needs a duration.", ErrorKind::kUsage};
  if (Result<void> range = check(request.settings); !range) return range.error();
  return find_program(request.command.front(), request.working_directory);
}

// The file itself, without links on the way to it.
Result<std::filesystem::path> existing_agent(const std::filesystem::path& agent) {
  std::error_code failed;
  const std::filesystem::path found = std::filesystem::canonical(agent, failed);
  if (!failed) return found;
  return Error{"The agent " + agent.lexically_normal().string() +
               " is not there. Install Lanescope whole, or set LANESCOPE_AGENT to the file."};
}

// Of a part of the recording that can't be had, which does not keep the rest from being recorded.
proto::Diagnostic refusal(proto::Component component, const Error& error) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(component);
  diagnostic.set_state(proto::STATE_NO_PERMISSION);
  diagnostic.set_text(error.text);
  return diagnostic;
}

// The recorder of threads, which follows a process from its exec on (launched) or from now on. None where it is not asked for.
template <typename Begin>
Result<std::unique_ptr<cpu::Recorder>> follow_threads(Begin begin, pid_t pid, const CaptureSettings& settings, bool at_once, bool watched,
                                                      std::vector<proto::Diagnostic>& refusals) {
  constexpr std::chrono::milliseconds kWatchedFlush{100};
  constexpr std::chrono::milliseconds kUnwatchedFlush{500};
  if (!settings.cpu.any()) return std::unique_ptr<cpu::Recorder>();
  const cpu::Start start = at_once ? cpu::Start::kAtOnce : cpu::Start::kWhenTold;
  Result<std::unique_ptr<cpu::Recorder>> recorder = begin(pid, settings.cpu, start, watched ? kWatchedFlush : kUnwatchedFlush);
  if (recorder || recorder.error().kind == ErrorKind::kUsage) return recorder;
  refusals.push_back(refusal(proto::COMPONENT_CPU, recorder.error()));
  return std::unique_ptr<cpu::Recorder>();
}

// The agent, where anything is traced at all.
Result<std::filesystem::path> agent_for(const CaptureSettings& settings, const std::filesystem::path& given) {
  if (!settings.trace_cuda && !settings.trace_nvtx && !settings.trace_os_runtime && !settings.trace_python_lock)
    return std::filesystem::path();
  return given.empty() ? find_agent() : existing_agent(given);
}

// The sampler of GPU metrics, where they are asked for. A recording goes on without it, with a warning.
std::unique_ptr<GpuMetricsProcess> gpu_metrics_for(const CaptureSettings& settings, std::vector<proto::Diagnostic>& refusals) {
  if (!settings.gpu_metrics.asked_for()) return nullptr;
  Result<std::unique_ptr<GpuMetricsProcess>> process = GpuMetricsProcess::start(settings.gpu_metrics);
  if (process) return std::move(*process);
  refusals.push_back(refusal(proto::COMPONENT_GPU_METRICS, process.error()));
  refusals.back().set_state(proto::STATE_NO_LIBRARY);
  return nullptr;
}

// That its threads, at least, can be recorded of a process that the agent does not enter.
Result<void> check_from_outside(const AttachRequest& request) {
  if (!request.settings.cpu.any() && !request.settings.gpu_metrics.asked_for())
    return Error{"There is nothing to record: of a process that nothing is traced of, record samples or states of threads, or GPU metrics.",
                 ErrorKind::kUsage};
  const Result<attach::Candidate> candidate = attach::read_candidate(request.pid);
  if (!candidate) return candidate.error();
  if (auto reason = attach::observation_refusal(*candidate, attach::read_rights(*candidate))) return Error{std::move(*reason)};
  return {};
}

// The agent in a process that ran without it, which has reported.
struct BroughtAgent {
  FileDescriptor connection;
  std::vector<std::string> warnings;
};
Result<BroughtAgent> bring_agent(pid_t pid, const std::filesystem::path& agent, const ControlSocket& socket, FrameLog& log) {
  constexpr std::chrono::seconds kGreetingLimit{5};
  Result<attach::Injection> injection = attach::inject({.pid = pid, .agent = agent, .socket = socket.path()});
  if (!injection) return injection.error();
  if (injection->thread != 0) note_stop(*injection, log);
  FileDescriptor connection(injection->connection);
  if (Result<void> greeted = await_greeting(connection.get(), pid, kGreetingLimit); !greeted) return greeted.error();
  return BroughtAgent{std::move(connection), std::move(injection->warnings)};
}

}  // namespace

Result<std::filesystem::path> find_agent() {
  if (const char* variable = std::getenv("LANESCOPE_AGENT"); variable != nullptr && *variable != '\0') return existing_agent(variable);
  std::error_code ignored;
  return existing_agent(std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "../lib/liblanescope-agent.so");
}

Result<std::unique_ptr<Recording::Run>> Recording::Run::start(LaunchRequest request, FrameSink sink) {
  const Result<std::filesystem::path> program = check(request);
  if (!program) return program.error();
  const Result<std::filesystem::path> agent = agent_for(request.settings, request.agent);
  if (!agent) return agent.error();
  Result<ControlSocket> socket = ControlSocket::create(request.run_as ? std::optional(request.run_as->user) : std::nullopt);
  if (!socket) return socket.error();
  Result<OutputRelay> relay = OutputRelay::start(request.target_output);
  if (!relay) return relay.error();
  TargetEnvironment environment = target_environment(request, our_environment(), *agent, socket->path());

  Result<WaitingProcess> process = WaitingProcess::start({request.command, environment.variables, request.working_directory,
                                                          relay->write_end(OutputStream::kStandardOutput),
                                                          relay->write_end(OutputStream::kStandardError), request.run_as, *agent});
  if (!process) return process.error();
  relay->close_write_ends();
  const pid_t pid = process->pid();
  std::vector<proto::Diagnostic> refusals;
  std::unique_ptr<GpuMetricsProcess> gpu_metrics = gpu_metrics_for(request.settings, refusals);
  const proto::SessionStart start = session_start(request, environment.settings);
  const bool several_files = request.settings.range.trigger != CaptureTrigger::kNone;
  auto log = std::make_unique<FrameLog>(LogRules{several_files, request.keep_last}, std::move(sink));
  if (!several_files) {
    Result<TraceFileWriter> file = create_trace_file(request.output, request.overwrite, pid);
    if (!file) return file.error();
    log->open(std::move(*file), start);
  }
  const bool at_once = log->is_open() && request.delay == std::chrono::nanoseconds(0);
  Result<std::unique_ptr<cpu::Recorder>> threads =
      follow_threads(cpu::Recorder::launch, pid, environment.settings, at_once, log->is_watched(), refusals);
  const Result<void> released = threads ? process->release() : Result<void>(threads.error());
  if (!released) {
    if (log->is_open()) log->discard();
    return released.error();
  }
  Prepared prepared{Origin::kLaunched,
                    pid,
                    describe_launched(pid, *program, request.command),
                    environment.settings,
                    start,
                    std::move(*socket),
                    std::move(*relay),
                    std::move(log),
                    {},
                    std::move(gpu_metrics)};
  prepared.threads = std::move(*threads);
  prepared.refusals = std::move(refusals);
  return std::unique_ptr<Run>(new Run(std::move(request), std::move(prepared), std::move(environment.warnings)));
}

Result<std::unique_ptr<Recording::Run>> Recording::Run::attach(AttachRequest request, FrameSink sink) {
  const Result<std::filesystem::path> agent = agent_for(request.settings, request.agent);
  if (!agent) return agent.error();
  const bool from_outside = agent->empty();
  if (const Result<void> possible = from_outside ? check_from_outside(request) : Result<void>(); !possible) return possible.error();
  if (const Result<void> range = check(request.settings); !range) return range.error();
  Result<ControlSocket> socket = ControlSocket::create();
  if (!socket) return socket.error();
  Result<OutputRelay> relay = OutputRelay::start(TargetOutput::kStore);
  if (!relay) return relay.error();
  relay->close_write_ends();  // the process keeps its output
  std::vector<proto::Diagnostic> refusals;
  std::unique_ptr<GpuMetricsProcess> gpu_metrics = gpu_metrics_for(request.settings, refusals);
  const bool several_files = request.settings.range.trigger != CaptureTrigger::kNone;
  auto log = std::make_unique<FrameLog>(LogRules{several_files, request.keep_last}, std::move(sink));
  const proto::SessionStart start = session_start(request);
  if (!several_files) {
    Result<TraceFileWriter> file = create_trace_file(request.output, request.overwrite, request.pid);
    if (!file) return file.error();
    log->open(std::move(*file), start);
  }
  const auto discard = [&] {
    if (log->is_open()) log->discard();
  };
  const bool at_once = log->is_open() && request.delay.count() == 0;
  Result<std::unique_ptr<cpu::Recorder>> threads =
      follow_threads(cpu::Recorder::attach, request.pid, request.settings, at_once, log->is_watched(), refusals);
  if (!threads) {
    discard();
    return threads.error();
  }
  if (from_outside && !*threads && !gpu_metrics) {
    discard();
    return Error{refusals.front().text()};
  }
  Result<BroughtAgent> brought = from_outside ? BroughtAgent() : bring_agent(request.pid, *agent, *socket, *log);
  if (!brought) {
    discard();
    return brought.error();
  }
  Prepared prepared{Origin::kAttached,     request.pid,    {},
                    request.settings,      start,          std::move(*socket),
                    std::move(*relay),     std::move(log), std::move(brought->connection),
                    std::move(gpu_metrics)};
  prepared.threads = std::move(*threads);
  prepared.refusals = std::move(refusals);
  return std::unique_ptr<Run>(new Run(as_launch(std::move(request)), std::move(prepared), std::move(brought->warnings)));
}

// ---- The public face -------------------------------------------------------------------------------------------------------------

Recording::Recording(std::unique_ptr<Run> run) : run_(std::move(run)) {}
Recording::~Recording() = default;

Result<std::unique_ptr<Recording>> Recording::launch(LaunchRequest request, FrameSink sink) {
  Result<std::unique_ptr<Run>> run = Run::start(std::move(request), std::move(sink));
  if (!run) return run.error();
  return std::unique_ptr<Recording>(new Recording(std::move(*run)));
}

Result<std::unique_ptr<Recording>> Recording::attach(AttachRequest request, FrameSink sink) {
  Result<std::unique_ptr<Run>> run = Run::attach(std::move(request), std::move(sink));
  if (!run) return run.error();
  return std::unique_ptr<Recording>(new Recording(std::move(*run)));
}

void Recording::stop(StopMode mode) { run_->stop(mode); }
bool Recording::wait_for(std::chrono::milliseconds limit) { return run_->wait_for(limit); }
Result<std::filesystem::path> Recording::start_capture(CaptureRequest request) {
  return run_->order({Recording::Run::Order::kStart, std::move(request), {}});
}
Result<std::filesystem::path> Recording::end_capture() { return run_->order({Recording::Run::Order::kEnd, {}, {}}); }
Result<std::filesystem::path> Recording::cancel_capture() { return run_->order({Recording::Run::Order::kCancel, {}, {}}); }
void Recording::shut_down(std::optional<int> signal) { run_->shut_down(signal); }
RecordingState Recording::state() const { return run_->state(); }
RecordingStatistics Recording::statistics() const { return run_->statistics(); }
std::optional<ExitStatus> Recording::exit_status() const { return run_->exit_status(); }
std::filesystem::path Recording::path() const { return run_->path(); }
pid_t Recording::target_pid() const { return run_->target_pid(); }
bool Recording::was_attached_to() const { return run_->was_attached_to(); }
std::vector<std::string> Recording::take_messages() { return run_->take_messages(); }
RecordingOutcome Recording::outcome() const { return run_->outcome(); }

}  // namespace lanescope::session
