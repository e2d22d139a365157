// A recording: starts a program with the agent inside, or brings the agent into one that runs, collects what it and its children do, and
// appends it to a .trace file.
//
// Everything happens on threads of the recording; the caller looks at it from time to time, or gives a FrameSink and sees every frame as
// it is written. The target is never blocked and never depends on the host: when the host dies, the target runs on.
//
// Threads: the functions of a Recording may be called from any thread. The sink is called from the recording's own thread, one call at a
// time; it must not call back into the recording, and what it takes long for delays the emptying of the target's buffers.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/cpu/cpu_settings.h"
#include "collector/machine_metrics/sampler.h"
#include "collector/session/gpu_metrics.h"
#include "collector/session/kernel_settings.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

enum class Preset { kDefault, kLight, kDeep };
enum class GraphLevel { kNode, kGraph };  // an event for each node of a CUDA graph, or one for each launch of a graph

enum class DomainRule { kAll, kOnlyListed, kAllButListed };

// Who says when a capture, which is what goes into one file, begins and ends.
enum class CaptureTrigger {
  kNone,         // it begins at once (after the delay) and ends with the recording
  kRequest,      // Recording::start_capture and end_capture
  kProfilerApi,  // the program: cudaProfilerStart and cudaProfilerStop
  kNvtxRange,    // the program: from the begin of a range to its end
};
enum class AfterCapture {
  kGoOn,      // the end of the range does not end it
  kStop,      // the program runs on, and nothing more is recorded
  kShutdown,  // the recording ends, and the program with LaunchRequest::end_signal
  kRepeat,    // each further range becomes a file of its own
};
struct CaptureRange {
  CaptureTrigger trigger = CaptureTrigger::kNone;
  std::string name;                   // kNvtxRange: the range's message, less than 1,024 bytes
  std::optional<std::string> domain;  // in which it counts; "" is the default domain; none: in every domain
  AfterCapture after = AfterCapture::kShutdown;
  std::optional<std::uint32_t> repeats;              // kRepeat: after so many comes after_repeats
  AfterCapture after_repeats = AfterCapture::kStop;  // kStop or kShutdown
};

// What marks the operations of PyTorch with NVTX, without a change of the program.
enum class PytorchRanges { kNone, kOperations, kOperationsAndShapes };

// Libraries whose calls one of ours marks in their place, as ranges of an NVTX domain of their name.
enum class MarkedLibrary : std::uint8_t { kMpi, kUcx, kOpenMp, kOpenAcc, kOpenGl };

// CUDA calls of which the call chain is taken, where they took at least so long.
struct CudaBacktraces {
  bool kernels = false;
  bool memory = false;  // copies, sets, allocations
  bool synchronizations = false;
  bool others = false;
  std::chrono::nanoseconds threshold{1000};
};

// What to record.
struct CaptureSettings {
  bool trace_cuda = true;
  bool trace_nvtx = true;
  bool trace_os_runtime = false;
  bool trace_file_access = false;     // with it: which files calls use, as ranges of the NVTX domain "File access" that are called by the path
  bool trace_python_lock = false;     // who holds CPython's global lock and who waits for it, as ranges of the NVTX domain "Python GIL"
  std::vector<MarkedLibrary> marked;  // of programs that are launched; see add_library_traces()
  Preset preset = Preset::kDefault;
  GraphLevel graph_level = GraphLevel::kNode;
  std::chrono::milliseconds flush_interval{500};        // how often complete CUPTI buffers are asked for
  std::uint64_t pool_bytes = std::uint64_t{256} << 20;  // that records of one process may take while they wait to be read; 1 MiB to 64 GiB
  bool trace_all_calls = false;                         // also CUDA calls that say nothing about time (cudaGetDevice and the like)
  bool memory_usage = false;                            // allocations, releases and memory pools
  bool cpu_page_faults = false;                         // of unified memory; with either, what moves between the memories
  bool gpu_page_faults = false;
  bool cuda_events = false;  // when streams come past CUDA events, and who waits for them
  KernelSettings kernels;
  CudaBacktraces backtraces;
  std::chrono::nanoseconds os_runtime_threshold{1000};            // shorter calls into the C library are left out
  std::optional<std::chrono::nanoseconds> os_runtime_backtraces;  // of calls into the C library that took so long, the call chain is taken
  DomainRule domain_rule = DomainRule::kAll;
  std::vector<std::string> domains;  // NVTX domains that the rule lists; "" is the default domain. 4,096 bytes at most, with one for each.
  CaptureRange range;
  cpu::CpuSettings cpu;  // what is seen of threads from outside
  GpuMetricsSettings gpu_metrics;
  machine_metrics::Settings machine_metrics;
};

// One variable of the target's environment: set to a value, or removed.
struct EnvironmentChange {
  std::string name;
  std::optional<std::string> value;
};

enum class InheritEnvironment { kYes, kNo };
enum class TargetOutput {
  kShowAndStore,  // the target's stdout and stderr pass through to ours, and are stored
  kStore,         // stored only
  kLeave,         // it has ours, a terminal where that is one, and nothing is stored
};
enum class WaitFor {
  kAll,      // every process that joined the recording, and whatever it started that still holds its output and may join later
  kPrimary,  // the launched process; what its children still do is left out
};
enum class OnTargetExit {
  kStop,  // the recording ends with the last process it waits for
  kGoOn,  // it ends when its duration is over, for example because the program started a server; requires a duration
};

// A user of this machine, as whom a program is started.
struct TargetUser {
  std::string name;
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // all of them
  std::string home;
};

// The user of this name, or with this number. Fails with one sentence when there is none, and when we may not start programs as another
// user: that takes root.
Result<TargetUser> find_target_user(const std::string& name);

// What one of several captures is to be like; what is left out is as the recording has it.
struct CaptureRequest {
  std::string output;  // as in LaunchRequest
  std::optional<Overwrite> overwrite;
  std::optional<CaptureRange> range;                         // the program begins it, and ends it (kProfilerApi or kNvtxRange): not the call
  std::optional<cpu::CpuSettings> cpu;                       // of the first process and what it started; takes some tenths of a second to change
  std::optional<GpuMetricsSettings> gpu_metrics;             // likewise
  std::optional<machine_metrics::Settings> machine_metrics;  // likewise
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<OnTargetExit> on_target_exit;  // kGoOn: until it is asked to end
};

// What the user says of a recording, for whoever reads many of them.
struct Label {
  std::string key;
  std::string value;
};

struct LaunchRequest {
  std::vector<std::string> command;         // program (looked up in PATH) and arguments; not empty
  std::filesystem::path working_directory;  // empty: ours
  InheritEnvironment inherit_environment = InheritEnvironment::kYes;
  std::vector<EnvironmentChange> environment;    // applied in order
  std::optional<TargetUser> run_as;              // none: as ourselves. The file is ours in any case.
  PytorchRanges pytorch = PytorchRanges::kNone;  // needs settings.trace_nvtx
  std::filesystem::path python_functions;        // JSON with the functions that are marked with NVTX, absolute; empty: none; needs the same
  TargetOutput target_output = TargetOutput::kShowAndStore;
  CaptureSettings settings;
  std::optional<CaptureRequest> first_capture;  // with CaptureTrigger::kRequest: it is asked for before the program runs; cpu,
                                                // gpu_metrics and machine_metrics are those of `settings`
  // File name with patterns (output_name.h); empty: report%n. Where it names variables of the environment (%q{RANK}) that we lack, each of the
  // program's processes that were started with them goes to a file with their values; all else to one without.
  std::string output;
  std::vector<Label> labels;
  Overwrite overwrite = Overwrite::kRefuse;
  std::chrono::nanoseconds delay{0};                 // what happens before it is not recorded
  std::optional<std::chrono::nanoseconds> duration;  // after the delay; then the recording ends and the target gets end_signal
  std::optional<int> end_signal;                     // sent to every recorded process once the duration is over; none: they run on
  WaitFor wait_for = WaitFor::kAll;
  OnTargetExit on_target_exit = OnTargetExit::kStop;
  std::optional<std::uint64_t> maximum_file_size;     // bytes; the capture ends before its file is larger
  std::optional<std::chrono::nanoseconds> keep_last;  // only this much before the end is kept (in memory, until the end)
  std::filesystem::path agent;                        // empty: find_agent()
  // Set where the program is to run in any case: when limits or a full machine leave no room to record it (descriptors, processes, memory,
  // the size or the disk of the file), launch() tells why, and this process becomes the program, as it would have been without us. Empty:
  // launch() fails.
  std::function<void(const Error& shortage)> unrecorded;
  // Called with the process that is to become the program, which waits with all signals held: what came to us and not to it came before it was there. May
  // be empty.
  std::function<void(pid_t process)> process_made;
};

// Records a process that runs already, from now on. It runs on when the recording ends.
struct AttachRequest {
  pid_t pid = 0;
  CaptureSettings settings;
  std::string output;  // as in LaunchRequest; variables may be those of the process
  std::vector<Label> labels;
  Overwrite overwrite = Overwrite::kRefuse;
  std::chrono::nanoseconds delay{0};
  std::optional<std::chrono::nanoseconds> duration;   // after the delay
  std::optional<std::uint64_t> maximum_file_size;     // as in LaunchRequest
  std::optional<std::chrono::nanoseconds> keep_last;  // as in LaunchRequest
  std::filesystem::path agent;                        // empty: find_agent()
  int asking = -1;                                    // the connection of a process that asks itself (collector/attach/from_inside.h); it is taken over
};

// The agent: LANESCOPE_AGENT where set, else where it is installed, as seen from the running program. Fails when it is not there.
Result<std::filesystem::path> find_agent();

// Exactly the bytes that were appended to the file behind its header: one or more whole frames, back to back.
using FrameSink = std::function<void(std::span<const std::byte> frames)>;

// Who gets a signal that is passed on.
enum class SignalReceiver {
  kTarget,
  kGroup,  // all of the target's process group where it leads one, as from a terminal; else the target
};

enum class RecordingState {
  kDelayed,  // the target runs; recording starts when the delay is over
  kWaiting,  // the target runs; nothing is recorded before the next capture, if one may come
  kRecording,
  kStopping,  // targets hand over what they hold
  kEnded,     // the file is complete
};

enum class EndReason { kUnknown, kTargetExited, kStopped, kDuration, kDiskFull, kFileSize, kRangeEnd };  // of proto::EndReason

enum class StopMode {
  kOrderly,  // targets are asked to hand over what they hold, which takes two seconds at most
  kAtOnce,   // what is in shared memory now is kept, and the file is closed
};

// How a process ended, as its parent would see it.
struct ExitStatus {
  int code = 0;    // of exit(); meaningful when signal is 0
  int signal = 0;  // the signal that ended it; 0 when it exited
  bool operator==(const ExitStatus&) const = default;
};

// How complete one process's part is. Records, not bytes.
struct ProcessCompleteness {
  std::uint32_t instance = 0;
  pid_t pid = 0;
  std::string name;  // last part of the executable's path
  std::uint64_t produced = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t invalid = 0;
  std::uint32_t unreturned_buffers = 0;  // CUPTI's that were lost with the process, with their records
};

struct RecordingStatistics {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;              // of the file
  std::uint64_t dropped = 0;            // records of all processes
  std::uint32_t processes = 0;          // that joined so far
  std::vector<std::uint32_t> running;   // of these, by instance number
  std::chrono::nanoseconds elapsed{0};  // since the target was started
  bool has_ceased = false;              // a file has ended before its program, as on a full disk, and no other has begun: nothing more is recorded
};

// A capture's file, complete.
struct RecordedFile {
  std::filesystem::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  EndReason reason = EndReason::kUnknown;
  std::size_t start = 0;                 // which start_capture() it came from, counted from 1; 0: from none
  std::uint64_t unwritten = 0;           // events that were recorded, but for which the file had no room
  std::optional<FileIdentity> identity;  // of this file, and not of another recording that has its name by now
};

// What became of the process that was attached to.
enum class AttachedProcess {
  kFollowed,
  kUnfollowed,     // there is only what is seen of it from outside
  kBecameAnother,  // another program (exec), of which that is so
};

// What there is to say once a recording has ended.
struct RecordingOutcome {
  EndReason reason = EndReason::kUnknown;
  std::optional<ExitStatus> target;  // none when the launched process still runs, and when it was attached to
  std::optional<Error> failure;      // the file ends early: one sentence why
  std::vector<ProcessCompleteness> processes;
  std::uint64_t unfollowed_processes = 0;  // that should have been recorded; messages name them
  AttachedProcess attached_process = AttachedProcess::kFollowed;
  bool is_output_cut = false;       // of what the program printed something could not be written where our output goes, as on a full disk; messages say it
  std::vector<RecordedFile> files;  // in order; none where no capture began
  std::size_t lost_files = 0;       // that could not be made, or that others moved, removed or overwrote before their end; messages say it
  std::vector<std::filesystem::path> gone;  // of these, the ones that were removed, overwritten or cut: what was recorded into them is in no file
  RecordingStatistics statistics;
};

// What a recording says once while it ends: true until it has ended.
inline constexpr const char* kNamingMessage = "Looking up the names of the code that ran; to leave them out, stop the recording again.";

class Recording {
 public:
  // Creates the file, starts the program and returns while it runs. Fails with one sentence, and without a file left behind, when the
  // program, the agent or the file can't be had.
  static Result<std::unique_ptr<Recording>> launch(LaunchRequest request, FrameSink sink = {});

  // Creates the file and brings the agent into a process that was started without us, which stands still for a few milliseconds (see
  // collector/attach/inject.h). Where nothing is traced, no agent enters it: its threads and GPU metrics are recorded from outside. Fails
  // with one sentence, and without a file left behind; the process then runs as before.
  static Result<std::unique_ptr<Recording>> attach(AttachRequest request, FrameSink sink = {});

  // Stops at once when it still runs. The target runs on.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Asks for the end; returns at once. kAtOnce may follow kOrderly.
  void stop(StopMode mode = StopMode::kOrderly);

  // Begins a capture; returns its file once it records. With a range of the program's, it waits for that, and returns an empty path. Fails
  // with one sentence while another is under way or waits for its range, and when none may come.
  Result<std::filesystem::path> start_capture(CaptureRequest request = {});
  // Ends the capture under way and returns its file once it is complete; the target runs on, and another capture may follow. Where it
  // waits for its range still, it does so no more; the path is empty.
  Result<std::filesystem::path> end_capture();
  // The same, and throws the file away.
  Result<std::filesystem::path> cancel_capture();
  // Ends the recording, and its processes with this signal where there is one. Returns at once.
  void shut_down(std::optional<int> signal);
  // Sends the target this signal, after those that were passed on before. Where it may end the target: once agents have handed over what
  // they hold, or half a second later. The recording goes on. Returns at once.
  void pass_on(int signal, SignalReceiver receiver = SignalReceiver::kTarget);
  // Whether there are signals that were not sent yet.
  [[nodiscard]] bool passes_on() const;

  // Waits until it has ended, at most so long. Returns whether it has.
  bool wait_for(std::chrono::milliseconds limit);

  [[nodiscard]] RecordingState state() const;
  [[nodiscard]] RecordingStatistics statistics() const;
  [[nodiscard]] std::optional<ExitStatus> exit_status() const;  // of the launched process, once it ended
  [[nodiscard]] std::filesystem::path path() const;             // of the last file, absolute; empty while there is none
  [[nodiscard]] pid_t target_pid() const;                       // launched or attached to
  [[nodiscard]] bool was_attached_to() const;                   // the target, which then ends when it likes
  // Whether the launched process was stopped by a signal since the last call.
  [[nodiscard]] bool take_stop();

  // Sentences for the user since the last call: what can't be recorded and why.
  std::vector<std::string> take_messages();

  // Requires: state() == kEnded.
  [[nodiscard]] RecordingOutcome outcome() const;

 private:
  class Run;
  explicit Recording(std::unique_ptr<Run> run);
  std::unique_ptr<Run> run_;
};

}  // namespace lanescope::session
