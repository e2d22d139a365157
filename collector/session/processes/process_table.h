// The processes of a recording: who is there, who joins, who ends.
#pragma once

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clock.h"
#include "outside/observed_process.h"
#include "outside/thread_follower.h"
#include "processes/arrival/control_socket.h"
#include "processes/ended_programs.h"
#include "processes/heirs.h"
#include "processes/job_place.h"
#include "processes/memory/memory_guard.h"
#include "processes/target_process.h"
#include "processes/unfollowed/strays.h"
#include "processes/unfollowed/survivors.h"
#include "processes/unfollowed/unfollowed.h"

namespace lanescope::session {

enum class Joining { kWelcome, kRefused };

class ProcessTable {
 public:
  // `shared_by`: variables by which processes have files of their own. `guard`: may be null.
  ProcessTable(FrameLog& log, CaptureSettings settings, std::vector<std::string> shared_by, std::unique_ptr<MemoryGuard> guard, TargetProcess::Report report)
      : log_(log),
        settings_(settings),
        shared_by_(std::move(shared_by)),
        guard_(std::move(guard)),
        report_(std::move(report)),
        unfollowed_(log, report_),
        naming_(log) {
    environments_->ask_for(job_variables());
    environments_->ask_for(std::vector<std::string_view>(shared_by_.begin(), shared_by_.end()));
  }

  // Of these Python modules, the ranges are awaited. Called before processes are added.
  void await_ranges_of(const std::vector<std::string>& modules) { modules_ = MarkedModules(modules); }
  [[nodiscard]] MarkedModules& marked_modules() noexcept { return modules_; }
  // Adds the launched process, which is our child. `since`: when it became its program, CLOCK_MONOTONIC ns. `environment`: "NAME=value", what the program was
  // started with, which can't be read if it has ended already.
  void add_launched(pid_t pid, const ProcessDescription& description, std::int64_t since, std::span<const std::string> environment = {});
  // Adds a process that ran before; its agent reports soon.
  void add_attached(pid_t pid);
  // From here on, descendants of the launched process that no agent can join are reported: those without this variable, with another recorder's address in
  // it, without the agent's file, or without what else brings the agent.
  void tell_of_strays(std::string_view variable, const std::string& address, const std::filesystem::path& agent, const CaptureSettings& traced) {
    strays_.emplace(launched_pid_, StrayProcesses::Way{variable, agent, agent_variables(traced), address}, environments_);
  }
  // As above, for a process that was attached to: reports processes that become other programs.
  void tell_of_strays() { strays_.emplace(attached_pid_); }
  // From here on the threads of the process `first` and of others are observed by this recorder, which replaces the one before; null: no threads are
  // observed. Requires: lives(first), or no recorder.
  void follow_threads(std::unique_ptr<cpu::Recorder> recorder, pid_t first);
  [[nodiscard]] bool lives(pid_t pid) { return find(pid) != nullptr; }
  // Starts looking up names of the code that was seen to run. They are written as they are found, by drain() or write_names(); is_naming() is false once all
  // were found. Does not wait.
  void begin_naming();
  [[nodiscard]] bool is_naming() const;
  void write_names();
  void stop_naming();  // what is left stays without names
  // Handles an agent that reports. It gets memory, or a refusal, by an answer that says who we are. Another program under a known pid replaces the earlier
  // one (exec). If yet another program has replaced it since, for example because we were busy, it gets nothing, and is reported if it may have continued
  // without us.
  void greet(FileDescriptor connection, const Greeting& greeting, channel::Welcome answer, Joining joining);
  // Notes an agent that reports and can't be answered.
  void note_unfollowed(pid_t pid, const std::string& reason);
  // `who`: "[4711] python".
  void note_unfollowed(const std::string& who, const std::string& reason) { unfollowed_.add(who, reason); }
  // Sets how many bytes of memory are free. Data that waits to be written may take a part of it. To be called repeatedly, because it may become less.
  void share_memory(std::uint64_t free);
  [[nodiscard]] std::uint64_t unfollowed() const noexcept { return unfollowed_.count(); }  // number of processes, in the recording so far
  // Whether the process that was attached to was followed. Known once it has ended, or detach_all() was called.
  [[nodiscard]] AttachedProcess attached_process() const noexcept { return attached_process_; }
  // Reads what agents say over their connections, and notices which closed them, and which processes without one came. O(processes that live).
  void listen();
  // True if all processes have ended that may be recorded, as far as that is known.
  [[nodiscard]] bool is_empty() const noexcept { return live_.empty() && heirs_.empty(); }
  // True if recorded processes run that have closed all they shared with us. `address`: where agents find us; empty if none do. If none is known from before,
  // O(processes of the machine).
  [[nodiscard]] bool has_survivors(const std::string& address);
  // Whether one of them runs, as far as that is known: of others, what they have written is still to be read. O(processes that live).
  [[nodiscard]] bool is_any_running() const {
    return !heirs_.empty() || survivors_.are_known() || std::any_of(live_.begin(), live_.end(), [](const auto& process) { return !process->is_gone(); });
  }
  // What to wait for.
  void add_sources(std::vector<pollfd>& sources) const;

  void begin_recording();                            // also of those who join later; it goes on until request_stop()
  void set_clock(const channel::CounterLine& line);  // likewise
  void request_stop(std::int64_t time);              // as TargetProcess
  [[nodiscard]] bool all_answered() const;
  void request_handover();  // asks for what there is now; recording continues
  [[nodiscard]] bool all_handed_over() const;
  void send_signal(int signal);  // to every live process

  // The sum over all live processes and those that ended.
  [[nodiscard]] TargetProcess::CaptureCounts captures() const;
  void answer_captures();
  void take_trigger_away();               // also from those that join later
  void await(const CaptureRange& range);  // the target starts and ends captures by this range, also in processes that join later
  void begin_part(std::int64_t time);     // CLOCK_MONOTONIC ns; processes that run at this time belong to the file from then on
  void end_part();

  // Takes what is there at the end of a recording, from all processes in turn; what is left at the limit is dropped and counted.
  void drain_rest(RestLimit& limit);
  [[nodiscard]] std::uint64_t waiting_bytes() const;  // of records that threads have written. O(threads)
  Drained drain(std::size_t most);                    // `most`: bytes of records; may be exceeded a little
  void flush_chunks();
  void write_progress();  // completeness, and names of threads

  // Ends processes that are gone, once everything that they wrote was drained. Returns their number.
  std::size_t reap();
  // Writes what is said once, at the end of a file.
  void write_last_words();
  // Ends the remaining processes as detached.
  void detach_all();

  [[nodiscard]] const std::vector<std::unique_ptr<TargetProcess>>& live() const noexcept { return live_; }
  [[nodiscard]] std::uint32_t joined() const noexcept { return joined_; }
  [[nodiscard]] const std::optional<ExitStatus>& launched_status() const noexcept { return launched_status_; }
  // Completeness of every process that lives or ended, by instance. If thousands have ended, those that lost nothing are combined in one entry at the end.
  [[nodiscard]] std::vector<ProcessCompleteness> completeness() const;
  [[nodiscard]] std::uint64_t dropped() const;  // records of all of them. O(processes that live).

 private:
  [[nodiscard]] std::vector<pid_t> find_survivors(const std::string& address) const;
  // `variables`: of its environment.
  TargetProcess& add(pid_t pid, const ProcessDescription& description, const AgentIntroduction& agent, const Variables& variables);
  // The place of a joining process in a job. Also finds its file, before anything is written about it.
  proto::JobPlace place(std::uint32_t instance, const Variables& variables);
  // A reporting program, as far as it is known when its report is heard.
  struct Arrival {
    Generation generation;
    std::int64_t shift = 0;  // of its clock (clock_shift())
    std::int64_t since = 0;  // CLOCK_MONOTONIC ns at which its program started
    std::int64_t told = 0;   // ns at which it reported
    ProgramNumber program;
    ProcessDescription description;  // only its program's name if it is gone meanwhile
    bool is_another = false;         // its process certainly runs another program
    bool has_gone = false;           // its process runs another program, has ended, or did not wait for us
  };
  static Arrival arrival_of(const Greeting& greeting, int connection);
  // The program that has arrived, among the live ones; null if another program has replaced it.
  TargetProcess* take_in(const Arrival& arrival, const AgentIntroduction& introduction);
  TargetProcess* take_in_ended(EndedProgram& last, const Arrival& arrival, const AgentIntroduction& introduction);
  TargetProcess& replace(TargetProcess& process, const Arrival& arrival, const AgentIntroduction& introduction);
  TargetProcess& add(const Arrival& arrival, const AgentIntroduction& introduction);
  // True if a program that has not reported is the one that has arrived.
  [[nodiscard]] bool is_it(const TargetProcess& silent, const Arrival& arrival) const;
  void remove(TargetProcess& process, std::optional<TargetProcess::Ending> known);  // it has ended, or was replaced
  void write_replaced(EndedProgram& program, std::int64_t time);                    // at that time, whatever was said about its end before
  // Reports a program that has not waited for its answer, unless nothing can have been lost with it.
  void note_unanswered(const std::string& who, const Arrival& arrival);
  TargetProcess* find(pid_t pid);
  TargetProcess* find_instance(std::uint32_t instance);
  // The instance of a process whose threads are seen; a new one if it is not known, or runs another program by now.
  std::uint32_t join_seen(const cpu::SeenProcess& seen);
  [[nodiscard]] std::optional<std::uint32_t> find_seen(const cpu::SeenProcess& seen);  // if it is known already
  std::uint32_t join_seen_between(const cpu::SeenProcess& seen, std::int64_t end);     // a program that no agent reported, and that ran before a known one
  void write_end_between(std::uint32_t instance, std::int64_t time);
  std::uint32_t join_unknown(const cpu::SeenProcess& seen);
  // Writes the description of a process about which nothing was known when its agent was heard, because it had ended by then.
  void write_late_start(std::uint32_t instance, const cpu::SeenProcess& seen);
  void leave_seen(std::uint32_t instance, std::int64_t time);
  void name_seen_thread(std::uint32_t instance, std::uint32_t thread, const std::string& name);
  [[nodiscard]] ProcessCompleteness with_threads(ProcessCompleteness process) const;  // adds the counters of its threads
  // Says, once for each executable, that calls into the C library are missing if no agent can be in the program.
  void note_agent_obstacle(pid_t pid, const std::string& executable);
  // Tells the user, in the recording and at once.
  void warn(proto::Component component, const std::string& sentence, proto::ComponentState state = proto::STATE_FAILED);
  void note_stray(const StrayProcesses::Stray& stray);
  void note_killed_by_seccomp(const TargetProcess& process, int signal);
  [[nodiscard]] bool was_ended_by_filter(const TargetProcess& process, int signal) const;
  void finish(TargetProcess& process, std::optional<TargetProcess::Ending> known);
  void note_ended(ProcessCompleteness process);
  void forget_old();  // forgets processes that ended long ago
  // True if the process has ended. Sets `ending` if we know better than the process itself how it ended.
  bool has_ended(const TargetProcess& process, std::optional<TargetProcess::Ending>& ending);

  FrameLog& log_;
  CaptureSettings settings_;
  std::vector<std::string> shared_by_;
  std::unique_ptr<MemoryGuard> guard_;  // outlives all memory below
  TargetProcess::Report report_;
  UnfollowedProcesses unfollowed_;
  std::shared_ptr<StartEnvironments> environments_ = std::make_shared<StartEnvironments>();
  std::optional<StrayProcesses> strays_;
  CodeNaming naming_;
  bool recording_ = false;
  channel::CounterLine clock_;
  std::int64_t part_begin_ = 0;
  std::int64_t part_end_ = 0;  // CLOCK_MONOTONIC ns at which recording ended, for what is not written yet; 0: it continues
  pid_t launched_pid_ = 0;
  bool launched_was_strict_ = false;    // was_strict(), once it has ended
  bool launched_was_filtered_ = false;  // was_filtered(), likewise
  pid_t attached_pid_ = 0;
  bool is_doubt_told_ = false;                     // it was reported that children of the attached process may be missing
  std::uint64_t free_memory_ = ~std::uint64_t{0};  // bytes, as far as is known
  EncoderRoom room_;                               // of each process: its share of free_memory_, divided by the live processes
  AttachedProcess attached_process_ = AttachedProcess::kFollowed;
  std::set<std::string> looked_at_for_agents_;  // executables
  std::optional<ExitStatus> launched_status_;
  std::uint32_t joined_ = 0;
  std::size_t next_to_drain_ = 0;  // of live_
  MarkedModules modules_;
  std::vector<std::unique_ptr<TargetProcess>> live_;
  std::vector<Heirs> heirs_;  // of processes that ended
  Survivors survivors_;
  std::map<std::uint32_t, ProcessCompleteness> ended_;                  // by instance
  ProcessCompleteness long_ended_;                                      // the sum of processes that have no entry any more
  std::uint64_t ended_dropped_ = 0;                                     // records of processes that ended
  std::vector<ObservedProcess> observed_;                               // those that live
  std::set<std::uint32_t> seen_instances_;                              // of processes whose threads are seen
  std::unique_ptr<ThreadFollower> threads_;                             // null if threads are not observed
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_by_program_;  // instance, thread; of processes that ended
  EndedPrograms ended_programs_;
  std::map<std::uint32_t, TargetProcess::Ending> endings_;  // of instances that are found after their process was seen to end
  std::map<pid_t, std::uint32_t> seen_between_;             // the last instance of join_seen_between()
  TargetProcess::CaptureCounts captures_of_ended_;
};

}  // namespace lanescope::session
