// A recording under way: its thread, and what that thread owns.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <set>

#include "collector/machine_metrics/sampler.h"
#include "collector/session/recording.h"
#include "file/earlier_files.h"
#include "file/frame_log.h"
#include "file/output_log.h"
#include "held_thread.h"
#include "launch/output_relay.h"
#include "outside/gpu_metrics_process.h"
#include "processes/arrival/reception.h"
#include "processes/process_table.h"
#include "processes/rest_limit.h"
#include "records/counter_lines.h"

namespace lanescope::session {

// Fails with one sentence if the range can't start a capture with these settings.
Result<void> check_range(const CaptureSettings& settings);

class Recording::Run {
 public:
  static Result<std::unique_ptr<Run>> start(LaunchRequest request, FrameSink sink);
  static Result<std::unique_ptr<Run>> attach(AttachRequest request, FrameSink sink);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void stop(StopMode mode);
  bool wait_for(std::chrono::milliseconds limit);
  std::vector<std::string> take_messages();

  // A request of callers to the recording's thread; they wait for the answer.
  struct Order {
    enum Kind { kStart, kEnd, kCancel } kind;
    CaptureRequest request;
    std::promise<Result<std::filesystem::path>> answer;
  };
  Result<std::filesystem::path> order(Order order);
  void shut_down(std::optional<int> signal);
  void pass_on(int signal, SignalReceiver receiver);
  [[nodiscard]] bool passes_on() const;

  [[nodiscard]] RecordingState state() const;
  [[nodiscard]] RecordingStatistics statistics() const;
  [[nodiscard]] OpenRanges open_ranges() const;
  [[nodiscard]] std::optional<ExitStatus> exit_status() const;
  [[nodiscard]] RecordingOutcome outcome() const;
  [[nodiscard]] std::filesystem::path path() const;
  [[nodiscard]] pid_t target_pid() const noexcept { return pid_; }
  [[nodiscard]] bool was_attached_to() const noexcept { return origin_ == Origin::kAttached; }
  [[nodiscard]] bool take_stop();

 private:
  static constexpr std::chrono::milliseconds kShortestPeriod{1};  // between looks while records come
  enum class Origin { kLaunched, kAttached };
  // What has been made by the time that the target runs, or waits for its program.
  struct Prepared {
    Origin origin;
    pid_t pid;
    ProcessDescription description;  // of a launched process
    CaptureSettings settings;
    proto::SessionStart start;  // of the first file
    ControlSocket socket;
    OutputRelay relay;
    std::unique_ptr<MemoryGuard> guard;  // null if no agents will come, or if there is no guard
    std::unique_ptr<FrameLog> log;
    FileDescriptor connection;                                  // to the agent in an attached process
    std::unique_ptr<GpuMetricsProcess> gpu_metrics;             // null if they are not asked for
    std::unique_ptr<machine_metrics::Sampler> machine_metrics;  // null if they are not asked for
    std::unique_ptr<cpu::Recorder> threads;                     // null if they are not observed
    std::vector<proto::Diagnostic> refusals;                    // parts of the recording that can't be had
    std::vector<std::string> lacks;                             // sentences about what its agents can't record
    std::vector<std::string> shared_by;                         // variables by which processes have files of their own
    uid_t user = 0;                                             // of the recorded program
    std::filesystem::path agent;                                // its file, if a launched program must load it
    std::unique_ptr<HeldThread> thread;
    std::int64_t released = 0;             // CLOCK_MONOTONIC ns from which a launched process may run
    std::vector<std::string> environment;  // that it was started with, "NAME=value"
  };
  Run(LaunchRequest request, Prepared prepared, std::vector<std::string> warnings);
  // Why a recording could not start.
  struct Obstacle {
    enum Kind { kRequest, kShortage } kind = kRequest;  // kShortage: the system lacked something
    pid_t running = 0;                                  // the program, if it runs anyway; 0: it does not
  };
  static Result<std::unique_ptr<Run>> try_to_start(LaunchRequest request, FrameSink sink, const std::filesystem::path& program,
                                                   const std::filesystem::path& agent, Obstacle& obstacle);

  void loop();
  void give_up(const std::string& reason);  // ends the recording; the program runs on
  void look();                              // one round: who came, who left, what they wrote
  void wait();
  [[nodiscard]] std::chrono::milliseconds longest_period() const;  // between looks
  void compare_clocks();
  void read_words();  // of agents that can't connect
  void accept_agents();
  void drain_gpu_metrics();
  [[nodiscard]] GpuMetricsProcess::Samples gpu_samples() const;         // which of the samples that come now are kept
  [[nodiscard]] machine_metrics::Sampler::Take take_machine_metrics();  // whether samples go into the log, while it records
  void write_due();
  void write_clocks();  // how the machine's clocks stand
  void publish_due();
  void publish();
  void publish_open_ranges();

  // Moves to the next state of the recording, if it is due.
  void advance();
  void advance_waiting(std::int64_t now);
  void advance_recording(std::int64_t now);
  void advance_stopping(std::int64_t now);
  void follow_target();  // follows captures that the target started
  void note_lost(const Error& reason);
  [[nodiscard]] bool awaits_target() const;  // true if the target starts and ends captures
  [[nodiscard]] bool range_is_over() const;
  [[nodiscard]] bool range_repeats_on() const;
  [[nodiscard]] bool by_request() const;  // captures start when somebody asks for them
  void take_order();
  // If nothing is known of them any more, looks for recorded processes among all of the machine.
  [[nodiscard]] bool targets_have_ended();
  [[nodiscard]] bool goes_on() const;  // as far as it is known without such a look
  [[nodiscard]] bool rest_has_stalled(std::int64_t now);

  Result<std::filesystem::path> start_capture(const CaptureRequest& request);
  Result<void> observe(const CaptureRequest& request);
  Result<std::filesystem::path> begin_capture(const CaptureRequest& request);
  void note_earlier_files(const CaptureRequest& request, const CaptureRange& range);  // that captures may replace which are asked for now
  void say_of_replaced();
  void mark_file(const std::filesystem::path& path, const std::optional<FileIdentity>& identity);  // as one of a recording that runs, if it is the first one
  void discard_if_still_delayed();
  void stop_recording(std::int64_t end);  // what the open file holds ends at this time, CLOCK_MONOTONIC ns
  void begin_stopping(EndReason reason);
  enum class Next { kWait, kWaitForEnd, kShutDown };
  [[nodiscard]] Next next_after(EndReason reason) const;
  void tell_of_earlier_file();        // of the name that was asked for, if there is no new one
  void drain_rest(EndReason reason);  // of records that wait in memory at the end
  void end_part();                    // writes all that the file holds, except names of code
  [[nodiscard]] bool has_named(std::int64_t now);
  void end_capture(EndReason reason);  // its file is complete, or thrown away
  void expect_no_more_captures();
  void expect_no_range();
  // Fails with a sentence about the file, or one of its shares, if it is missing or incomplete.
  Result<std::filesystem::path> close_file(EndReason reason);
  void answer_end(const Result<std::filesystem::path>& file);
  void forget_replaced(const std::filesystem::path& path);
  std::optional<Error> note_closed(const ClosedFile& file, EndReason reason);
  void end(EndReason reason);
  void signal_others_of_job(int signal);  // to processes of the program's process group that have not joined
  [[nodiscard]] bool have_signalled_ended() const;
  [[nodiscard]] std::string running_processes() const;
  void say_whom_it_waits_for(std::int64_t now);  // once the program has ended for a while, and other processes have not
  void note_left_behind(EndReason reason);       // processes that have not joined, and may still do what would have been recorded
  void set_state(RecordingState state);
  void take_output();
  void take_last_output();
  void pass_on_due();
  void wake();  // wakes the recording's thread; callable from any thread
  void report(const std::string& sentence);
  // Tells the user, and the reader of the file.
  void warn(const std::string& sentence, proto::ComponentState state = proto::STATE_UNSPECIFIED, proto::DiagnosticKind kind = proto::DIAGNOSTIC_OTHER);

  // Used only by the recording's thread.
  LaunchRequest request_;
  Reception reception_;
  OutputRelay relay_;
  std::unique_ptr<FrameLog> log_;
  FileDescriptor wake_;
  ProcessTable processes_;
  OutputLog output_;
  std::unique_ptr<GpuMetricsProcess> gpu_metrics_;             // null if not asked for
  std::unique_ptr<machine_metrics::Sampler> machine_metrics_;  // null if not asked for
  std::chrono::milliseconds period_{1};
  proto::SessionStart start_;
  std::int64_t started_;
  std::int64_t recording_since_ = 0;
  CaptureRange range_;                                                              // of the current capture, or of captures that may come
  CaptureRequest awaited_;                                                          // the request for the capture that the range starts
  std::shared_ptr<EarlierFiles> earlier_files_ = std::make_shared<EarlierFiles>();  // that this capture and those that follow it may replace
  RunningRecordersFile mark_of_files_;
  cpu::CpuSettings observed_threads_;  // the current settings
  GpuMetricsSettings observed_gpus_;
  machine_metrics::Settings observed_machine_;
  std::optional<std::chrono::nanoseconds> duration_;  // of the current capture
  OnTargetExit on_target_exit_ = OnTargetExit::kStop;
  std::size_t starts_ = 0;             // number that was ordered
  std::uint32_t captures_ = 0;         // number that started with this range
  std::uint32_t answered_begins_ = 0;  // of captures that the target started
  bool no_more_captures_ = false;
  bool discards_file_ = false;
  std::optional<std::promise<Result<std::filesystem::path>>> awaits_end_;  // answer to whoever ordered it
  std::int64_t stopped_ = 0;                                               // CLOCK_MONOTONIC ns at which what the open file holds ended; 0: it continues
  bool has_ended_part_ = false;                                            // for that file
  std::int64_t stop_deadline_ = 0;
  std::int64_t naming_since_ = 0;       // when the lookup of names started for the file that is about to be closed; 0: not yet
  std::int64_t handover_deadline_ = 0;  // for the first of signals_to_pass_on_; 0: not asked for yet
  std::int64_t last_flush_;
  std::int64_t last_clocks_ = 0;
  std::int64_t last_progress_;
  std::optional<CounterLines> counter_lines_;  // none if the kernel does not keep time by the processor's counter
  std::int64_t last_line_ = 0;
  std::int64_t last_publication_;
  EndReason reason_ = EndReason::kUnknown;
  bool end_signal_sent_ = false;
  std::vector<FileDescriptor> signalled_;  // processes that got the end signal and are not in processes_: to wait for
  std::int64_t launched_ended_ = 0;        // when the end of the launched process was seen; 0: not yet
  bool is_wait_told_ = false;
  std::optional<RestProgress> rest_progress_;  // while all processes have ended, and their records are being written
  bool output_may_come_ = true;

  // Fixed.
  Origin origin_;
  pid_t pid_;
  std::vector<std::string> shared_by_;
  uid_t user_;

  // Shared with callers.
  enum class Wish : int { kNone, kOrderly, kShutDown, kAtOnce };
  std::atomic<Wish> wish_{Wish::kNone};
  std::optional<int> shut_down_signal_;  // written before wish_
  mutable std::mutex mutex_;
  struct PassedOn {
    int signal;
    SignalReceiver receiver;
  };
  std::deque<PassedOn> signals_to_pass_on_;
  std::condition_variable changed_;
  RecordingState state_ = RecordingState::kRecording;
  RecordingStatistics statistics_;
  OpenRanges open_ranges_;  // where somebody watches
  std::optional<ExitStatus> exit_status_;
  std::filesystem::path path_;
  std::deque<Order> orders_;
  RecordingOutcome outcome_;
  std::vector<std::string> messages_;
  std::set<std::string> reported_;

  std::unique_ptr<HeldThread> thread_;
};

}  // namespace lanescope::session
