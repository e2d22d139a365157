// Programs that join a recording: which of the known processes a report comes from, if any, and what it is answered.
#include <algorithm>
#include <cerrno>

#include "clock.h"
#include "model/file/last_path_part.h"
#include "processes/job_place.h"
#include "processes/process_table.h"

namespace lanescope::session {
namespace {

// A program reports the name by which it was called, which may be that of a link to its file.
bool is_called(const ProcessDescription& known, std::string_view name) {
  const auto shortened = [](std::string_view path) { return last_path_part(path).substr(0, sizeof(channel::Hello::program) - 1); };
  return name.empty() || shortened(known.executable) == name || (!known.arguments.empty() && shortened(known.arguments.front()) == name);
}

// When an agent reported, which may be a while ago if the recorder was busy: CLOCK_MONOTONIC ns; now if the agent's time is impossible.
std::int64_t time_of(const channel::Hello& hello, std::int64_t shift) {
  constexpr std::int64_t kLongestWait = 10'000'000'000;  // ns
  const std::int64_t now = monotonic_now();
  const bool is_sane = hello.time > now - kLongestWait - shift && hello.time <= now - shift;
  return is_sane ? hello.time + shift : now;
}

// The start of a Generation, which orders programs independent of how long ago they reported.
std::int64_t generation_of(const channel::Hello& hello, std::int64_t shift) {
  const std::int64_t begin = hello.begin > 0 && hello.begin <= hello.time ? hello.begin : hello.time;
  return begin > 0 && begin <= monotonic_now() - shift ? begin + shift : monotonic_now();
}

// When the program of the reporting agent started, in the same unit. This may be long before its first event, at which it reports.
std::int64_t begin_of(const channel::Hello& hello, std::int64_t shift) {
  const std::int64_t reported = time_of(hello, shift);
  const bool is_sane = hello.begin > 0 && hello.begin <= hello.time && reported == hello.time + shift;
  return is_sane ? hello.begin + shift : reported;
}

}  // namespace

TargetProcess& ProcessTable::add(pid_t pid, const ProcessDescription& description, const AgentIntroduction& agent, const Variables& variables) {
  const auto observed = std::find_if(observed_.begin(), observed_.end(), [&](const auto& each) { return each.pid() == pid; });
  // Programs overwrite their arguments: if the records of a process were read first, its arguments may have changed by now.
  const bool is_known = observed != observed_.end() && (is_path(description.executable) ? same_file(observed->description().executable, description.executable)
                                                                                        : is_called(observed->description(), description.executable));
  AgentIntroduction introduction = agent;
  if (is_known) introduction.since = observed->start();
  const std::uint32_t instance = is_known ? observed->instance() : ++joined_;
  const ProcessDescription observed_description = is_known ? observed->description() : ProcessDescription();
  if (observed != observed_.end()) {
    if (!is_known) observed->write_end({proto::PROCESS_END_REPLACED, {}}, agent.since != 0 ? agent.since : monotonic_now());
    observed_.erase(observed);
  }
  introduction.place = place(instance, variables);
  const ProcessDescription& known = is_known && !is_path(description.executable) ? observed_description : description;
  live_.push_back(std::make_unique<TargetProcess>(instance, pid, known, introduction, log_, naming_, report_, room_));
  share_memory(free_memory_);
  live_.back()->tell_of_ranges(modules_);
  if (threads_) live_.back()->name_python_by(threads_->python());
  return *live_.back();
}

proto::JobPlace ProcessTable::place(std::uint32_t instance, const Variables& variables) {
  Variables share;
  for (const std::string& name : shared_by_)
    if (const auto found = variables.find(name); found != variables.end()) share.insert(*found);
  log_.assign(instance, share);
  return job_place(variables);
}

ProcessTable::Arrival ProcessTable::arrival_of(const Greeting& greeting, int connection) {
  const std::int64_t shift = clock_shift(greeting.pid);
  Arrival arrival{{greeting.pid, started(greeting.pid), generation_of(greeting.hello, shift)}, shift};
  arrival.since = begin_of(greeting.hello, shift);
  arrival.told = greeting.hello.time + shift;
  arrival.program = program_state(greeting.pid).number;
  arrival.description = describe_process(greeting.pid);
  // Asked last: what was read before belongs to this process only if it existed until now.
  const std::uint64_t random = attach::address_of_random(greeting.pid);
  arrival.is_another = random != 0 && greeting.hello.random != 0 && random != greeting.hello.random;
  arrival.has_gone = arrival.is_another || has_hung_up(connection);
  if (!arrival.has_gone) return arrival;
  arrival.program = {};
  arrival.description.executable = greeting.hello.program;
  arrival.description.arguments.clear();
  return arrival;
}

bool ProcessTable::is_it(const TargetProcess& silent, const Arrival& arrival) const {
  if (arrival.has_gone) return is_called(silent.description(), arrival.description.executable);
  if (!silent.program().is_known() || !arrival.program.is_known()) {
    // For the launched process there is no other way to know that it has become another program with the same file.
    return silent.pid() == launched_pid_ ? same_program(silent.description(), arrival.description)
                                         : same_file(silent.description().executable, arrival.description.executable);
  }
  return silent.program().is_same(arrival.program) && same_file(silent.description().executable, arrival.description.executable);
}

TargetProcess& ProcessTable::replace(TargetProcess& process, const Arrival& arrival, const AgentIntroduction& introduction) {
  remove(process, TargetProcess::Ending{proto::PROCESS_END_REPLACED, {}, introduction.since});
  return add(arrival, introduction);
}

TargetProcess& ProcessTable::add(const Arrival& arrival, const AgentIntroduction& introduction) {
  const pid_t pid = arrival.generation.pid;
  return add(pid, arrival.description, introduction, environments_->of(pid).found);
}

TargetProcess* ProcessTable::take_in(const Arrival& arrival, const AgentIntroduction& introduction) {
  const pid_t pid = arrival.generation.pid;
  TargetProcess* process = find(pid);
  if (process != nullptr && is_other_process(process->generation(), arrival.generation)) {
    remove(*process, {});  // it has ended, which we have not noticed yet
    process = nullptr;
  }
  if (process == nullptr) {
    EndedProgram* const last = ended_programs_.last(pid);
    if (last != nullptr && last->is_of_same_process(arrival.generation)) return take_in_ended(*last, arrival, introduction);
    ended_programs_.forget(pid);
    return &add(arrival, introduction);
  }
  if (process->generation().begin == 0) {
    if (!is_it(*process, arrival)) return &replace(*process, arrival, introduction);
    process->note_report(arrival.generation.begin);
    return process;
  }
  const Kinship kin = kinship(process->generation(), arrival.generation);
  if (kin == Kinship::kEarlier) return nullptr;
  return kin == Kinship::kSame && !process->is_connected() ? process : &replace(*process, arrival, introduction);
}

// The process was killed while this program, or the one before it, waited for us.
TargetProcess* ProcessTable::take_in_ended(EndedProgram& last, const Arrival& arrival, const AgentIntroduction& introduction) {
  if (kinship(last.generation, arrival.generation) != Kinship::kLater) return nullptr;
  const TargetProcess::Ending ending{last.kind, last.status, last.end};
  write_replaced(last, introduction.since);
  TargetProcess& process = add(arrival, introduction);
  endings_[process.instance()] = ending;
  return &process;
}

void ProcessTable::write_replaced(EndedProgram& program, std::int64_t time) {
  program.kind = proto::PROCESS_END_REPLACED;
  program.end = std::max(program.start, time);
  proto::ProcessEnd end;
  end.set_time(program.end);
  end.set_kind(program.kind);
  end.set_unreturned_buffers(program.unreturned_buffers);
  log_.write({proto::FRAME_PROCESS_END, program.instance}, end);
}

void ProcessTable::greet(FileDescriptor connection, const Greeting& greeting, channel::Welcome answer, Joining joining) {
  if (joining == Joining::kRefused) {
    send_welcome(connection.get(), answer, -1);
    return;
  }
  const Arrival arrival = arrival_of(greeting, connection.get());
  AgentIntroduction introduction;
  introduction.version = greeting.hello.agent_version;
  introduction.forked = greeting.hello.forked != 0;
  introduction.since = std::max(arrival.since, part_begin_);
  introduction.begin = arrival.generation.begin;
  introduction.program = arrival.program;
  introduction.has_gone = arrival.has_gone;
  TargetProcess* const process = take_in(arrival, introduction);
  if (process == nullptr) return note_unanswered(title(greeting.pid, greeting.hello.program), arrival);
  if (arrival.has_gone) return note_unanswered(process->title(), arrival);
  process->set_program(arrival.program);
  if (strays_) strays_->note_joined(greeting.pid);
  Result<std::unique_ptr<TargetMemory>> memory = TargetMemory::create(process->instance(), settings_);
  if (!memory) {
    process->note_unfollowed();
    unfollowed_.add(process->title(), memory.error().text);
    send_welcome(connection.get(), answer, -1);
    return;
  }
  if (guard_) (*memory)->guard_by(*guard_);  // before the agent has it, so that the memory is guarded at any time
  (*memory)->shared().header().settings.events_of_chunk = static_cast<std::uint32_t>(room_.events_of_chunk);  // the memory is the agent's after Welcome
  (*memory)->shared().header().settings.recording.store(recording_ ? 1 : 0, std::memory_order_release);
  channel::write_line((*memory)->shared().header().clock, clock_);
  (*memory)->shared().header().clock.shift.store(arrival.shift, std::memory_order_relaxed);
  process->read_while_it_waits((*memory)->shared().header().settings);
  answer.accepted = 1;
  answer.process_instance = process->instance();
  answer.memory_bytes = (*memory)->shared().size();
  if (!send_welcome(connection.get(), answer, (*memory)->descriptor())) return note_unanswered(process->title(), arrival);
  (*memory)->close_descriptor();
  process->connect(std::move(*memory), std::move(connection));
}

// Nothing was lost if the program left within the first call that was to be recorded: nothing followed it, and that call did not end.
void ProcessTable::note_unanswered(const std::string& who, const Arrival& arrival) {
  constexpr std::int64_t kShortestWait = 900'000'000;  // ns: an agent without an answer after a second may continue without (agent/channel/handshake.h)
  const pid_t pid = arrival.generation.pid;
  const std::int64_t waited = monotonic_now() - arrival.told;
  TargetProcess* const process = find(pid);
  const bool has_successor = process == nullptr || process->generation().begin != arrival.generation.begin;
  const bool is_another = arrival.is_another || (strays_ && strays_->has_become_another(pid));
  if (is_another && strays_) strays_->look_soon(pid);
  std::optional<TargetProcess::Ending> ending;
  const bool was_cut_off = has_successor || is_another || has_ended(*process, ending);
  if (was_cut_off && waited >= 0 && waited < kShortestWait) return;
  if (!has_successor) process->note_unfollowed();
  unfollowed_.add(who, "its agent waited for an answer, and then no longer, or it ended meanwhile.");
}

}  // namespace lanescope::session
