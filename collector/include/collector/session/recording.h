// A recording: starts a program with the agent inside, or brings the agent into one that runs, collects what it and its children do, and
// appends it to a .trace file.
//
// Everything happens on threads of the recording. The caller looks at it from time to time, or gives a FrameSink and sees every frame as it is written. The
// target is never blocked and never depends on the host: if the host dies, the target runs on.
//
// Threads: the functions of a Recording may be called from any thread. The sink is called from the recording's own thread, one call at a time. It must not
// call back into the recording. A slow sink delays the emptying of the target's buffers.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
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
#include "model/file/open_range.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

enum class Preset { kDefault, kLight, kDeep };
enum class GraphLevel { kNode, kGraph };  // an event for each node of a CUDA graph, or one for each launch of a graph

enum class DomainRule { kAll, kOnlyListed, kAllButListed };

// What starts and ends a capture. A capture is what goes into one file.
enum class CaptureTrigger {
  kNone,         // it starts at once (after the delay) and ends with the recording
  kRequest,      // Recording::start_capture and end_capture
  kProfilerApi,  // the program: cudaProfilerStart and cudaProfilerStop
  kNvtxRange,    // the program: from the start of a range to its end
};
enum class AfterCapture {
  kGoOn,      // the capture does not end with the range
  kStop,      // the program runs on, and nothing more is recorded
  kShutdown,  // the recording ends, and the program with LaunchRequest::end_signal
  kRepeat,    // each further range goes to a file of its own
};
struct CaptureRange {
  CaptureTrigger trigger = CaptureTrigger::kNone;
  std::string name;                   // kNvtxRange: the range's message, less than 1,024 bytes
  std::optional<std::string> domain;  // domain in which the range counts; "" is the default domain; none: every domain
  AfterCapture after = AfterCapture::kShutdown;
  std::optional<std::uint32_t> repeats;              // kRepeat: after this number of ranges comes after_repeats
  AfterCapture after_repeats = AfterCapture::kStop;  // kStop or kShutdown
};

// What marks the operations of PyTorch with NVTX, without a change to the program.
enum class PytorchRanges { kNone, kOperations, kOperationsAndShapes };

// Libraries whose calls are marked by a library of ours, as ranges of an NVTX domain of the library's name.
enum class MarkedLibrary : std::uint8_t { kMpi, kUcx, kOpenMp, kOpenAcc, kOpenGl };

// The CUDA calls whose call chain is taken, if they took at least `threshold`.
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
  bool trace_file_access = false;     // with trace_os_runtime: which files calls use, as ranges of the NVTX domain "File access" that are named by the path
  bool trace_python_lock = false;     // who holds CPython's global lock and who waits for it, as ranges of the NVTX domain "Python GIL"
  std::vector<MarkedLibrary> marked;  // only for programs that are launched; see add_library_traces()
  Preset preset = Preset::kDefault;
  GraphLevel graph_level = GraphLevel::kNode;
  std::chrono::milliseconds flush_interval{500};        // how often complete CUPTI buffers are asked for
  std::uint64_t pool_bytes = std::uint64_t{256} << 20;  // limit of what records of one process may take while they wait to be read; 1 MiB to 64 GiB
  bool trace_all_calls = false;                         // also CUDA calls that say nothing about time (cudaGetDevice and the like)
  bool memory_usage = false;                            // allocations, releases and memory pools
  bool cpu_page_faults = false;                         // of unified memory; cpu_ or gpu_page_faults also record the moves between the memories
  bool gpu_page_faults = false;
  bool cuda_events = false;  // when streams pass CUDA events, and who waits for them
  KernelSettings kernels;
  CudaBacktraces backtraces;
  std::chrono::nanoseconds os_runtime_threshold{1000};            // shorter calls into the C library are left out
  std::optional<std::chrono::nanoseconds> os_runtime_backtraces;  // the call chain is taken for calls into the C library that took at least this long
  DomainRule domain_rule = DomainRule::kAll;
  std::vector<std::string> domains;  // NVTX domains that the rule lists; "" is the default domain. At most 4,096 bytes, including one for each.
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
  kLeave,         // it has ours, which may be a terminal, and nothing is stored
};
enum class WaitFor {
  kAll,      // every process that joined the recording, and whatever it started that still holds its output and may join later
  kPrimary,  // the launched process; what its children still do is left out
};
enum class OnTargetExit {
  kStop,  // the recording ends with the last process it waits for
  kGoOn,  // it ends when its duration is over, for example because the program started a server; requires a duration
};

// A user of this machine as whom a program is started.
struct TargetUser {
  std::string name;
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // all of them
  std::string home;
};

// The user of this name or this number. Fails with one sentence if there is no such user, or if we may not start programs as another user, which requires
// root.
Result<TargetUser> find_target_user(const std::string& name);

// What is asked of one of several captures. Members that are not set are as in the recording.
struct CaptureRequest {
  std::string output;  // as in LaunchRequest
  std::optional<Overwrite> overwrite;
  std::optional<CaptureRange> range;                         // the program starts and ends the capture (kProfilerApi or kNvtxRange), instead of the call
  std::optional<cpu::CpuSettings> cpu;                       // of the first process and what it started; a change takes some tenths of a second
  std::optional<GpuMetricsSettings> gpu_metrics;             // as cpu
  std::optional<machine_metrics::Settings> machine_metrics;  // as cpu
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<OnTargetExit> on_target_exit;  // kGoOn: until it is asked to end
};

// What the user says about a recording, for readers of many recordings.
struct Label {
  std::string key;
  std::string value;
};

// Who receives a signal that is passed on.
enum class SignalReceiver {
  kTarget,
  kGroup,  // the target's whole process group if the target leads one, as a terminal would; else the target
};

enum class GivenDescriptors : std::uint8_t { kStayOpen, kAreForProgram };

struct LaunchRequest {
  std::vector<std::string> command;         // program (looked up in PATH) and arguments; not empty
  std::filesystem::path working_directory;  // empty: ours
  InheritEnvironment inherit_environment = InheritEnvironment::kYes;
  std::vector<EnvironmentChange> environment;    // applied in order
  std::optional<TargetUser> run_as;              // none: as ourselves. The file is ours in any case.
  PytorchRanges pytorch = PytorchRanges::kNone;  // needs settings.trace_nvtx
  std::filesystem::path python_functions;        // JSON with the functions that are marked with NVTX, absolute; empty: none; needs the same
  std::string kernel_counters;                   // how counters of kernels were asked for, which others read beside the recording; empty: not
  TargetOutput target_output = TargetOutput::kShowAndStore;
  CaptureSettings settings;
  // With CaptureTrigger::kRequest: asked for before the program runs; cpu, gpu_metrics and machine_metrics are those of `settings`.
  std::optional<CaptureRequest> first_capture;
  // File name with patterns (output_name.h); empty: report%n. If it names variables of the environment (%q{RANK}) that we lack, each process of the program
  // that was started with these variables goes to a file with their values. Everything else goes to a file without them.
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
  // Set if the program must run in any case. If limits or a full machine leave no room to record it (descriptors, processes, memory, the size or the disk of
  // the file), launch() calls this with the reason, the program runs as without us, and this process ends with its exit code, or 1 if that is 0, or by its
  // signal. Without room for two processes, it becomes the program. If this is empty, launch() fails instead.
  std::function<void(const Error& shortage)> unrecorded;
  // Who receives a signal that came to this process while it stands for an unrecorded program; nobody if it came to the program as well. If this is empty, all
  // but those of the terminal are for the program.
  std::function<std::optional<SignalReceiver>(const siginfo_t& signal, pid_t program)> receiver_of;
  // Called with the process that is to become the program. That process waits with all signals held: signals that came to us and not to it came before it
  // existed. May be empty.
  std::function<void(pid_t process)> process_made;
  // Whether this process starts no other program, and reads or writes nothing by descriptors that it was given: then it closes its own copies right before the
  // program runs (let_go_of_other_descriptors()).
  GivenDescriptors given_descriptors = GivenDescriptors::kStayOpen;
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
  int asking = -1;  // the connection of a process that asks itself to be recorded (collector/attach/from_inside.h); it is taken over
};

// The agent: LANESCOPE_AGENT if set, else where it is installed relative to the running program. Fails if it is not there.
Result<std::filesystem::path> find_agent();

// Exactly the bytes that were appended to the file after its header: one or more whole frames, back to back.
using FrameSink = std::function<void(std::span<const std::byte> frames)>;

enum class RecordingState {
  kDelayed,  // the target runs; recording starts when the delay is over
  kWaiting,  // the target runs; nothing is recorded before the next capture, if one may come
  kRecording,
  kStopping,  // targets hand over what they hold
  kEnded,     // the file is complete
};

enum class EndReason { kUnknown, kTargetExited, kStopped, kDuration, kDiskFull, kFileSize, kRangeEnd };  // as proto::EndReason

enum class StopMode {
  kOrderly,  // targets are asked to hand over what they hold, which takes at most two seconds
  kAtOnce,   // what is in shared memory now is kept, and the file is closed
};

// How a process ended, as its parent would see it.
struct ExitStatus {
  int code = 0;    // of exit(); meaningful if signal is 0
  int signal = 0;  // the signal that ended it; 0 if it exited
  bool operator==(const ExitStatus&) const = default;
};

// How complete the part of one process is. Counts records, not bytes.
struct ProcessCompleteness {
  std::uint32_t instance = 0;
  pid_t pid = 0;
  std::string name;  // last part of the executable's path
  std::uint64_t produced = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t invalid = 0;
  std::uint32_t unreturned_buffers = 0;  // CUPTI's buffers that were lost with the process, with their records
};

struct RecordingStatistics {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;              // of the file
  std::uint64_t dropped = 0;            // records of all processes that were dropped
  std::uint32_t processes = 0;          // number of processes that have joined
  std::vector<std::uint32_t> running;   // of these, by instance number
  std::chrono::nanoseconds elapsed{0};  // since the target was started
  bool has_ceased = false;              // a file ended before its program, for example on a full disk, and no other has started: nothing more is recorded
};

// Which part of a capture its file has.
enum class KeptPart {
  kAll,
  kAsAsked,           // the last part, as long as was asked for (keep_last)
  kShorterThanAsked,  // less of the last part: there was no room for more
};

// A capture's file, complete.
struct RecordedFile {
  std::filesystem::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  EndReason reason = EndReason::kUnknown;
  std::size_t start = 0;                 // which start_capture() it came from, counted from 1; 0: from none
  std::uint64_t unwritten = 0;           // events that were recorded, but for which the file had no room
  std::optional<FileIdentity> identity;  // of this file, as opposed to another recording that has its name by now
  KeptPart kept = KeptPart::kAll;
};

// How the process is followed that was attached to.
enum class AttachedProcess {
  kFollowed,
  kUnfollowed,     // it is only seen from outside
  kBecameAnother,  // it became another program (exec), which is only seen from outside
};

// What is known once a recording has ended.
struct RecordingOutcome {
  EndReason reason = EndReason::kUnknown;
  std::optional<ExitStatus> target;  // none if the launched process still runs, or if the target was attached to
  std::optional<Error> failure;      // the file ends early: one sentence why
  std::vector<ProcessCompleteness> processes;
  std::uint64_t unfollowed_processes = 0;  // processes that should have been followed; messages name them
  AttachedProcess attached_process = AttachedProcess::kFollowed;
  bool is_output_cut = false;               // part of the program's output could not be written to our output, for example on a full disk; messages say so
  std::vector<RecordedFile> files;          // in order; empty if no capture started
  std::size_t lost_files = 0;               // files that could not be made, or that others moved, removed or overwrote before their end; messages say so
  std::vector<std::filesystem::path> gone;  // the lost files that were removed, overwritten or cut: what was recorded into them is in no file
  RecordingStatistics statistics;
};

// A message that a recording gives once while it ends. It holds until the recording has ended.
inline constexpr const char* kNamingMessage = "Looking up the names of the code that ran; to leave them out, stop the recording again.";

class Recording {
 public:
  // Creates the file, starts the program and returns while it runs. Fails with one sentence, and leaves no file behind, if the program, the agent or the file
  // can't be had.
  static Result<std::unique_ptr<Recording>> launch(LaunchRequest request, FrameSink sink = {});

  // Creates the file and brings the agent into a process that was started without us. The process stands still for a few milliseconds (see
  // collector/attach/inject.h). If nothing is traced, no agent enters it: its threads and GPU metrics are recorded from outside. Fails with one sentence, and
  // leaves no file behind; the process then runs as before.
  static Result<std::unique_ptr<Recording>> attach(AttachRequest request, FrameSink sink = {});

  // Stops at once if it still runs. The target runs on.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Asks for the end; returns at once. kAtOnce may follow kOrderly.
  void stop(StopMode mode = StopMode::kOrderly);

  // Starts a capture and returns its file once it records. If the capture has a range of the program's, it waits for that range, and an empty path is
  // returned. Fails with one sentence while another capture is under way or waits for its range, and if no further capture may come.
  Result<std::filesystem::path> start_capture(CaptureRequest request = {});
  // Ends the capture under way and returns its file once it is complete. The target runs on, and another capture may follow. If the capture still waits for
  // its range, it stops waiting; the path is empty then.
  Result<std::filesystem::path> end_capture();
  // As end_capture(), and throws the file away.
  Result<std::filesystem::path> cancel_capture();
  // Ends the recording, and sends its processes this signal if it is set. Returns at once.
  void shut_down(std::optional<int> signal);
  // Sends the target this signal, after those that were passed on before. A signal that may end the target is sent once agents have handed over what they
  // hold, or half a second later. The recording continues. Returns at once.
  void pass_on(int signal, SignalReceiver receiver = SignalReceiver::kTarget);
  // True if there are signals that were not sent yet.
  [[nodiscard]] bool passes_on() const;

  // Waits until it has ended, at most for `limit`. Returns true if it has ended.
  bool wait_for(std::chrono::milliseconds limit);

  [[nodiscard]] RecordingState state() const;
  [[nodiscard]] RecordingStatistics statistics() const;
  // NVTX ranges that programs have open, as of some hundredths of a second ago. All that ended before was given to the sink. At most 500 in all, the
  // rest are counted. Empty if there is no sink. O(ranges).
  [[nodiscard]] OpenRanges open_ranges() const;
  [[nodiscard]] std::optional<ExitStatus> exit_status() const;  // of the launched process, once it ended
  [[nodiscard]] std::filesystem::path path() const;             // of the last file, absolute; empty while there is none
  [[nodiscard]] pid_t target_pid() const;                       // launched or attached to
  [[nodiscard]] bool was_attached_to() const;                   // true if the target was attached to; it then ends by itself
  // True if the launched process was stopped by a signal since the last call.
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
