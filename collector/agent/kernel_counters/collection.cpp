#include "agent/kernel_counters/collection.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/cupti/words.h"
#include "agent/kernel_counters/context_counters.h"
#include "agent/kernel_counters/gate.h"
#include "agent/kernel_counters/kernel_name.h"
#include "agent/kernel_counters/launch.h"
#include "agent/kernel_counters/launch_table.h"
#include "agent/kernel_counters/plan.h"
#include "agent/kernel_counters/record_file.h"
#include "agent/kernel_counters/set_choice.h"
#include "agent/nvtx/included_range.h"

namespace lanescope::agent::kernel_counters {
namespace {

using channel::CounterOutcome;
using channel::CounterRecord;
using cupti::tell;

constexpr std::int64_t kPlanPatience = 20 * kSecond;  // for the host's plan, which takes the driver's time to start
constexpr std::int64_t kLongMeasurement = 10 * kSecond;
constexpr std::size_t kMostContexts = 16;
constexpr char kCaptured[] = "A CUDA graph was being captured, at one launch of it at least.";
constexpr char kTooManyContexts[] = "The program has more CUDA contexts than counters are read in: 16, those that launched first.";
constexpr std::int64_t kEndOfRange = 500 * kMillisecond;  // for launches of other threads, to come back

enum class State : int { kOff, kWaiting, kOn, kOver };

// What this thread's call of the driver is to the gate.
enum class Passage : std::uint8_t { kNone, kEntered, kAlone };
constinit thread_local Passage passage = Passage::kNone;
constinit thread_local std::uint8_t depth = 0;  // of launches within each other

struct Measurement {
  ContextCounters* counters = nullptr;
  const Set* set = nullptr;
  std::uint32_t group = 0;
  std::int64_t begin = 0;    // ns, of the monotonic clock; of what the counting takes
  std::int64_t started = 0;  // likewise; no earlier did the kernel run
};

// The range of NVTX whose kernels are counted together.
struct CountedRange {
  ContextCounters* counters = nullptr;  // null: none is counted
  const Set* set = nullptr;
  std::uint32_t correlation = 0;         // of its first launch
  std::int64_t begin = 0;                // ns, of the monotonic clock
  std::uint64_t spent = 0;               // ns
  bool has_told = false;                 // of one that was left out
  std::atomic<std::uint32_t> number{0};  // nvtx::times_included() of the last that was looked at
  std::atomic<std::uint64_t> launches{0};
  std::atomic<bool> is_open{false};  // it is counted
  std::atomic<bool> is_lost{false};  // and can't be, and ends with a later launch
};

// All of it is of the thread that has closed the gate, but for what is atomic and the file.
struct Collection {
  explicit Collection(const Functions& resolved) noexcept : functions(resolved), code(resolved.get_cubin_crc) {}

  const Functions functions;
  Plan plan;
  Gate gate;
  LaunchTable table;
  LaunchEntry further;  // stands for all that the table has no room for
  SetChoice sets;
  RecordFile file;
  kernels::CodeObjects code;  // where instructions are counted
  ContextCounters contexts[kMostContexts];
  Measurement now;
  CountedRange range;
  std::uint64_t fitting = 0;  // launches whose names fit, or ranges
  std::uint64_t spent = 0;    // ns
  char running[256] = {};     // the kernel that is measured
};
alignas(Collection) constinit unsigned char storage[sizeof(Collection)] = {};
Collection& all() noexcept { return *reinterpret_cast<Collection*>(storage); }

constinit Lock table_lock;
constinit std::atomic<State> state{State::kOff};
constinit std::atomic<int> captures{0};
constinit std::atomic<bool> is_profiler_started{false};
constexpr std::uint64_t kProfilerKey = ~std::uint64_t{0};  // of the range that it is: no range of NVTX has it
constinit std::atomic<std::int64_t> measuring_since{0};
constinit std::atomic<bool> told_of_long{false};
constinit CallKind kinds[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit bool keeps_code = false;
constinit bool counts_ranges = false;

// The latest launches that were measured, so that their records are known.
constexpr std::size_t kRemembered = 4096;
constinit std::atomic<std::uint32_t> measured[kRemembered] = {};

template <typename T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}
std::span<const std::byte> bytes_of(std::string_view text) noexcept { return std::as_bytes(std::span(text.data(), text.size())); }

const char* folder() noexcept {
  const char* value = getenv(channel::kKernelCountersVariable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// The plan may not be there yet, and code is shown once alone: the host leaves word by files without content.
bool has_word(const char* name) noexcept {
  const char* const place = folder();
  char path[4096];
  const int length = place == nullptr ? 0 : std::snprintf(path, sizeof(path), "%s/%s", place, name);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return false;
  const int file = system::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  system::close(file);
  return true;
}

void give_up(const char* sentence) noexcept {
  if (state.exchange(State::kOver) == State::kOver) return;
  report(Component::kCupti, ComponentState::kRecording, Severity::kWarning, sentence);
}

void give_up(const Refusal& refusal) noexcept {
  if (state.exchange(State::kOver) != State::kOver) tell_refusal(refusal, all().functions);
}

void put(std::initializer_list<std::span<const std::byte>> record) noexcept {
  if (!all().file.write(record))
    give_up(
        "Counters of kernels are not read from here on: there is no room for them, on the disk of the recording's folder (TMPDIR) or by the limit "
        "of the program's files (ulimit -f).");
}

void write_record(CounterOutcome outcome, const Launch& launch, const Measurement& measurement, std::uint64_t spent, std::string_view reason,
                  std::span<const std::byte> image) noexcept {
  CounterRecord record{};
  record.outcome = outcome;
  record.correlation = launch.correlation;
  record.set = measurement.set != nullptr ? measurement.set->number : 0;
  record.group = measurement.group;
  record.begin = event_time(measurement.started);
  record.spent = spent;
  record.name_bytes = launch.name.size();
  record.reason_bytes = reason.size();
  record.image_bytes = image.size();
  record.launches = image.empty() ? 0 : all().range.launches.load();
  record.head = {channel::kCounterRecordMark, 0, sizeof(record) + launch.name.size() + reason.size() + image.size()};
  put({bytes_of(record), bytes_of(launch.name), bytes_of(reason), image});
}

channel::KernelRecord record_of(std::string_view name, std::uint32_t correlation) noexcept {
  channel::KernelRecord record{};
  record.head = {channel::kKernelRecordMark, 0, sizeof(record) + name.size()};
  record.correlation = correlation;
  record.name_bytes = name.size();
  return record;
}

void place_in(CUcontext context, channel::KernelRecord& record) noexcept {
  const Functions& f = all().functions;
  static_cast<void>(f.get_device_id(context, &record.device));
  if (f.get_context_id != nullptr) static_cast<void>(f.get_context_id(context, &record.context));
}

// CUPTI's record of the kernel comes with its next buffer, and not at all where the program is ended before. Until then this one stands for it,
// without the block's shape: with it, and without registers, its occupancy would seem to be known.
void write_kernel(const Launch& launch) noexcept {
  channel::KernelRecord record = record_of(launch.name, launch.correlation);
  place_in(launch.context, record);
  const Functions& f = all().functions;
  // The two default streams are no streams to CUPTI, which is told of one by a flag.
  const bool is_per_thread = launch.stream == CU_STREAM_PER_THREAD;
  const CUstream stream = is_per_thread || launch.stream == CU_STREAM_LEGACY ? nullptr : launch.stream;
  if (f.get_stream_id != nullptr) static_cast<void>(f.get_stream_id(launch.context, stream, is_per_thread ? 1 : 0, &record.stream));
  std::copy_n(launch.shape, 3, record.grid);
  record.dynamic_shared_memory = launch.shape[6];
  put({bytes_of(record), bytes_of(launch.name)});
}

void write_begin(const Launch& launch) noexcept {
  channel::BeginRecord record{};
  record.head = {channel::kBeginRecordMark, 0, sizeof(record) + launch.name.size()};
  record.correlation = launch.correlation;
  record.name_bytes = launch.name.size();
  put({bytes_of(record), bytes_of(launch.name)});
}

void leave_out(LaunchEntry& entry, const Launch& launch, std::string_view reason) noexcept {
  if (entry.was_left_out) return;
  entry.was_left_out = true;
  write_record(CounterOutcome::kLeftOut, launch, {}, 0, reason, {});
}

// Of which something was counted, and that was not written yet.
void write_code() noexcept {
  const auto next = [] { return all().code.take_wanted(std::numeric_limits<std::size_t>::max()); };
  for (kernels::CodeObjects::Part image = next(); !image.bytes.empty(); image = next()) {
    const channel::CodeRecord record{{channel::kCodeRecordMark, 0, sizeof(record) + image.bytes.size()}, image.crc, image.bytes.size()};
    if (record.head.bytes <= channel::kMostCounterBytes) put({bytes_of(record), image.bytes});
  }
}

bool read_plan() noexcept {
  const char* const place = folder();
  const Plan::Found found = place == nullptr ? Plan::Found::kNone : all().plan.read(place, monotonic_now() + kPlanPatience);
  if (found == Plan::Found::kSenseless) {
    give_up("Counters of kernels are not read: the plan of what to count makes no sense to the program's agent.");
    return false;
  }
  if (found == Plan::Found::kNone) {
    state.store(State::kOver);  // the host tells why
    return false;
  }
  if (!all().file.open(place, process_instance())) {
    give_up("Counters of kernels are not read: the program can't write to the recording's folder.");
    return false;
  }
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  if (const CUptiResult result = all().functions.initialize(&initialize); result != CUPTI_SUCCESS) {
    give_up({"cuptiProfilerInitialize", result});
    return false;
  }
  state.store(State::kOn);
  return true;
}

ContextCounters* counters_of(CUcontext context) noexcept {
  ContextCounters* free = nullptr;
  for (ContextCounters& each : all().contexts) {
    if (each.context() == context) return &each;
    if (free == nullptr && each.context() == nullptr) free = &each;
  }
  if (free == nullptr) return nullptr;
  if (const auto refusal = free->open(all().functions, all().plan, context, all().code)) {
    give_up(refusal);
    return nullptr;
  }
  if (free->sets().empty()) {
    if (!free->is_planned())
      tell(ComponentState::kVersionMismatch, Severity::kWarning, "Counters of kernels are not read on a GPU of chip %s: it was not planned for.", free->chip());
    state.store(State::kOver);
    return nullptr;
  }
  return free;
}

bool is_captured(const Launch& launch) noexcept {
  if (captures.load(std::memory_order_relaxed) > 0) return true;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return all().functions.is_capturing != nullptr && all().functions.is_capturing(launch.stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Whether launches of this kernel and shape were asked for, by its name or as a kind. Requires: the table is locked.
bool is_fitting(LaunchEntry& entry, const Launch& launch) noexcept {
  const Plan& plan = all().plan;
  if (entry.seen == 0) {
    const channel::ChosenKind* const chosen = plan.chosen(entry.key);
    entry.fits = plan.choice().kinds != 0 ? chosen != nullptr : plan.fits(launch.name);
    entry.second = chosen != nullptr ? chosen->second : channel::kUsualSecond;
  }
  return entry.fits;
}

// One that is launched while a stream is captured, into the graph or beside it, is not measured: nothing may wait then. It does not count as a launch of its
// kind.
void name_captured(const Launch& launch) noexcept {
  const ScopedLock lock(table_lock);
  LaunchEntry* const entry = launch.name.empty() ? nullptr : all().table.find(launch);
  if (entry == nullptr || entry->was_left_out || !is_fitting(*entry, launch) || !nvtx::is_included()) return;
  // Where some launches of each kind are measured, others do as well.
  const bool is_measured = entry->groups > 0 || entry->group != 0;
  if (all().plan.choice().is_sampled == 0 || !is_measured) leave_out(*entry, launch, kCaptured);
}

// Whether this launch is one of those that were asked for. Its entry stays where it is.
LaunchEntry* choose(const Launch& launch) noexcept {
  Collection& c = all();
  const ScopedLock lock(table_lock);
  if (launch.name.empty()) return nullptr;
  LaunchEntry* entry = c.table.find(launch);
  if (entry == nullptr) {
    Launch further = launch;
    further.name = "Further kernels";
    leave_out(c.further, further, "The program launches more kernels and shapes than are told from each other: 8192.");
    return nullptr;
  }
  const bool fits = is_fitting(*entry, launch);
  const std::uint64_t number = entry->seen++;
  if (!fits || !nvtx::is_included()) return nullptr;
  if (is_collective(launch.name)) {
    leave_out(*entry, launch, "It is a kernel of collectives, which waits for other GPUs.");
    return nullptr;
  }
  // A run of the program counts in one pass, in which nothing is run again.
  if (launch.kind == LaunchKind::kCooperative && c.plan.replay() != channel::CounterReplay::kApplication) {
    leave_out(*entry, launch, "It is launched cooperatively: its blocks wait for each other, or for other GPUs.");
    return nullptr;
  }
  const channel::LaunchChoice& choice = c.plan.choice();
  if (choice.is_sampled != 0) return number >= entry->due && !c.sets.is_to_wait(*entry) ? entry : nullptr;
  const std::uint64_t place = c.fitting++;
  if (place < choice.skip) return nullptr;
  // Launches that take sets in turn count as one.
  if (choice.count != 0 && entry->group == 0 && c.table.groups() >= choice.count) return nullptr;
  return c.sets.is_to_wait(*entry) ? nullptr : entry;
}

// Behind the last set of a group the next group is due, where only some launches are measured: there are two.
void advance(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept {
  const ScopedLock lock(table_lock);
  if (!complete(entry, counters, set)) return;
  entry.due = entry.groups++ == 0 && entry.second != 0 ? std::max(entry.second, entry.seen) : UINT64_MAX;
}

// The group to which the entry's measurements belong now.
std::uint32_t group_of(LaunchEntry& entry) noexcept {
  const ScopedLock lock(table_lock);
  if (entry.group == 0) entry.group = all().table.new_group();
  return entry.group;
}

const Set* choose_set(const ContextCounters& counters, const LaunchEntry& entry) noexcept {
  const ScopedLock lock(table_lock);
  return all().sets.choose(counters, entry);
}

// Requires: the gate is closed. Whether the launch is measured now.
bool begin_measurement(const Launch& launch, LaunchEntry& entry) noexcept {
  Collection& c = all();
  ContextCounters* counters = counters_of(launch.context);
  if (counters == nullptr) {
    const ScopedLock lock(table_lock);
    if (state.load() == State::kOn) leave_out(entry, launch, kTooManyContexts);
    return false;
  }
  const Set* const set = choose_set(*counters, entry);
  if (set == nullptr) {
    if (c.sets.is_spent())
      give_up(
          "Counters of kernels are not read from here on: CUPTI can't change what it counts any more often in a process. The mode kernel "
          "counts all in the same launch.");
    return false;
  }
  const std::uint32_t group = group_of(entry);
  std::snprintf(c.running, sizeof(c.running), "%.*s", static_cast<int>(function_name(launch.name).size()), function_name(launch.name).data());
  measuring_since.store(monotonic_now());
  c.now = {counters, set, group, monotonic_now(), 0};
  if (const auto refusal = counters->begin(*set)) {
    give_up(refusal);
    measuring_since.store(0);
    return false;
  }
  write_begin(launch);
  c.now.started = monotonic_now();
  advance(entry, *counters, *set);
  measured[launch.correlation % kRemembered].store(launch.correlation);
  return true;
}

void end_measurement(const Launch& launch) noexcept {
  Collection& c = all();
  const auto refusal = c.now.counters->end();
  const auto spent = static_cast<std::uint64_t>(monotonic_now() - c.now.begin);
  measuring_since.store(0);
  if (refusal) {
    write_record(CounterOutcome::kLeftOut, launch, c.now, spent, "CUPTI could not end its counting.", {});
    return give_up(refusal);
  }
  const std::span<const std::byte> image = c.now.counters->image();
  if (image.empty())
    write_record(CounterOutcome::kLeftOut, launch, c.now, spent,
                 c.plan.kind() == channel::CounterKind::kInstructions ? "CUPTI could not count the instructions of its code."
                                                                      : "Something else ran on the GPU while it was counted.",
                 {});
  else {
    write_record(CounterOutcome::kMeasured, launch, c.now, spent, {}, image);
    if (c.plan.kind() == channel::CounterKind::kHardware) write_kernel(launch);
  }
  write_code();
  c.spent += spent;
  const std::uint64_t budget = c.plan.choice().budget;
  if (budget == 0 || c.spent < budget || state.exchange(State::kOver) == State::kOver) return;
  tell(ComponentState::kRecording, Severity::kInformation,
       "Counters of kernels were read for %.1f s, as long as they may be: later launches are not measured. More: --kernels=counters:budget=60s",
       static_cast<double>(c.spent) / 1e9);
}

// ---- Ranges ------------------------------------------------------------------------------------------------------------------------

// What was launched into the context has ended. In no capture, which that would break.
bool await_end_of_kernels(CUcontext context) noexcept {
  const Functions& f = all().functions;
  if (captures.load() > 0 || f.push_context(context) != CUDA_SUCCESS) return false;
  const bool has_ended = f.synchronize() == CUDA_SUCCESS;
  CUcontext ours = nullptr;
  f.pop_context(&ours);
  return has_ended;
}

std::string_view name_of_range() noexcept {
  static char text[1100];
  const std::string_view name = nvtx::included_name();
  if (name == channel::kProfilerRange) return "cudaProfilerStart to cudaProfilerStop";
  const int length = std::snprintf(text, sizeof(text), "NVTX range %.*s", static_cast<int>(name.size()), name.data());
  return {text, std::min(static_cast<std::size_t>(length), sizeof(text) - 1)};
}

void leave_out_range(const char* reason) noexcept {
  Launch range;
  range.name = name_of_range();
  if (!std::exchange(all().range.has_told, true)) write_record(CounterOutcome::kLeftOut, range, {}, 0, reason, {});
}

// Requires: the gate is closed, and no range is counted.
void begin_range(const Launch& launch) noexcept {
  Collection& c = all();
  const channel::LaunchChoice& choice = c.plan.choice();
  const std::uint64_t place = c.fitting++;
  if (place < choice.skip || (choice.count != 0 && place - choice.skip >= choice.count)) return;
  ContextCounters* const counters = counters_of(launch.context);
  if (counters == nullptr && state.load() == State::kOn) leave_out_range(kTooManyContexts);
  if (counters == nullptr) return;
  const std::int64_t now = monotonic_now();
  if (const auto refusal = counters->begin(counters->sets().front())) return give_up(refusal);
  c.range.counters = counters;
  c.range.set = &counters->sets().front();
  c.range.correlation = launch.correlation;
  c.range.begin = monotonic_now();
  c.range.spent = static_cast<std::uint64_t>(c.range.begin - now);
  c.range.launches.store(0);
  c.range.is_lost.store(false);
  c.range.is_open.store(true);
}

// Requires: the gate is closed, and a range is counted.
void end_range() noexcept {
  Collection& c = all();
  const std::int64_t now = monotonic_now();
  c.range.is_open.store(false);
  ContextCounters& counters = *std::exchange(c.range.counters, nullptr);
  if (const auto refusal = counters.end()) return give_up(refusal);
  if (c.range.is_lost.load()) return leave_out_range("At the end of one, launches of other threads did not come back, or a CUDA graph was being captured.");
  if (counters.image().empty()) return leave_out_range("CUPTI did not count one of them whole.");
  Launch range;
  range.name = name_of_range();
  range.correlation = c.range.correlation;
  const Measurement measurement{&counters, c.range.set, c.table.new_group(), now, c.range.begin};
  write_record(CounterOutcome::kMeasured, range, measurement, c.range.spent + static_cast<std::uint64_t>(monotonic_now() - now), {}, counters.image());
  channel::KernelRecord record = record_of(range.name, range.correlation);
  place_in(counters.context(), record);
  put({bytes_of(record), bytes_of(range.name)});
}

void guarded(void (*work)() noexcept) noexcept {
  if (cupti::call_cupti([&] { work(); }) == Guarded::kFaulted)
    give_up("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on.");
}

// Behind the last end of a range that was named, on the program's thread.
void on_end_of_range() noexcept {
  Collection& c = all();
  if (state.load() == State::kOff || !c.range.is_open.load()) return;
  const Quiet quiet;
  // Others may launch what this context's kernels wait for.
  const bool have_ended = await_end_of_kernels(c.range.counters->context());
  bool is_alone = false;
  for (const std::int64_t give_up = monotonic_now() + kEndOfRange; have_ended && !is_alone && monotonic_now() < give_up;) is_alone = c.gate.close();
  if (!is_alone) return c.range.is_lost.store(true);
  if (c.range.is_open.load()) guarded(end_range);
  c.gate.open();
}

// Before a launch that is not within another.
void follow_range(const Launch& launch) noexcept {
  Collection& c = all();
  if (c.range.is_open.load() && c.range.is_lost.load() && captures.load() == 0 && c.gate.close()) {
    if (c.range.is_open.load()) guarded(end_range);
    c.gate.open();
  }
  const std::uint32_t number = nvtx::times_included();
  if (nvtx::is_included() && c.range.number.load() != number && !c.range.is_open.load() && !is_captured(launch) && await_end_of_kernels(launch.context) &&
      c.gate.close()) {
    if (c.range.number.exchange(number) != number) {
      if (cupti::call_cupti([&] { begin_range(launch); }) == Guarded::kFaulted)
        give_up("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on.");
    }
    c.gate.open();
  }
  if (c.range.is_open.load()) ++c.range.launches;
}

// ---- Launches ----------------------------------------------------------------------------------------------------------------------

void enter(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (depth++ != 0) return;
  passage = Passage::kNone;
  Collection& c = all();
  const State before = state.load(std::memory_order_acquire);
  if (before == State::kOff || before == State::kOver) return;
  const Launch launch = read_launch(id, call);
  if (before == State::kWaiting && c.gate.close()) {
    if (state.load() == State::kWaiting) read_plan();
    c.gate.open();
    if (state.load() != State::kOn) return;
  }
  if (state.load() == State::kWaiting) {
    // Another thread reads the plan, and may measure its launch next.
  } else if (counts_ranges) {
    follow_range(launch);
  } else if (launch.kind == LaunchKind::kGraph) {
    Launch graph = launch;
    graph.name = "CUDA graph";
    const ScopedLock lock(table_lock);
    if (LaunchEntry* entry = nvtx::is_included() ? c.table.find(graph) : nullptr) leave_out(*entry, graph, "Kernels of graphs are not measured one by one.");
  } else if (is_captured(launch)) {
    name_captured(launch);
  } else {
    LaunchEntry* entry = choose(launch);
    const bool is_alone = entry != nullptr && c.gate.close();
    if (entry != nullptr && !is_alone && c.plan.choice().is_sampled == 0) {
      const ScopedLock lock(table_lock);
      leave_out(*entry, launch, "Other threads were launching, at one launch of it at least.");
    }
    if (is_alone) {
      passage = Passage::kAlone;
      bool begun = false;
      if (cupti::call_cupti([&] { begun = begin_measurement(launch, *entry); }) == Guarded::kFaulted)
        give_up("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on.");
      if (begun) return;
      c.gate.open();
    }
  }
  passage = Passage::kEntered;
  if (c.gate.enter()) return;
  give_up("Counters of kernels are not read from here on: a launch that was measured kept others waiting, and may wait for them.");
}

void leave(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (depth == 0 || --depth != 0) return;
  Collection& c = all();
  switch (passage) {
    case Passage::kNone:
      return;
    case Passage::kEntered:
      c.gate.leave();
      break;
    case Passage::kAlone: {
      const Launch launch = read_launch(id, call);
      if (cupti::call_cupti([&] { end_measurement(launch); }) == Guarded::kFaulted) {
        measuring_since.store(0);
        write_record(CounterOutcome::kLeftOut, launch, c.now, 0, "CUPTI faulted when it was to end its counting.", {});
        give_up("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on.");
      }
      c.gate.open();
      break;
    }
  }
  passage = Passage::kNone;
}

}  // namespace

bool is_wanted() noexcept { return folder() != nullptr; }

bool excludes_activity() noexcept { return keeps_code || counts_ranges; }

void begin(const void* function_of_cupti, CUpti_SubscriberHandle subscriber) noexcept {
  if (state.load() != State::kOff) return;
  Functions functions;
  const bool has_all = resolve(function_of_cupti, functions);
  Collection& c = *::new (storage) Collection(functions);
  for (std::atomic<std::uint32_t>& each : measured) each.store(0, std::memory_order_relaxed);
  if (!has_all) {
    state.store(State::kWaiting);
    return give_up("Counters of kernels are not read: this CUPTI is older than CUDA 12.6. Name another one in LANESCOPE_CUPTI_LIBRARY.");
  }
  const char* name = nullptr;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    if (c.functions.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    kinds[id] = call_kind(name);
    if (kinds[id] != CallKind::kOther) c.functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  counts_ranges = has_word(channel::kCounterRangesFile);
  if (counts_ranges && !has_ranges(functions)) {
    state.store(State::kWaiting);
    return give_up("Counters of ranges are not read: this CUPTI or this driver can't count them.");
  }
  if (counts_ranges) nvtx::at_end_of_included(on_end_of_range);
  keeps_code = functions.get_cubin_crc != nullptr && has_word(channel::kCounterCodeFile);
  if (keeps_code) c.functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  state.store(State::kWaiting);
}

void follow_module(std::span<const std::byte> image) noexcept {
  if (!keeps_code || state.load(std::memory_order_relaxed) == State::kOff) return;
  const Quiet quiet;
  if (cupti::call_cupti([&] { all().code.add(image); }) == Guarded::kFaulted)
    give_up("Instructions of kernels are not counted from here on: CUPTI faulted when it was shown their code. The program runs on.");
}

void follow_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (id >= CUPTI_DRIVER_TRACE_CBID_SIZE || state.load(std::memory_order_relaxed) == State::kOff) return;
  const bool is_begin = call.callbackSite == CUPTI_API_ENTER;
  const Quiet quiet;
  switch (kinds[id]) {
    case CallKind::kLaunch:
      return is_begin ? enter(id, call) : leave(id, call);
    case CallKind::kBeginCapture:
      // One that did not begin is none.
      if (is_begin)
        ++captures;
      else if (has_failed(call))
        --captures;
      return;
    case CallKind::kEndCapture:
      if (!is_begin && captures > 0 && has_ended_capture(call)) --captures;
      return;
    // Behind cudaProfilerStart and before cudaProfilerStop, which may come several times each.
    case CallKind::kProfilerStart:
      if (!is_begin && !has_failed(call) && !is_profiler_started.exchange(true)) nvtx::begin_profiler_range(kProfilerKey);
      return;
    case CallKind::kProfilerStop:
      if (is_begin && is_profiler_started.exchange(false)) nvtx::end_included(kProfilerKey);
      return;
    case CallKind::kOther:
      return;
  }
}

void forget_contexts() noexcept {
  if (state.load() == State::kOff) return;
  Collection& c = all();
  if (!c.gate.close()) return;
  if (c.range.is_open.exchange(false)) {
    c.range.counters = nullptr;
    leave_out_range("The program ended within one.");
  }
  for (ContextCounters& each : c.contexts)
    if (each.context() != nullptr) static_cast<void>(cupti::call_cupti([&] { each.close(); }));
  c.gate.open();
}

void forget_all() noexcept {
  is_profiler_started.store(false);
  if (state.exchange(State::kOff) != State::kOff) all().file.leave();
}

bool take_record(const CUpti_ActivityKernel10& record) noexcept {
  if (state.load(std::memory_order_relaxed) == State::kOff || measured[record.correlationId % kRemembered].load() != record.correlationId) return false;
  if (record.start != 0 || record.end != 0) {
    put({bytes_of(record_of({}, record.correlationId))});  // it is an event of the recording
    return false;
  }
  const std::string_view name = record.name != nullptr ? record.name : "";
  channel::KernelRecord kernel = record_of(name, record.correlationId);
  kernel.device = record.deviceId;
  kernel.context = record.contextId;
  kernel.stream = record.streamId;
  const auto set = [](std::uint32_t(&extent)[3], auto x, auto y, auto z) {
    extent[0] = static_cast<std::uint32_t>(x);
    extent[1] = static_cast<std::uint32_t>(y);
    extent[2] = static_cast<std::uint32_t>(z);
  };
  set(kernel.grid, record.gridX, record.gridY, record.gridZ);
  set(kernel.block, record.blockX, record.blockY, record.blockZ);
  set(kernel.cluster, record.clusterX, record.clusterY, record.clusterZ);
  kernel.registers_per_thread = record.registersPerThread;
  kernel.static_shared_memory = static_cast<std::uint32_t>(record.staticSharedMemory);
  kernel.dynamic_shared_memory = static_cast<std::uint32_t>(record.dynamicSharedMemory);
  kernel.local_memory_per_thread = record.localMemoryPerThread;
  kernel.shared_memory_executed = record.sharedMemoryExecuted;
  kernel.launch_type = record.launchType;
  kernel.cache_config = record.cacheConfig.both;
  kernel.local_memory_total = record.localMemoryTotal_v2;
  put({bytes_of(kernel), bytes_of(name)});
  return true;
}

void watch() noexcept {
  const std::int64_t since = measuring_since.load();
  if (since == 0 || monotonic_now() - since < kLongMeasurement || told_of_long.exchange(true)) return;
  tell(ComponentState::kRecording, Severity::kWarning,
       "The kernel %s has run for %d s now that its counters are read. If it waits for another kernel, or for the program, leave it out with "
       "--kernel-name, or count it with the mode spread.",
       all().running, static_cast<int>(kLongMeasurement / kSecond));
}

}  // namespace lanescope::agent::kernel_counters
