#include "collector/session/recording.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "clock.h"
#include "collector/attach/candidate.h"
#include "collector/attach/from_inside.h"
#include "collector/attach/inject.h"
#include "collector/session/inheritance.h"
#include "file/session_start.h"
#include "file/trace_output.h"
#include "launch/launcher.h"
#include "launch/means.h"
#include "launch/stand_in.h"
#include "launch/target_environment.h"
#include "model/file/memory_limits.h"
#include "outside/observers.h"
#include "processes/memory/target_memory.h"
#include "run.h"

extern char** environ;

namespace lanescope::session {
namespace {

constexpr std::chrono::seconds kAskingLimit{5};  // for a process to report that it is ready

std::vector<std::string> our_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

// Notes how long the process stood still, for readers of the file.
void note_stop(const attach::Injection& injection, FrameLog& log) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "The agent was brought in by thread %d, which stood still for %.1f ms meanwhile.", static_cast<int>(injection.thread),
                std::chrono::duration<double, std::milli>(injection.stopped).count());
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_INFO);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_text(text.data());
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  log.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
}

// What recordings of a running and of a launched process have in common.
LaunchRequest as_launch(AttachRequest request) {
  LaunchRequest launch;
  launch.settings = request.settings;
  launch.output = std::move(request.output);
  launch.labels = std::move(request.labels);
  launch.overwrite = request.overwrite;
  launch.delay = request.delay;
  launch.duration = request.duration;
  launch.maximum_file_size = request.maximum_file_size;
  launch.keep_last = request.keep_last;
  return launch;
}

// Checked before the program has run for hours, for captures that it starts.
Result<void> check_place(const CaptureRange& range, const std::string& output, Overwrite overwrite) {
  const bool begins_later = range.trigger == CaptureTrigger::kProfilerApi || range.trigger == CaptureTrigger::kNvtxRange;
  return begins_later ? check_later_file(output, overwrite, range.after) : Result<void>();
}

// Returns the file of the requested program.
Result<std::filesystem::path> check(const LaunchRequest& request) {
  if (request.command.empty()) return Error{"There is no program to run.", ErrorKind::kUsage};
  if (request.on_target_exit == OnTargetExit::kGoOn && !request.duration)
    return Error{"A recording that goes on after its program ended needs a duration.", ErrorKind::kUsage};
  if (Result<void> range = check_range(request.settings); !range) return range.error();
  if (request.first_capture && request.first_capture->range) {
    CaptureSettings settings = request.settings;
    settings.range = *request.first_capture->range;
    if (Result<void> range = check_range(settings); !range) return range.error();
  }
  if (Result<void> place = check_place(request.settings.range, request.output, request.overwrite); !place) return place.error();
  return find_program(request.command.front(), request.working_directory);
}

// The file itself, with links resolved.
Result<std::filesystem::path> existing_agent(const std::filesystem::path& agent) {
  std::error_code failed;
  const std::filesystem::path found = std::filesystem::canonical(agent, failed);
  if (!failed) return found;
  return Error{"The agent " + agent.lexically_normal().string() + " is not there. Install Lanescope whole, or set LANESCOPE_AGENT to the file."};
}

// The agent, if anything is traced at all.
Result<std::filesystem::path> agent_for(const CaptureSettings& settings, const std::filesystem::path& given) {
  if (!settings.trace_cuda && !settings.trace_nvtx && !settings.trace_os_runtime && !settings.trace_python_lock) return std::filesystem::path();
  return given.empty() ? find_agent() : existing_agent(given);
}

// Checks that something can be recorded of a process that the agent does not enter.
Result<void> check_from_outside(const AttachRequest& request) {
  const CaptureSettings& settings = request.settings;
  if (!settings.cpu.any() && !settings.gpu_metrics.asked_for() && !settings.machine_metrics.asked_for())
    return Error{"There is nothing to record: of a process that nothing is traced of, record samples or states of threads, or metrics.", ErrorKind::kUsage};
  const Result<attach::Candidate> candidate = attach::read_candidate(request.pid);
  if (!candidate) return candidate.error();
  if (auto reason = attach::observation_refusal(*candidate, attach::read_rights(*candidate))) return Error{std::move(*reason)};
  return {};
}

// The agent that was brought into a running process, and has reported.
struct BroughtAgent {
  FileDescriptor connection;
  std::vector<std::string> warnings;
};
Result<BroughtAgent> bring_agent(pid_t pid, const std::filesystem::path& agent, FileDescriptor asking, const ControlSocket& socket, FrameLog& log) {
  constexpr std::chrono::seconds kGreetingLimit{5};
  const attach::InjectionRequest request{.pid = pid, .agent = agent, .socket = socket.address()};
  Result<attach::Injection> injection = asking.valid() ? attach::answer_asking_process(asking.get(), request) : attach::inject(request);
  if (!injection) return injection.error();
  if (injection->thread != 0) note_stop(*injection, log);
  FileDescriptor connection = asking.valid() ? std::move(asking) : FileDescriptor(injection->connection);
  if (Result<void> greeted = await_greeting(connection.get(), pid, kGreetingLimit); !greeted) return greeted.error();
  return BroughtAgent{std::move(connection), std::move(injection->warnings)};
}

// If /proc belongs to another namespace of processes than ours, its numbers mean other processes.
std::optional<std::string> said_of_proc() {
  std::error_code missing;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self", missing);
  if (missing || own == std::to_string(getpid())) return std::nullopt;
  return "/proc is of another namespace of processes, where others have the numbers that ours have here: names of processes and threads are those of others. "
         "Mount it anew, as unshare --mount-proc does, and record again.";
}

// The log of a recording that is about to begin. If that fails, its file is thrown away.
class LogToBegin {
 public:
  LogToBegin(LogRules rules, FrameSink sink) : log_(std::make_unique<FrameLog>(rules, std::move(sink))) {}
  LogToBegin(const LogToBegin&) = delete;
  LogToBegin& operator=(const LogToBegin&) = delete;
  ~LogToBegin() {
    if (log_ && log_->is_open()) log_->discard();
  }
  [[nodiscard]] FrameLog* operator->() const noexcept { return log_.get(); }
  [[nodiscard]] FrameLog& operator*() const noexcept { return *log_; }
  [[nodiscard]] std::unique_ptr<FrameLog> begin() noexcept { return std::move(log_); }

  // When threads are observed: at once, if the file is open and not for later.
  [[nodiscard]] cpu::Start start_of_threads(std::chrono::nanoseconds delay) const noexcept {
    return log_->is_open() && delay == std::chrono::nanoseconds(0) ? cpu::Start::kAtOnce : cpu::Start::kWhenTold;
  }
  [[nodiscard]] Watched watched() const noexcept { return log_->is_watched() ? Watched::kYes : Watched::kNo; }

 private:
  std::unique_ptr<FrameLog> log_;
};

// The file of a launched program that is recorded from its begin.
struct FirstFile {
  std::string name;
  Overwrite overwrite;
};
// Nothing if its captures begin later.
std::optional<FirstFile> first_file(const LaunchRequest& request) {
  const std::optional<CaptureRequest>& first = request.first_capture;
  const bool begins_later = request.settings.range.trigger != CaptureTrigger::kNone && (!first || first->range);
  if (begins_later) return std::nullopt;
  return FirstFile{first && !first->output.empty() ? first->output : request.output, first ? first->overwrite.value_or(request.overwrite) : request.overwrite};
}

}  // namespace

Result<std::filesystem::path> find_agent() {
  if (const char* variable = std::getenv("LANESCOPE_AGENT"); variable != nullptr && *variable != '\0') return existing_agent(variable);
  std::error_code ignored;
  const std::filesystem::path programs = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (programs.empty())
    return Error{"The agent can't be looked for: /proc is not mounted, where the kernel says where this program lies. Mount it with: mount -t proc proc /proc"};
  const std::filesystem::path installed = programs / LANESCOPE_LIBRARIES_FROM_PROGRAMS / "liblanescope-agent.so";
  return existing_agent(std::filesystem::exists(installed, ignored) ? installed : programs / "../lib/liblanescope-agent.so");  // in the build folder
}

Result<std::unique_ptr<Recording::Run>> Recording::Run::start(LaunchRequest request, FrameSink sink) {
  const Result<std::filesystem::path> program = check(request);
  if (!program) return program.error();
  const Result<std::filesystem::path> agent = agent_for(request.settings, request.agent);
  if (!agent) return agent.error();
  const LaunchRequest as_asked = request;
  Obstacle obstacle{};
  Result<std::unique_ptr<Run>> run = Error{};
  try {
    run = try_to_start(std::move(request), std::move(sink), *program, *agent, obstacle);
  } catch (const std::bad_alloc&) {
    run = shortage(ENOMEM);
    obstacle.kind = Obstacle::kShortage;
  } catch (const std::system_error& failure) {  // a thread could not be made
    run = shortage(failure.code().value());
    obstacle.kind = Obstacle::kShortage;
  } catch (const std::exception& failure) {
    run = Error{"The program can't be recorded: " + std::string(failure.what()) + "."};
    obstacle.kind = Obstacle::kShortage;
  }
  if (run || obstacle.kind != Obstacle::kShortage || !as_asked.unrecorded) return run;
  as_asked.unrecorded(run.error());
  if (obstacle.running != 0) stand_for(obstacle.running, as_asked);
  return run_unrecorded({as_asked.command,
                         plain_environment(as_asked, our_environment()),
                         as_asked.working_directory,
                         -1,
                         -1,
                         as_asked.run_as,
                         {},
                         death_signal_of_this_thread()},
                        as_asked);
}

Result<std::unique_ptr<Recording::Run>> Recording::Run::try_to_start(LaunchRequest request, FrameSink sink, const std::filesystem::path& program,
                                                                     const std::filesystem::path& agent, Obstacle& obstacle) {
  obstacle.kind = Obstacle::kShortage;
  request.settings.pool_bytes = pool_bytes_within(request.settings.pool_bytes, free_memory());
  auto thread = std::make_unique<HeldThread>();
  Result<ControlSocket> socket = ControlSocket::create(request.run_as ? std::optional(request.run_as->user) : std::nullopt);
  if (!socket) return socket.error();
  Result<OutputRelay> relay = OutputRelay::start(request.target_output);
  if (!relay) return relay.error();
  TargetEnvironment environment = target_environment(request, our_environment(), agent, socket->address());
  if (const std::optional<std::string> warning = said_of_proc()) environment.warnings.push_back(*warning);

  Result<WaitingProcess> process =
      WaitingProcess::start({request.command, environment.variables, request.working_directory, relay->write_end(OutputStream::kStandardOutput),
                             relay->write_end(OutputStream::kStandardError), request.run_as, agent, request.end_signal ? death_signal_of_this_thread() : 0});
  if (!process) return process.error();
  relay->close_write_ends();
  const pid_t pid = process->pid();
  if (request.process_made) request.process_made(pid);
  std::vector<proto::Diagnostic> refusals;
  std::unique_ptr<GpuMetricsProcess> gpu_metrics = gpu_metrics_for(request.settings.gpu_metrics, refusals);
  std::unique_ptr<machine_metrics::Sampler> machine_metrics = machine_metrics_for(request.settings.machine_metrics, refusals);
  const proto::SessionStart start = session_start(request, environment.settings);
  const std::optional<CaptureRequest>& first = request.first_capture;
  std::vector<std::string> shared_by = missing_variables(first && !first->output.empty() ? first->output : request.output);
  LogToBegin log({request.settings.range.trigger != CaptureTrigger::kNone, request.keep_last, request.maximum_file_size, !shared_by.empty()}, std::move(sink));
  const uid_t user = request.run_as ? request.run_as->user : geteuid();
  if (const std::optional<FirstFile> file = first_file(request)) {
    const Readers readers = readers_of(request.settings.cpu, user);
    const OutputName output{file->name, file->overwrite, earlier_files(file->name, file->overwrite, EarlierFiles::Captures::kOne)};
    Result<CreatedFile> created = create_trace_file(output, readers, pid);
    if (!created && has_room_for_files(file->name)) obstacle.kind = Obstacle::kRequest;
    if (!created) return created.error();
    if (!created->note.empty()) environment.warnings.push_back(created->note);
    log->open(std::move(created->file), start, share_files(output, readers, pid));
  }
  const Result<SpareDescriptors> spare = SpareDescriptors::take();
  if (!spare) return spare.error();
  Result<std::unique_ptr<cpu::Recorder>> threads =
      follow_threads(cpu::Recorder::launch, pid, environment.settings.cpu, log.start_of_threads(request.delay), log.watched(), refusals);
  if (log->is_open() && log->failure())
    return Error{"There is no room for " + log->path().string() +
                 ": the disk is full, or a limit (ulimit -f) forbids it. Free some space, or give another place."};
  obstacle.kind = Obstacle::kRequest;
  if (threads && request.given_descriptors == GivenDescriptors::kAreForProgram) let_go_of_other_descriptors();
  const std::int64_t release = monotonic_now();
  const Result<void> released = threads ? process->release() : Result<void>(threads.error());
  if (!released) return released.error();
  obstacle.running = pid;
  if (first && first->range) environment.settings.range = *first->range;
  Prepared prepared{Origin::kLaunched,
                    pid,
                    describe_launched(pid, program, request.command),
                    environment.settings,
                    start,
                    std::move(*socket),
                    std::move(*relay),
                    agent.empty() ? nullptr : MemoryGuard::start(),
                    log.begin(),
                    {},
                    std::move(gpu_metrics),
                    std::move(machine_metrics)};
  prepared.threads = std::move(*threads);
  prepared.refusals = std::move(refusals);
  prepared.user = user;
  prepared.agent = agent;
  prepared.shared_by = std::move(shared_by);
  prepared.thread = std::move(thread);
  prepared.released = release;
  prepared.lacks = std::move(environment.lacks);
  prepared.environment = std::move(environment.variables);
  return std::unique_ptr<Run>(new Run(std::move(request), std::move(prepared), std::move(environment.warnings)));
}

Result<std::unique_ptr<Recording::Run>> Recording::Run::attach(AttachRequest request, FrameSink sink) {
  FileDescriptor asking(request.asking);
  if (asking.valid())
    if (const Result<void> asks = attach::await_asking_process(asking.get(), request.pid, kAskingLimit); !asks) return asks.error();
  const Result<std::filesystem::path> agent = agent_for(request.settings, request.agent);
  if (!agent) return agent.error();
  const bool from_outside = agent->empty();
  if (const Result<void> possible = from_outside ? check_from_outside(request) : Result<void>(); !possible) return possible.error();
  if (const Result<void> range = check_range(request.settings); !range) return range.error();
  if (const Result<void> place = check_place(request.settings.range, request.output, request.overwrite); !place) return place.error();
  request.settings.pool_bytes = pool_bytes_within(request.settings.pool_bytes, free_memory());
  auto thread = std::make_unique<HeldThread>();
  Result<ControlSocket> socket = ControlSocket::create();
  if (!socket) return socket.error();
  Result<OutputRelay> relay = OutputRelay::start(TargetOutput::kStore);
  if (!relay) return relay.error();
  relay->close_write_ends();  // the process keeps its output
  std::vector<proto::Diagnostic> refusals;
  std::unique_ptr<GpuMetricsProcess> gpu_metrics = gpu_metrics_for(request.settings.gpu_metrics, refusals);
  std::unique_ptr<machine_metrics::Sampler> machine_metrics = machine_metrics_for(request.settings.machine_metrics, refusals);
  const bool several_files = request.settings.range.trigger != CaptureTrigger::kNone;
  LogToBegin log({several_files, request.keep_last, request.maximum_file_size}, std::move(sink));
  const proto::SessionStart start = session_start(request);
  const Result<attach::Candidate> candidate = attach::read_candidate(request.pid);
  if (!candidate) return candidate.error();
  const uid_t user = candidate->user;
  std::vector<std::string> notes;
  if (!several_files) {
    const OutputName output{request.output, request.overwrite, earlier_files(request.output, request.overwrite, EarlierFiles::Captures::kOne)};
    Result<CreatedFile> created = create_attached_file(output, readers_of(request.settings.cpu, user), request.pid);
    if (!created) return created.error();
    if (!created->note.empty()) notes.push_back(created->note);
    log->open(std::move(created->file), start);
  }
  Result<std::unique_ptr<cpu::Recorder>> threads =
      follow_threads(cpu::Recorder::attach, request.pid, request.settings.cpu, log.start_of_threads(request.delay), log.watched(), refusals);
  if (!threads) return threads.error();
  if (from_outside && !*threads && !gpu_metrics && !machine_metrics) return Error{refusals.front().text()};
  Result<BroughtAgent> brought = from_outside ? BroughtAgent() : bring_agent(request.pid, *agent, std::move(asking), *socket, *log);
  if (!brought) return brought.error();
  Prepared prepared{Origin::kAttached,
                    request.pid,
                    {},
                    request.settings,
                    start,
                    std::move(*socket),
                    std::move(*relay),
                    from_outside ? nullptr : MemoryGuard::start(),
                    log.begin(),
                    std::move(brought->connection),
                    std::move(gpu_metrics),
                    std::move(machine_metrics)};
  prepared.threads = std::move(*threads);
  prepared.refusals = std::move(refusals);
  prepared.user = user;
  prepared.thread = std::move(thread);
  notes.insert(notes.end(), brought->warnings.begin(), brought->warnings.end());
  return std::unique_ptr<Run>(new Run(as_launch(std::move(request)), std::move(prepared), std::move(notes)));
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
Result<std::filesystem::path> Recording::start_capture(CaptureRequest request) { return run_->order({Recording::Run::Order::kStart, std::move(request), {}}); }
Result<std::filesystem::path> Recording::end_capture() { return run_->order({Recording::Run::Order::kEnd, {}, {}}); }
Result<std::filesystem::path> Recording::cancel_capture() { return run_->order({Recording::Run::Order::kCancel, {}, {}}); }
void Recording::shut_down(std::optional<int> signal) { run_->shut_down(signal); }
void Recording::pass_on(int signal, SignalReceiver receiver) { run_->pass_on(signal, receiver); }
bool Recording::passes_on() const { return run_->passes_on(); }
RecordingState Recording::state() const { return run_->state(); }
RecordingStatistics Recording::statistics() const { return run_->statistics(); }
OpenRanges Recording::open_ranges() const { return run_->open_ranges(); }
std::optional<ExitStatus> Recording::exit_status() const { return run_->exit_status(); }
std::filesystem::path Recording::path() const { return run_->path(); }
pid_t Recording::target_pid() const { return run_->target_pid(); }
bool Recording::was_attached_to() const { return run_->was_attached_to(); }
bool Recording::take_stop() { return run_->take_stop(); }
std::vector<std::string> Recording::take_messages() { return run_->take_messages(); }
RecordingOutcome Recording::outcome() const { return run_->outcome(); }

}  // namespace lanescope::session
