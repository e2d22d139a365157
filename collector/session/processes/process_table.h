// The processes of a recording: who is there, who joins, who ends.
#pragma once

#include <poll.h>

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
#include "processes/control_socket.h"
#include "processes/ended_programs.h"
#include "processes/heirs.h"
#include "processes/job_place.h"
#include "processes/memory_guard.h"
#include "processes/strays.h"
#include "processes/target_process.h"
#include "processes/unfollowed.h"

namespace lanescope::session {

enum class Joining { kWelcome, kRefused };

class ProcessTable {
 public:
  // `shared_by`: variables by which processes have files of their own. `guard`: null where there is none.
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

  // The launched process, which is our child, and when it became its program: CLOCK_MONOTONIC ns.
  void add_launched(pid_t pid, const ProcessDescription& description, std::int64_t since);
  // A process that ran before; its agent reports soon.
  void add_attached(pid_t pid);
  // From here on processes that come of the launched one and that no agent can join are told of: those without this variable, with another recorder's address
  // in it, without the agent's file, or what else brings it.
  void tell_of_strays(std::string_view variable, const std::string& address, const std::filesystem::path& agent, const CaptureSettings& traced) {
    strays_.emplace(launched_pid_, StrayProcesses::Way{variable, agent, agent_variables(traced), address}, environments_);
  }
  // The same of a process that was attached to: those that become other programs.
  void tell_of_strays() { strays_.emplace(attached_pid_); }
  // From here on threads are observed, of the process `first` and of others, in place of what was before; of none where there is no
  // recorder. Requires: lives(first), or no recorder.
  void follow_threads(std::unique_ptr<cpu::Recorder> recorder, pid_t first);
  [[nodiscard]] bool lives(pid_t pid) { return find(pid) != nullptr; }
  // Has names looked up of the code that was seen to run. They are written as they are found, by drain() or write_names(); is_naming() is
  // false once all were found. Does not wait.
  void begin_naming();
  [[nodiscard]] bool is_naming() const;
  void write_names();
  void stop_naming();  // what is left stays without names
  // An agent reports. It gets memory, or a refusal, by an answer that says who we are. Another program under a pid that is known replaces the one
  // before (exec). One that another has followed since, as where we were busy, is neither: it gets nothing, and is told of where it may have gone on without
  // us.
  void greet(FileDescriptor connection, const Greeting& greeting, channel::Welcome answer, Joining joining);
  // One that reports and can't be answered.
  void note_unfollowed(pid_t pid, const std::string& reason);
  // `who`: "[4711] python".
  void note_unfollowed(const std::string& who, const std::string& reason) { unfollowed_.add(who, reason); }
  // How many bytes of memory are free, of which what waits to be written takes a part. To be called again and again: it may become less.
  void share_memory(std::uint64_t free);
  [[nodiscard]] std::uint64_t unfollowed() const noexcept { return unfollowed_.count(); }  // processes, of the recording so far
  // Whether the process that was attached to is one of them. Known once it has ended, or detach_all() was called.
  [[nodiscard]] AttachedProcess attached_process() const noexcept { return attached_process_; }
  // Hears what agents say over their connections, sees which hung up, and who came that has none. O(processes that live).
  void listen();
  // Whether all have ended that may come to be recorded, as far as that is known.
  [[nodiscard]] bool is_empty() const noexcept { return live_.empty() && heirs_.empty(); }
  // What to wait for.
  void add_sources(std::vector<pollfd>& sources) const;

  void set_recording(bool recording);                // also for those who join later
  void set_clock(const channel::CounterLine& line);  // likewise
  void request_stop(std::int64_t time);              // as TargetProcess
  [[nodiscard]] bool all_answered() const;
  void request_handover();  // of what there is now; recording goes on
  [[nodiscard]] bool all_handed_over() const;
  void send_signal(int signal);  // to every live process

  // Of all live processes together, and of those that ended.
  [[nodiscard]] TargetProcess::CaptureCounts captures() const;
  void answer_captures();
  void take_trigger_away();               // also from those who join later
  void await(const CaptureRange& range);  // the target begins and ends captures so; also who joins later
  void begin_part(std::int64_t time);     // CLOCK_MONOTONIC ns: what runs by then is of the file from then on
  void end_part();

  Drained drain(std::size_t most);  // so many bytes of records, or a little more
  void flush_chunks();
  void write_progress();  // completeness, and names of threads

  // Ends those that are gone, once all that they wrote was drained. Returns how many.
  std::size_t reap();
  // Writes what is said once, at the end of a file.
  void write_last_words();
  // Ends the rest, as detached.
  void detach_all();

  [[nodiscard]] const std::vector<std::unique_ptr<TargetProcess>>& live() const noexcept { return live_; }
  [[nodiscard]] std::uint32_t joined() const noexcept { return joined_; }
  [[nodiscard]] const std::optional<ExitStatus>& launched_status() const noexcept { return launched_status_; }
  // Of every process that ended or lives, by instance. Of thousands that ended, those that lost nothing stand together, behind the others.
  [[nodiscard]] std::vector<ProcessCompleteness> completeness() const;
  [[nodiscard]] std::uint64_t dropped() const;  // records of all of them. O(processes that live).

 private:
  TargetProcess& add(pid_t pid, const ProcessDescription& description, const AgentIntroduction& agent);
  // Where a process that joins stands in a job; finds its file, before anything is written of it.
  proto::JobPlace place(std::uint32_t instance, pid_t pid);
  // Who reports, as far as that can be known by the time that it is heard.
  struct Arrival {
    Generation generation;
    std::int64_t shift = 0;  // of its clock (clock_shift())
    std::int64_t since = 0;  // CLOCK_MONOTONIC ns at which its program began
    std::int64_t told = 0;   // ns at which it reported
    ProgramNumber program;
    ProcessDescription description;  // its program's name alone where it has gone meanwhile
    bool is_another = false;         // its process runs another program, for certain
    bool has_gone = false;           // that, or it has ended, or did not wait for us
  };
  static Arrival arrival_of(const Greeting& greeting, int connection);
  // The program that has arrived, among those that live; null where another has followed it.
  TargetProcess* take_in(const Arrival& arrival, const AgentIntroduction& introduction);
  TargetProcess* take_in_ended(EndedProgram& last, const Arrival& arrival, const AgentIntroduction& introduction);
  TargetProcess& replace(TargetProcess& process, const Arrival& arrival, const AgentIntroduction& introduction);
  // Whether a program from which nothing was heard is the one that has arrived.
  [[nodiscard]] bool is_it(const TargetProcess& silent, const Arrival& arrival) const;
  void remove(TargetProcess& process, std::optional<TargetProcess::Ending> known);  // it has ended, or was replaced
  void write_replaced(EndedProgram& program, std::int64_t time);                    // at that time, whatever was said of its end before
  // Tells of a program that has not waited for its answer, unless nothing can have been lost with it.
  void note_unanswered(const std::string& who, const Arrival& arrival);
  TargetProcess* find(pid_t pid);
  TargetProcess* find_instance(std::uint32_t instance);
  // The instance of a process of which threads are seen; a new one where it is not known, or runs another program by now.
  std::uint32_t join_seen(const cpu::SeenProcess& seen);
  [[nodiscard]] std::optional<std::uint32_t> find_seen(const cpu::SeenProcess& seen);  // where it is known already
  std::uint32_t join_seen_between(const cpu::SeenProcess& seen, std::int64_t end);     // one that no agent told of, in front of one that is known
  void write_end_between(std::uint32_t instance, std::int64_t time);
  std::uint32_t join_unknown(const cpu::SeenProcess& seen);
  // What a process was of which nothing was known when its agent was heard, for it had ended by then.
  void write_late_start(std::uint32_t instance, const cpu::SeenProcess& seen);
  void leave_seen(std::uint32_t instance, std::int64_t time);
  void name_seen_thread(std::uint32_t instance, std::uint32_t thread, const std::string& name);
  [[nodiscard]] ProcessCompleteness with_threads(ProcessCompleteness process) const;  // with what was seen of its threads
  // Says, once for each executable, that calls into the C library are missing where no agent can be in the program.
  void note_agent_obstacle(pid_t pid, const std::string& executable);
  // What a user should know, in the recording and at once.
  void warn(proto::Component component, const std::string& sentence);
  void note_stray(const StrayProcesses::Stray& stray);
  void note_killed_by_seccomp(const TargetProcess& process, int signal);
  void finish(TargetProcess& process, std::optional<TargetProcess::Ending> known);
  void note_ended(ProcessCompleteness process);
  void forget_old();  // what is known of processes that ended long ago
  // Whether it ended, and how, where we can know better than the process itself.
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
  std::int64_t part_end_ = 0;  // CLOCK_MONOTONIC ns at which recording ended, of what is not written yet; 0: it goes on
  pid_t launched_pid_ = 0;
  bool launched_was_strict_ = false;  // once it has ended (was_strict())
  pid_t attached_pid_ = 0;
  bool is_doubt_told_ = false;                     // that children of the attached process may be missing
  std::uint64_t free_memory_ = ~std::uint64_t{0};  // bytes, as far as is known
  EncoderRoom room_;                               // of each process: their share of it, as many as live
  AttachedProcess attached_process_ = AttachedProcess::kFollowed;
  std::set<std::string> looked_at_for_agents_;  // executables
  std::optional<ExitStatus> launched_status_;
  std::uint32_t joined_ = 0;
  std::size_t next_to_drain_ = 0;  // of live_
  std::vector<std::unique_ptr<TargetProcess>> live_;
  std::vector<Heirs> heirs_;                                            // of processes that ended
  std::map<std::uint32_t, ProcessCompleteness> ended_;                  // by instance
  ProcessCompleteness long_ended_;                                      // those that have no entry any more, together
  std::uint64_t ended_dropped_ = 0;                                     // records of processes that ended
  std::vector<ObservedProcess> observed_;                               // that live
  std::set<std::uint32_t> seen_instances_;                              // of processes whose threads are seen
  std::unique_ptr<ThreadFollower> threads_;                             // none where they are not
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_by_program_;  // instance, thread; of processes that ended
  EndedPrograms ended_programs_;
  std::map<std::uint32_t, TargetProcess::Ending> endings_;  // of instances that are found after their process was seen to end
  std::map<pid_t, std::uint32_t> seen_between_;             // the last instance of join_seen_between()
  TargetProcess::CaptureCounts captures_of_ended_;
};

}  // namespace lanescope::session
