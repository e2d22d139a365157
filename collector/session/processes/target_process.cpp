#include "processes/target_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "clock.h"
#include "collector/channel/agent_bell.h"
#include "model/file/last_path_part.h"
#include "model/trace/text/grouped_digits.h"

namespace lanescope::session {
namespace {

using channel::AgentPhase;
using channel::AgentStatus;
using channel::Record;
using channel::RecordType;

std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) { return word.load(std::memory_order_relaxed); }
std::uint64_t relaxed(const std::atomic<std::uint64_t>& word) { return word.load(std::memory_order_relaxed); }

proto::Counters since(const proto::Counters& before, proto::Counters now) {
  now.set_produced(now.produced() - std::min(now.produced(), before.produced()));
  now.set_dropped(now.dropped() - std::min(now.dropped(), before.dropped()));
  now.set_late(now.late() - std::min(now.late(), before.late()));
  now.set_invalid(now.invalid() - std::min(now.invalid(), before.invalid()));
  return now;
}

}  // namespace

TargetProcess::TargetProcess(std::uint32_t instance, pid_t pid, ProcessDescription description, const AgentIntroduction& agent, FrameLog& log,
                             CodeNaming& naming, Report report, const EncoderRoom& room)
    : instance_(instance),
      pid_(pid),
      log_(log),
      naming_(naming),
      report_(std::move(report)),
      description_(std::move(description)),
      thread_names_(pid, tag(proto::FRAME_RESOURCES), log, [this] { return !has_left(); }),
      pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      generation_{pid, started(pid), 0},
      encoder_(
          [this](const proto::EventChunk& chunk, std::uint32_t events) {
            const char* kind = chunk.has_nvtx_ranges() ? "nvtx_range" : chunk.has_nvtx_marks() ? "nvtx_mark" : "os_runtime";
            events_by_kind_[kind] += events;
            if (modules_ != nullptr) modules_->note(chunk);
            log_.write({proto::FRAME_EVENTS, instance_, proto::SOURCE_SESSION, events}, chunk);
          },
          room),
      assembler_(encoder_, [this](std::uint64_t schema, std::string_view values) {
        if (!payload_schemas_.knows(schema)) drain_metadata();  // it was registered a moment ago
        return payload_schemas_.json(schema, values);
      }) {
  proto::ProcessStart start;
  start.set_pid(static_cast<std::uint32_t>(pid));
  start.set_parent_pid(static_cast<std::uint32_t>(description_.parent));
  start_ = agent.since != 0 ? agent.since : monotonic_now();
  start.set_time(start_);
  start.set_executable(description_.executable);
  for (const std::string& argument : description_.arguments) start.add_arguments(argument);
  start.set_forked(agent.forked);
  start.set_agent_version(agent.version);
  if (agent.place.ByteSizeLong() > 0) *start.mutable_place() = agent.place;
  log_.write(tag(proto::FRAME_PROCESS_START), start);
  if (agent.begin != 0) note_report(agent.begin);
  program_ = agent.program;
  has_gone_ = agent.has_gone;
  thread_names_.look();
}

void TargetProcess::note_report(std::int64_t begin) noexcept {
  generation_.begin = begin;
  reported_ = monotonic_now();
}

void TargetProcess::read_while_it_waits(const channel::Settings& settings) {
  if (attach::OwnNumbers numbers(pid_); numbers.differ()) {
    numbers.look();
    own_numbers_ = std::move(numbers);
  }
  const bool of_cuda = relaxed(settings.trace_cuda) != 0 && relaxed(settings.backtrace_calls) != 0;
  const bool of_os_runtime = relaxed(settings.trace_os_runtime) != 0 && relaxed(settings.os_runtime_backtrace_ns) != 0;
  if (of_cuda || of_os_runtime) prepare_backtraces();
}

void TargetProcess::connect(std::unique_ptr<TargetMemory> memory, FileDescriptor connection) {
  memory_ = std::move(memory);
  connection_ = std::move(connection);
  const channel::SharedMemory& shared = memory_->shared();
  metadata_pool_ = shared.metadata_pool();
  thread_pool_ = shared.thread_pool();
  metadata_.emplace(shared.header().metadata_ring, metadata_pool_);
  frames_.emplace(instance_, shared, log_);
  if (own_numbers_) frames_->number_by([this](std::uint32_t thread) { return our_number(thread); });
}

bool TargetProcess::is_gone() const {
  if (!pidfd_.valid()) return kill(pid_, 0) != 0 && errno == ESRCH;
  pollfd state{pidfd_.get(), POLLIN, 0};
  return poll(&state, 1, 0) == 1;
}

std::string TargetProcess::title() const { return session::title(pid_, description_.executable); }

bool TargetProcess::has_left() const { return has_gone_ || (program_.is_known() && !program_state(pid_).number.is_same(program_)); }

void TargetProcess::listen(UnfollowedProcesses& unfollowed) {
  tell_absence(unfollowed);
  if (memory_) take_word_of_lost(memory_->shared().header().status.lost_children, lost_children_, title(), unfollowed);
  if (!connection_.valid()) return;
  channel::Regret regret;
  const ssize_t size = recv(connection_.get(), &regret, sizeof(regret), MSG_DONTWAIT);
  if (size == static_cast<ssize_t>(sizeof(regret))) {
    is_unfollowed_ = true;
    unfollowed.add(title(), reason_of(regret.problem));
  }
  if (size == 0) connection_.reset();
}

void TargetProcess::set_clock(const channel::CounterLine& line) {
  if (memory_) channel::write_line(memory_->shared().header().clock, line);
}

void TargetProcess::set_recording(Recorded recorded) {
  if (!memory_) return;
  channel::SharedHeader& header = memory_->shared().header();
  header.settings.recording.store(recorded == Recorded::kYes ? 1 : 0, std::memory_order_release);
  channel::ring_agent(header);
}

void TargetProcess::request_stop(std::int64_t time) {
  part_end_ = std::max(time, start_);
  if (!memory_) return;
  set_recording(Recorded::kNo);
  channel::SharedHeader& header = memory_->shared().header();
  stop_request_ = header.settings.stop_requests.fetch_add(1, std::memory_order_acq_rel) + 1;
  channel::ring_agent(header);
}

bool TargetProcess::is_answered() const {
  return holds_nothing() || memory_->shared().header().status.stop_answers.load(std::memory_order_acquire) == stop_request_;
}

void TargetProcess::request_handover() {
  if (!memory_) return;
  channel::SharedHeader& header = memory_->shared().header();
  handover_request_ = header.settings.handover_requests.fetch_add(1, std::memory_order_acq_rel) + 1;
  channel::ring_agent(header);
}

bool TargetProcess::has_handed_over() const {
  return holds_nothing() || memory_->shared().header().status.handover_answers.load(std::memory_order_acquire) == handover_request_;
}

bool TargetProcess::holds_nothing() const {
  if (!memory_ || !connection_.valid()) return true;
  const auto phase = static_cast<AgentPhase>(memory_->shared().header().status.phase.load(std::memory_order_acquire));
  return phase == AgentPhase::kConnected || phase == AgentPhase::kBeginning || phase == AgentPhase::kDone;
}

TargetProcess::CaptureCounts TargetProcess::captures() const {
  if (!memory_) return {};
  const AgentStatus& status = memory_->shared().header().status;
  return {status.capture_begins.load(std::memory_order_acquire), status.capture_ends.load(std::memory_order_acquire)};
}

void TargetProcess::answer_captures() {
  if (!memory_) return;
  channel::Settings& settings = memory_->shared().header().settings;
  settings.capture_answers.store(captures().begins, std::memory_order_release);
}

void TargetProcess::take_trigger_away() {
  if (!memory_) return;
  memory_->shared().header().settings.capture_trigger.store(static_cast<std::uint32_t>(channel::CaptureTrigger::kHost), std::memory_order_release);
  answer_captures();
}

void TargetProcess::await(const CaptureRange& range) {
  if (memory_) memory_->await(range);
}

void TargetProcess::begin_part() {
  if (!memory_) return;
  drain();
  encoder_.flush();  // belongs to no file
  events_by_kind_.clear();
  session_before_ = session_counters();
  agent_before_ = agent_counters();
}

void TargetProcess::end_part() {
  drain();
  // The time at which open ranges end, too; it distinguishes them from ranges whose ends were lost.
  const std::int64_t end = part_end_ != 0 ? std::exchange(part_end_, 0) : monotonic_now();
  assembler_.finish(end);
  flush_chunks();
  thread_names_.look();
  write_counters();
  write_end({proto::PROCESS_END_DETACHED, {}}, end);
}

Drained TargetProcess::drain(std::size_t most) {
  if (!memory_) return {};
  drain_metadata();
  const std::size_t frames = frames_->drain();
  Drained drained = drain_threads(most);
  drained.bytes += frames;
  if (!new_threads_.empty()) thread_names_.look(std::exchange(new_threads_, {}));
  return drained;
}

void TargetProcess::drain_metadata() {
  proto::Resources resources;
  metadata_->read([&](const Record& record, std::string_view text) {
    if (record.type == RecordType::kDomainCreate) {
      proto::NvtxDomain& domain = *resources.add_nvtx_domains();
      domain.set_id(record.domain);
      domain.set_name(std::string(text));
    } else if (record.type == RecordType::kCategoryName) {
      proto::NvtxCategory& category = *resources.add_nvtx_categories();
      category.set_domain(record.domain);
      category.set_id(record.category);
      category.set_name(std::string(text));
    } else if (record.type == RecordType::kThreadName) {
      thread_names_.add_by_program(our_number(static_cast<std::uint32_t>(record.id)), std::string(text));
    } else if (record.type == RecordType::kStreamName) {
      proto::Stream& stream = *resources.add_streams();
      stream.set_id(static_cast<std::uint32_t>(record.id));
      stream.set_context(record.category);
      stream.set_name(std::string(text));
    } else if (record.type == RecordType::kCudaName) {
      proto::CudaName& name = *resources.add_cuda_names();
      name.set_resource(static_cast<proto::CudaResource>(record.category));
      name.set_id(static_cast<std::uint32_t>(record.id));
      name.set_name(std::string(text));
    } else if (record.type == RecordType::kPayloadField || record.type == RecordType::kPayloadEnumerator) {
      payload_schemas_.add(record, text);
    } else if (record.type == RecordType::kDiagnostic) {
      take_diagnostic(record, text);
    }
  });
  if (resources.ByteSizeLong() > 0) log_.write(tag(proto::FRAME_RESOURCES), resources);
}

void TargetProcess::describe_file_accesses() {
  if (std::exchange(has_described_files_, true)) return;
  proto::Resources resources;
  proto::NvtxDomain& domain = *resources.add_nvtx_domains();
  domain.set_id(kFileAccessDomainId);
  domain.set_name("File access");
  const auto add = [&resources](channel::FileOperation operation, const char* name) {
    proto::NvtxCategory& category = *resources.add_nvtx_categories();
    category.set_domain(kFileAccessDomainId);
    category.set_id(static_cast<std::uint32_t>(operation));
    category.set_name(name);
  };
  add(channel::FileOperation::kOpen, "open");
  add(channel::FileOperation::kRead, "read");
  add(channel::FileOperation::kWrite, "write");
  add(channel::FileOperation::kMap, "map");
  add(channel::FileOperation::kSync, "sync");
  log_.write(tag(proto::FRAME_RESOURCES), resources);
}

// Reports that the agent has found no room for the memory, which it can say only there.
void TargetProcess::tell_absence(UnfollowedProcesses& unfollowed) {
  if (!memory_ || is_unfollowed_) return;
  if (static_cast<AgentPhase>(relaxed(memory_->shared().header().status.phase)) != AgentPhase::kNoRoom) return;
  is_unfollowed_ = true;
  unfollowed.add(title(),
                 "it can't map the " + std::to_string((memory_->shared().size() >> 20) + 1) +
                     " MiB of addresses in which it would report. Allow it more (ulimit -v, or ulimit -l where it locks its memory) and record again.");
}

void TargetProcess::take_diagnostic(const Record& record, std::string_view text) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(record.time);
  diagnostic.set_severity(static_cast<proto::Severity>(record.payload_type));
  diagnostic.set_component(static_cast<proto::Component>(record.category));
  diagnostic.set_state(static_cast<proto::ComponentState>(record.color));
  diagnostic.set_text(std::string(text));
  diagnostic.set_kind(static_cast<proto::DiagnosticKind>(record.id));
  log_.write(tag(proto::FRAME_DIAGNOSTIC), diagnostic);
  if (diagnostic.severity() != proto::SEVERITY_INFO) report_(diagnostic.text());
}

Drained TargetProcess::drain_threads(std::size_t most) {
  const channel::SharedMemory& shared = memory_->shared();
  const std::size_t used = std::min<std::size_t>(relaxed(shared.header().thread_rings_used), channel::kThreadRingCount);
  if (threads_.size() < used) threads_.resize(used);
  Drained drained;
  for (std::size_t i = 0; i < used; ++i) {
    const std::size_t index = (next_ring_ + i) % used;
    const std::uint32_t owner = relaxed(shared.thread_ring(index).owner);
    if (owner == 0) continue;
    if (drained.bytes >= most) {
      next_ring_ = index;
      drained.has_more = true;
      break;
    }
    drain_thread(index, owner, most - drained.bytes, drained);
  }
  return drained;
}

std::uint64_t TargetProcess::waiting_bytes() const {
  if (!memory_) return 0;
  std::uint64_t bytes = 0;
  for (std::size_t index = 0; index < threads_.size(); ++index) {
    if (!threads_[index]) continue;
    const std::uint64_t head = memory_->shared().thread_ring(index).head.load(std::memory_order_acquire);
    bytes += std::min<std::uint64_t>(head - threads_[index]->position(), std::uint64_t{thread_pool_.count()} * channel::kSegmentBytes);  // it may be false
  }
  return bytes;
}

void TargetProcess::drop_rest(const RestLimit& limit) {
  const std::uint64_t dropped = memory_ ? drop_records() : 0;
  if (dropped == 0) return;
  dropped_rest_ += dropped;
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  diagnostic.set_text(title() + ": " + grouped_digits(dropped) + " of its last records are missing: they could not be written " + limit.in_words() + ".");
  log_.write(tag(proto::FRAME_DIAGNOSTIC), diagnostic);
  report_(diagnostic.text());
}

// Ranges whose ends are among these records are unfinished, from where the thread's records end.
std::uint64_t TargetProcess::drop_records() {
  std::uint64_t dropped = 0;
  for (std::size_t index = 0; index < threads_.size(); ++index) {
    if (!threads_[index]) continue;
    bool is_cut = false;
    threads_[index]->read([&](const Record& record, std::string_view) {
      if (part_end_ != 0 && record.time > part_end_) return;  // made after the end
      ++dropped;
      if (!std::exchange(is_cut, true)) assembler_.cut(our_number(record.thread), record.time);
    });
  }
  return dropped;
}

void TargetProcess::drain_thread(std::size_t index, std::uint32_t owner, std::size_t most, Drained& drained) {
  channel::RingHeader& ring = memory_->shared().thread_ring(index);
  std::optional<channel::RingConsumer>& consumer = threads_[index];
  if (!consumer) consumer.emplace(ring, thread_pool_);
  note_thread(owner);
  const bool closed = channel::is_closed(ring);
  const auto take = [this](const Record& record, std::string_view text) {
    if (part_end_ != 0 && record.time > part_end_) return;  // made before the program saw that recording had ended
    if (record.type == RecordType::kFileAccess) describe_file_accesses();
    record.type == RecordType::kCallChain ? take_backtrace(record, text) : assembler_.add(record, text);
  };
  std::size_t bytes = 0;
  std::uint32_t writer = owner;  // a ring is passed from thread to thread
  consumer->read(
      [&](const Record& record, std::string_view text) {
        bytes += record.size;
        if (record.thread != writer) pass_ring(std::exchange(writer, record.thread), record.thread);
        if (!own_numbers_) return take(record, text);
        Record numbered = record;
        numbered.thread = our_number(record.thread);
        take(numbered, text);
      },
      most);
  drained.bytes += bytes;
  drained.has_more = drained.has_more || bytes >= most;
  if (!closed || !consumer->empty()) return;
  encoder_.flush_thread(our_number(writer));
  consumer->release();
  channel::free_thread_ring(ring);
}

// A ring is passed on when its thread has ended.
void TargetProcess::pass_ring(std::uint32_t from, std::uint32_t to) {
  encoder_.flush_thread(our_number(from));
  note_thread(to);
}

bool TargetProcess::is_read_out() {
  if (!memory_) return true;
  const channel::SharedMemory& shared = memory_->shared();
  if (!heads_at_end_) {
    ended_ = monotonic_now();
    heads_at_end_.emplace(std::min<std::size_t>(relaxed(shared.header().thread_rings_used), channel::kThreadRingCount));
    for (std::size_t index = 0; index < heads_at_end_->size(); ++index)
      (*heads_at_end_)[index] = shared.thread_ring(index).head.load(std::memory_order_acquire);
  }
  for (std::size_t index = 0; index < heads_at_end_->size(); ++index) {
    const bool is_known = index < threads_.size() && threads_[index];
    if ((is_known ? threads_[index]->position() : 0) < (*heads_at_end_)[index] && relaxed(shared.thread_ring(index).owner) != 0) return false;
  }
  return true;
}

void TargetProcess::give_memory_back() {
  constexpr std::size_t kAtOnce = (std::size_t{64} << 20) / channel::kSegmentBytes;
  if (!memory_) return;
  thread_pool_.give_pages_back(kAtOnce);
  metadata_pool_.give_pages_back(kAtOnce);
}

void TargetProcess::note_thread(std::uint32_t thread) {
  constexpr std::size_t kMostKnown = 65'536;  // including threads that have ended
  if (known_threads_.size() > kMostKnown) known_threads_.clear();
  if (!known_threads_.insert(thread).second) return;
  new_threads_.push_back(our_number(thread));  // while the thread exists
}

std::uint32_t TargetProcess::our_number(std::uint32_t thread) {
  const std::uint32_t ours = own_numbers_ ? own_numbers_->ours(thread) : thread;
  return ours == 0 ? thread : ours;
}

void TargetProcess::prepare_backtraces() {
  if (backtraces_) return;
  const auto emit = [this](const proto::EventChunk& chunk, std::uint32_t events) {
    events_by_kind_["backtrace"] += events;
    log_.write({proto::FRAME_EVENTS, instance_, proto::SOURCE_BACKTRACES, events}, chunk);
  };
  backtraces_ = std::make_shared<cpu::Backtraces>(pid_, emit, naming_.library(), python_);
}

void TargetProcess::take_backtrace(const Record& record, std::string_view text) {
  prepare_backtraces();
  std::vector<std::uint64_t> addresses(text.size() / sizeof(std::uint64_t));
  std::memcpy(addresses.data(), text.data(), addresses.size() * sizeof(std::uint64_t));
  const auto origin = record.category == proto::SAMPLE_OS_CALL ? proto::SAMPLE_OS_CALL : proto::SAMPLE_CUDA_CALL;
  backtraces_->add(record.thread, origin, record.time, record.id, static_cast<std::uint32_t>(record.payload), addresses);
}

void TargetProcess::begin_naming() {
  if (backtraces_) naming_.add(instance_, backtraces_);
}

void TargetProcess::flush_chunks() {
  encoder_.flush();
  if (backtraces_) backtraces_->flush();
}

proto::Counters TargetProcess::session_counters() const {
  proto::Counters counters;
  std::uint64_t produced = metadata_->produced();
  std::uint64_t dropped = metadata_->dropped() + relaxed(memory_->shared().header().status.ringless_dropped);
  std::uint64_t damaged = metadata_->damaged();
  for (const std::optional<channel::RingConsumer>& ring : threads_) {
    if (!ring) continue;
    produced += ring->produced();
    dropped += ring->dropped();
    damaged += ring->damaged();
  }
  counters.set_produced(produced - std::min(produced, dropped_rest_));
  counters.set_dropped(dropped + dropped_rest_);
  counters.set_late(assembler_.unmatched());
  counters.set_invalid(assembler_.invalid() + damaged);
  for (const auto& [kind, count] : events_by_kind_) {
    proto::KindCount& entry = *counters.add_by_kind();
    entry.set_kind(kind);
    entry.set_produced(count);
  }
  return counters;
}

proto::Counters TargetProcess::agent_counters() const {
  const AgentStatus& status = memory_->shared().header().status;
  proto::Counters counters;
  counters.set_produced(relaxed(status.cupti_produced));
  counters.set_dropped(relaxed(status.cupti_dropped) + lost_records_);
  counters.set_late(relaxed(status.cupti_unfinished));
  counters.set_invalid(relaxed(status.cupti_invalid) + frames_->invalid());
  return counters;
}

std::uint64_t TargetProcess::lost_in_agent() const {
  const AgentStatus& status = memory_->shared().header().status;
  const std::uint64_t accounted = frames_->events() + relaxed(status.cupti_invalid) + relaxed(status.cupti_unfinished) + relaxed(status.frameless_dropped);
  const std::uint64_t produced = relaxed(status.cupti_produced);
  return produced > accounted ? produced - accounted : 0;
}

void TargetProcess::write_counters() {
  if (!memory_) return;
  log_.write(tag(proto::FRAME_COUNTERS), since(session_before_, session_counters()));
  const proto::Counters agent = since(agent_before_, agent_counters());
  if (agent.ByteSizeLong() == 0) return;
  log_.write({proto::FRAME_COUNTERS, instance_, proto::SOURCE_AGENT, 0}, agent);
}

TargetProcess::Ending TargetProcess::own_ending() const {
  if (const std::optional<ExitStatus> status = exit_status_of_stranger(pid_, pidfd_.get()))
    return {status->signal != 0 ? proto::PROCESS_END_SIGNALED : proto::PROCESS_END_EXITED, *status};
  if (!memory_) return {proto::PROCESS_END_LOST, {}};
  const AgentStatus& status = memory_->shared().header().status;
  if (const std::uint32_t signal = relaxed(status.crash_signal); signal != 0) return {proto::PROCESS_END_SIGNALED, {0, static_cast<int>(signal)}};
  const bool handed_over = static_cast<AgentPhase>(relaxed(status.phase)) == AgentPhase::kDone;
  return {handed_over ? proto::PROCESS_END_EXITED : proto::PROCESS_END_LOST, {}};
}

void TargetProcess::write_end(const Ending& ending, std::int64_t time) {
  proto::ProcessEnd end;
  end.set_time(time);
  end.set_kind(ending.kind);
  end.set_exit_code(ending.status.code);
  end.set_signal(ending.status.signal);
  if (memory_) add_last_words(end);
  unreturned_buffers_ = end.unreturned_buffers();
  log_.write(tag(proto::FRAME_PROCESS_END), end);
}

void TargetProcess::add_last_words(proto::ProcessEnd& end) {
  const AgentStatus& status = memory_->shared().header().status;
  const bool lives_on = end.kind() == proto::PROCESS_END_DETACHED;
  const bool handed_over = static_cast<AgentPhase>(relaxed(status.phase)) == AgentPhase::kDone;
  if (!lives_on && !handed_over) end.set_unreturned_buffers(static_cast<std::uint32_t>(relaxed(status.unread_buffers)));
  // It may have survived a signal of another kind.
  const std::uint32_t signal = status.crash_signal.load(std::memory_order_acquire);
  if (end.kind() != proto::PROCESS_END_SIGNALED || signal == 0 || static_cast<int>(signal) != end.signal()) return;
  end.set_crash_thread(our_number(relaxed(status.crash_thread)));
  end.set_crash_address(relaxed(status.crash_address));
}

// CUPTI starts with the driver's lock held.
void TargetProcess::tell_late_begin() {
  if (!memory_ || static_cast<AgentPhase>(relaxed(memory_->shared().header().status.phase)) != AgentPhase::kBeginning) return;
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_CUPTI);
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  diagnostic.set_state(proto::STATE_FAILED);
  diagnostic.set_text("GPU activity of " + title() +
                      " is not recorded: CUPTI had not begun when the recording ended. It waits for the CUDA driver's lock, which a program whose queue of "
                      "launches is always full keeps. Attach for longer or once more, or start the program with lanescope profile.");
  log_.write(tag(proto::FRAME_DIAGNOSTIC), diagnostic);
  report_(diagnostic.text());
}

void TargetProcess::finish(std::optional<Ending> known) {
  const Ending ending = known ? *known : own_ending();
  ending_ = ending;
  const bool runs_on = ending.kind == proto::PROCESS_END_DETACHED;
  if (runs_on) tell_late_begin();
  drain();
  const std::int64_t seen = ended_ != 0 ? ended_ : monotonic_now();
  const std::int64_t told = runs_on ? part_end_ : ending.time;
  const std::int64_t end = told != 0 ? std::clamp(told, std::min(start_, seen), seen) : seen;
  assembler_.finish(part_end_ != 0 ? std::min(part_end_, end) : end);
  flush_chunks();
  begin_naming();
  if (ending.kind != proto::PROCESS_END_REPLACED) thread_names_.look();
  if (memory_) lost_records_ = lost_in_agent();
  write_counters();
  write_end(ending, end);
  final_completeness_ = completeness();
  if (memory_) memory_->keep_header();  // it may run on, or have forked children that share it
  if (memory_ && connection_.valid()) heirs_.emplace(title(), std::move(memory_), std::move(connection_), lost_children_);
  memory_.reset();
}

std::optional<Heirs> TargetProcess::take_heirs() { return std::exchange(heirs_, {}); }

ProcessCompleteness TargetProcess::completeness() const {
  if (final_completeness_) return *final_completeness_;
  ProcessCompleteness result{instance_, pid_, std::string(last_path_part(description_.executable))};
  result.unreturned_buffers = unreturned_buffers_;
  if (!memory_) return result;
  for (const proto::Counters& counters : {session_counters(), agent_counters()}) {
    result.produced += counters.produced();
    result.dropped += counters.dropped();
    result.late += counters.late();
    result.invalid += counters.invalid();
  }
  return result;
}

}  // namespace lanescope::session
