// One process of a recording, from its start to its end: what it is, what it writes to shared memory, and how complete that is.
//
// A process that never loads the agent has no memory; it still has a start and an end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "collector/attach/own_numbers.h"
#include "collector/channel/ring.h"
#include "collector/cpu/backtraces.h"
#include "collector/session/recording.h"
#include "file/frame_log.h"
#include "file_descriptor.h"
#include "processes/ended_programs.h"
#include "processes/heirs.h"
#include "processes/memory/target_memory.h"
#include "processes/proc.h"
#include "processes/rest_limit.h"
#include "processes/unfollowed/unfollowed.h"
#include "records/agent_frames.h"
#include "records/code_naming.h"
#include "records/event_encoder.h"
#include "records/marked_modules.h"
#include "records/nvtx_assembler.h"
#include "records/payload_schemas.h"
#include "records/thread_names.h"

namespace lanescope::session {

// Facts about an agent, for ProcessStart.
struct AgentIntroduction {
  std::string version;
  bool forked = false;
  std::int64_t since = 0;  // CLOCK_MONOTONIC ns at which the process was first seen; 0: now
  std::int64_t begin = 0;  // Generation::begin
  ProgramNumber program;   // that it runs; not known: it could not be found out
  bool has_gone = false;   // what /proc says under its number is about another program, or nothing
  proto::JobPlace place;
};

struct Drained {
  std::size_t bytes = 0;
  bool has_more = false;  // there was more than the limit
};

class TargetProcess {
 public:
  using Report = std::function<void(const std::string& sentence)>;  // for messages to the user

  // Writes ProcessStart. `room` must outlive *this.
  TargetProcess(std::uint32_t instance, pid_t pid, ProcessDescription description, const AgentIntroduction& agent, FrameLog& log, CodeNaming& naming,
                Report report, const EncoderRoom& room = kAmpleRoom);

  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  // Starts looking up names of the code that appeared in its backtraces since the last call. Does not wait.
  void begin_naming();

  // Reads what is known only while the process lives: the numbers of its threads and, if call chains are to be recorded, where its code is. Called while the
  // process waits for its welcome: after it, the process may have ended before anything else is read.
  void read_while_it_waits(const channel::Settings& settings);

  // From here on records arrive: the agent has `memory`, and holds the other end of `connection`.
  void connect(std::unique_ptr<TargetMemory> memory, FileDescriptor connection);

  [[nodiscard]] std::uint32_t instance() const noexcept { return instance_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool is_connected() const noexcept { return memory_ != nullptr; }
  [[nodiscard]] const Generation& generation() const noexcept { return generation_; }
  // The program that it runs, from the kernel. Not known if it may have become another one by the time of the question.
  [[nodiscard]] const ProgramNumber& program() const noexcept { return program_; }
  void set_program(const ProgramNumber& program) noexcept { program_ = program; }
  // Notes that its agent has reported for the first time. `begin` as in Generation.
  void note_report(std::int64_t begin) noexcept;
  // When that happened: CLOCK_MONOTONIC ns; 0: it has not.
  [[nodiscard]] std::int64_t reported() const noexcept { return reported_; }
  [[nodiscard]] std::int64_t start() const noexcept { return start_; }  // CLOCK_MONOTONIC ns
  [[nodiscard]] std::string title() const;                              // "[4711] python"
  [[nodiscard]] const ProcessDescription& description() const noexcept { return description_; }
  void set_description(ProcessDescription description) { description_ = std::move(description); }
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }            // -1 if the kernel has none
  [[nodiscard]] int connection() const noexcept { return connection_.get(); }  // -1 once the agent closed it
  // Handles what the agent says over the connection after its greeting, and the connection's end. Does not block.
  void listen(UnfollowedProcesses& unfollowed);
  // From here on, word that its children leave is ignored: nobody listens any more, so that they are necessarily lost, and nothing is lost with them.
  void hear_no_more_of_children() noexcept { lost_children_ = std::numeric_limits<std::uint32_t>::max(); }
  // Notes that its agent can't take part, and that this was reported.
  void note_unfollowed() noexcept { is_unfollowed_ = true; }
  [[nodiscard]] bool is_unfollowed() const noexcept { return is_unfollowed_; }
  // True if it has ended. O(1); asks the kernel.
  [[nodiscard]] bool is_gone() const;

  enum class Recorded { kYes, kNo };
  void set_recording(Recorded recorded);
  void set_clock(const channel::CounterLine& line);  // for its records of NVTX
  // What is recorded ends at this time (CLOCK_MONOTONIC ns), which may be past, however long it takes to write it: ranges are cut there, and later records of
  // threads are left out. Asks the agent to hand over everything. is_answered() is true once it has, or if it has nothing beyond what is in memory.
  void request_stop(std::int64_t time);
  [[nodiscard]] bool is_answered() const;
  // As request_stop(), for what there is now; recording continues. has_handed_over() is true once it has.
  void request_handover();
  [[nodiscard]] bool has_handed_over() const;

  // Captures that the target itself has started and ended (CaptureTrigger), so far.
  struct CaptureCounts {
    std::uint32_t begins = 0;
    std::uint32_t ends = 0;
  };
  [[nodiscard]] CaptureCounts captures() const;
  // Lets a target continue that waits for the answer to the captures that it started.
  void answer_captures();
  // Keeps it from starting further captures.
  void take_trigger_away();
  // Makes it start and end captures by this range from now on. Requires: it does not do so by another one already.
  void await(const CaptureRange& range);

  // Sets what knows the Python functions in which calls were made; null if nothing does.
  // From here on `modules`, which must outlive *this, is told of the process's ranges.
  void tell_of_ranges(MarkedModules& modules) noexcept { modules_ = &modules; }
  void name_python_by(std::shared_ptr<const python::Sampler> python) { python_ = std::move(python); }

  // From here on, what arrives belongs to another file.
  void begin_part();
  // Writes everything that belongs to the file that is about to be closed; the process lives on.
  void end_part();

  // Takes what is in shared memory now. `most`: limit of the bytes of records; may be exceeded a little.
  Drained drain(std::size_t most = channel::RingConsumer::kAll);
  // Drops the records that are in shared memory because the limit is over, counts them, and says so.
  void drop_rest(const RestLimit& limit);
  // Bytes of records of threads that wait there. O(threads).
  [[nodiscard]] std::uint64_t waiting_bytes() const;
  // True if everything was drained that was there at the first call. Requires: it ended. O(threads).
  [[nodiscard]] bool is_read_out();
  // Gives memory of its rings back to the system that was not needed since the last call. To be called about once a second.
  void give_memory_back();
  void flush_chunks();
  void tell_open(OpenRanges& open) const { assembler_.tell_open(instance_, open); }
  // Writes how complete it is.
  void write_counters();
  [[nodiscard]] ThreadNames& thread_names() noexcept { return thread_names_; }

  struct Ending {
    proto::ProcessEndKind kind = proto::PROCESS_END_UNKNOWN;
    ExitStatus status;
    std::int64_t time = 0;  // CLOCK_MONOTONIC ns; 0: when it was seen
  };
  // Writes everything that is left, and ProcessEnd. How it ended is found out here unless it is known. Afterwards only completeness() may be called.
  void finish(std::optional<Ending> known);
  // What children hold that it has forked and that have not reported yet; nothing if there are no such children. Requires: it is finished.
  [[nodiscard]] std::optional<Heirs> take_heirs();
  [[nodiscard]] const Ending& ending() const noexcept { return ending_; }                          // once finished
  [[nodiscard]] std::uint32_t unreturned_buffers() const noexcept { return unreturned_buffers_; }  // CUPTI's lost buffers; once finished

  [[nodiscard]] ProcessCompleteness completeness() const;

 private:
  [[nodiscard]] bool holds_nothing() const;  // the agent has nothing beyond what is in memory
  [[nodiscard]] bool has_left() const;       // the process has ended, or runs another program, as far as that is known
  void drain_metadata();
  void describe_file_accesses();
  void tell_absence(UnfollowedProcesses& unfollowed);  // once, if the agent could not take part
  Drained drain_threads(std::size_t most);
  std::uint64_t drop_records();  // returns their number
  void drain_thread(std::size_t index, std::uint32_t owner, std::size_t most, Drained& drained);
  // our_number(): our number of a thread that has this number for itself; the same number if ours is not known.
  void note_thread(std::uint32_t thread);  // that has written a record
  void pass_ring(std::uint32_t from, std::uint32_t to);
  std::uint32_t our_number(std::uint32_t thread);
  void prepare_backtraces();
  void take_backtrace(const channel::Record& record, std::string_view text);
  void take_diagnostic(const channel::Record& record, std::string_view text);
  [[nodiscard]] Ending own_ending() const;
  void write_end(const Ending& ending, std::int64_t time);
  // Says that CUPTI never started, if so.
  void tell_late_begin();
  // Adds what the agent said about the end: lost buffers, and the place that a fatal signal hit.
  void add_last_words(proto::ProcessEnd& end);
  // Since the process joined; counts by kind since this part started.
  [[nodiscard]] proto::Counters session_counters() const;
  [[nodiscard]] proto::Counters agent_counters() const;
  // Records that the agent had read from CUPTI's buffers and did not put into frames, because the process was killed.
  [[nodiscard]] std::uint64_t lost_in_agent() const;
  [[nodiscard]] FrameTag tag(proto::FrameType type) const { return {type, instance_, proto::SOURCE_SESSION, 0}; }

  std::uint32_t instance_;
  pid_t pid_;
  FrameLog& log_;
  CodeNaming& naming_;
  Report report_;
  ProcessDescription description_;
  ThreadNames thread_names_;
  FileDescriptor pidfd_;
  FileDescriptor connection_;
  Generation generation_;
  ProgramNumber program_;
  bool has_gone_ = false;   // before we could open it
  std::int64_t start_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t reported_ = 0;
  std::int64_t part_end_ = 0;  // when recording ended, for what is not written yet; 0: it continues
  std::unique_ptr<TargetMemory> memory_;
  std::optional<Heirs> heirs_;       // once finished
  std::uint32_t lost_children_ = 0;  // number of those that are known
  std::optional<channel::RingConsumer> metadata_;
  std::optional<AgentFrames> frames_;
  std::vector<std::optional<channel::RingConsumer>> threads_;  // by ring
  std::size_t next_ring_ = 0;                                  // the next to be drained
  std::optional<std::vector<std::uint64_t>> heads_at_end_;     // of rings; set once it ended
  std::int64_t ended_ = 0;                                     // when its end was seen, which may be long before everything is read; 0: it was not
  channel::SegmentPool metadata_pool_;
  channel::SegmentPool thread_pool_;
  std::uint32_t stop_request_ = 0;
  std::uint32_t handover_request_ = 0;
  bool is_unfollowed_ = false;
  bool has_described_files_ = false;

  PayloadSchemas payload_schemas_;
  MarkedModules* modules_ = nullptr;
  EventEncoder encoder_;
  NvtxAssembler assembler_;
  std::shared_ptr<const python::Sampler> python_;
  std::shared_ptr<cpu::Backtraces> backtraces_;  // null before the first one
  std::map<std::string, std::uint64_t> events_by_kind_;
  std::unordered_set<std::uint32_t> known_threads_;  // threads that have written records
  std::vector<std::uint32_t> new_threads_;           // new ones among them, by our numbers
  std::optional<attach::OwnNumbers> own_numbers_;    // set if its threads have other numbers for themselves than for us
  std::uint64_t dropped_rest_ = 0;                   // records that were in memory, and not written in time
  std::uint64_t lost_records_ = 0;                   // known at the end
  proto::Counters session_before_;                   // the counters at the start of this part
  proto::Counters agent_before_;
  Ending ending_;
  std::uint32_t unreturned_buffers_ = 0;
  std::optional<ProcessCompleteness> final_completeness_;
};

}  // namespace lanescope::session
