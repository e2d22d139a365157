// Events of threads except calls: scheduling, samples, call chains.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

// The state of a thread that left its processor in one of these states (ENUM_SAMPLING_THREAD_STATE).
ThreadState state_after(std::int64_t number) {
  enum { kRunning = 1, kInterruptible, kUninterruptible, kStopped, kTerminated, kUnscheduled, kWaiting };
  switch (number) {
    case kRunning:
    case kUnscheduled:
      return ThreadState::kRunnable;
    case kInterruptible:
    case kUninterruptible:
    case kStopped:
    case kWaiting:
      return ThreadState::kBlocked;
    default:
      return ThreadState::kUnknown;
  }
}

struct Switch {
  Nanoseconds time = 0;
  std::uint32_t processor = 0;
  bool in = false;
  std::int64_t state = 0;
};

// Spans from one switch to the next. States before the first and after the last are unknown.
std::vector<ThreadStateSpan> spans_between(std::vector<Switch>& switches) {
  std::stable_sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) { return a.time < b.time; });
  std::vector<ThreadStateSpan> spans;
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
    const Switch& from = switches[i];
    const ThreadStateDetail what = from.in ? ThreadStateDetail{ThreadState::kRunning, from.processor} : ThreadStateDetail{state_after(from.state), kNone};
    if (switches[i + 1].time == from.time) continue;
    spans.push_back({from.time, difference(switches[i + 1].time, from.time), what});
  }
  return spans;
}

// The call chains of one table, by their ids.
class Chains {
 public:
  explicit Chains(NsysContext& context) : context_(context) {}

  // True if the file has the table, or chains with shared calls instead, as Lanescope writes deep stacks (model/export/nsys/nsys_calls.h).
  [[nodiscard]] bool has(std::string_view table) const { return context_.database.has_table(table) || is_shared(table); }

  Result<void> read(std::string_view table) {
    if (is_shared(table)) return read_shared(shared_name(table));
    enum Column { kId, kSymbol, kModule, kKernelMode, kDepth };
    constexpr std::array<std::string_view, kDepth + 1> kColumns = {"id", "symbol", "module", "kernelMode", "stackDepth"};
    TableRows rows = context_.database.rows(table, kColumns);
    while (rows.next()) {
      calls_.push_back({rows.integer(kId), rows.integer(kDepth), location(rows.integer(kSymbol), rows.integer(kModule), rows.integer(kKernelMode) != 0)});
      if (!context_.count_row()) break;
    }
    if (!rows.failure().empty()) return unreadable(table, rows);
    std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return std::pair(a.chain, b.depth) < std::pair(b.chain, a.depth); });
    for (const Call& call : calls_) {  // the outermost call of each chain first
      CallNodeId& node = nodes_[call.chain];
      node = context_.builder.call_node({node, call.location});
    }
    calls_.clear();
    return {};
  }

  // 0 for an unknown id.
  [[nodiscard]] CallNodeId node(std::int64_t id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? 0 : found->second;
  }

 private:
  struct Call {
    std::int64_t chain = 0;
    std::int64_t depth = 0;
    CodeLocationId location = 0;
  };

  static std::string shared_name(std::string_view table) { return "LANESCOPE_" + std::string(table); }
  [[nodiscard]] bool is_shared(std::string_view table) const { return !context_.database.has_table(table) && context_.database.has_table(shared_name(table)); }

  Result<void> read_shared(const std::string& table) {
    if (Result<void> read = read_functions(); !read) return read;
    if (Result<void> read = read_calls(); !read) return read;
    enum Column { kId, kCall };
    constexpr std::array<std::string_view, kCall + 1> kColumns = {"id", "callId"};
    TableRows rows = context_.database.rows(table, kColumns);
    while (rows.next() && context_.count_row())
      if (const auto call = calls_by_id_.find(rows.integer(kCall)); call != calls_by_id_.end()) nodes_[rows.integer(kId)] = call->second;
    return rows.failure().empty() ? Result<void>() : unreadable(table, rows);
  }

  Result<void> read_functions() {
    constexpr std::string_view kTable = "LANESCOPE_CALL_FUNCTIONS";
    enum Column { kId, kSymbol, kModule, kKernelMode };
    constexpr std::array<std::string_view, kKernelMode + 1> kColumns = {"id", "symbol", "module", "kernelMode"};
    TableRows rows = context_.database.rows(kTable, kColumns);
    while (rows.next() && context_.count_row())
      functions_[rows.integer(kId)] = location(rows.integer(kSymbol), rows.integer(kModule), rows.integer(kKernelMode) != 0);
    return rows.failure().empty() ? Result<void>() : unreadable(kTable, rows);
  }

  // Callers come before their callees.
  Result<void> read_calls() {
    constexpr std::string_view kTable = "LANESCOPE_CALLS";
    enum Column { kId, kCaller, kFirst, kLast };
    constexpr std::array<std::string_view, kLast + 1> kColumns = {"id", "callerId", "firstFunctionId", "lastFunctionId"};
    TableRows rows = context_.database.rows(kTable, kColumns);
    while (rows.next() && context_.count_row()) {
      const auto caller = calls_by_id_.find(rows.integer(kCaller));
      CallNodeId node = caller == calls_by_id_.end() ? 0 : caller->second;
      for (std::int64_t id = rows.integer(kLast); id >= rows.integer(kFirst) && context_.count_row(); --id)
        if (const auto function = functions_.find(id); function != functions_.end()) node = context_.builder.call_node({node, function->second});
      calls_by_id_[rows.integer(kId)] = node;
    }
    return rows.failure().empty() ? Result<void>() : unreadable(kTable, rows);
  }

  // Addresses are those of the running process and have no meaning later, so functions are distinguished by name and module.
  CodeLocationId location(std::int64_t symbol, std::int64_t module, bool in_kernel) {
    const auto [found, inserted] = locations_.try_emplace({symbol, module}, 0);
    if (!inserted) return found->second;
    CodeLocation place;
    if (in_kernel) place.kind = CodeKind::kKernel;
    if (context_.text(module) == "[Python]")
      place.kind = CodeKind::kPython;
    else if (context_.text(module) != "[Unknown]")
      place.module = context_.name(module);
    found->second = context_.builder.code_location(place, {context_.name(symbol), 0, 0});
    return found->second;
  }

  NsysContext& context_;
  std::vector<Call> calls_;
  std::map<std::pair<std::int64_t, std::int64_t>, CodeLocationId> locations_;  // by symbol and module
  std::unordered_map<std::int64_t, CallNodeId> nodes_;
  std::unordered_map<std::int64_t, CodeLocationId> functions_;  // by id, for chains with shared calls
  std::unordered_map<std::int64_t, CallNodeId> calls_by_id_;    // likewise
};

// Collects samples by thread and passes them to the builder at once.
class SamplesByThread {
 public:
  explicit SamplesByThread(NsysContext& context) : context_(context) {}
  void add(std::int64_t global_tid, const SampleEvent& sample) {
    std::vector<SampleEvent>& of_thread = samples_[global_tid];
    if (of_thread.empty()) context_.keep(cost::kTrack + cost::kThread);
    of_thread.push_back(sample);
  }
  void flush() {
    for (const auto& [global_tid, samples] : samples_) add_samples(context_.builder, context_.process(global_tid), tid_of(global_tid), samples);
  }

 private:
  NsysContext& context_;
  std::map<std::int64_t, std::vector<SampleEvent>> samples_;
};

Result<void> import_backtraces(NsysContext& context, std::string_view table, std::string_view chain_table, SampleOrigin origin) {
  Chains chains(context);
  if (!chains.has(chain_table)) return {};
  if (const auto read = chains.read(chain_table); !read) return read.error();
  enum Column { kStart, kEnd, kGlobalTid, kChain };
  constexpr std::array<std::string_view, kChain + 1> kColumns = {"start", "end", "globalTid", "callchainId"};
  SamplesByThread backtraces(context);
  TableRows rows = context.database.rows(table, kColumns);
  while (rows.next()) {
    if (!context.count_row()) break;
    const CallNodeId chain = chains.node(rows.integer(kChain));
    if (chain == 0) continue;
    SampleEvent backtrace;
    backtrace.start = rows.integer(kStart);
    backtrace.duration = duration_between(rows, kStart, kEnd);
    backtrace.what.call_node = chain;
    backtrace.what.origin = origin;
    backtraces.add(rows.integer(kGlobalTid), backtrace);
  }
  if (!rows.failure().empty()) return unreadable(table, rows);
  backtraces.flush();
  return {};
}

}  // namespace

Result<void> import_scheduling(NsysContext& context) {
  constexpr std::string_view kTable = "SCHED_EVENTS";
  enum Column { kStart, kProcessor, kIn, kGlobalTid, kState };
  constexpr std::array<std::string_view, kState + 1> kColumns = {"start", "cpu", "isSchedIn", "globalTid", "threadState"};
  std::map<std::int64_t, std::vector<Switch>> switches;
  std::unordered_set<std::int64_t> processors;
  TableRows rows = context.database.rows(kTable, kColumns);
  while (rows.next()) {
    std::vector<Switch>& of_thread = switches[rows.integer(kGlobalTid)];
    if (of_thread.empty()) context.keep(cost::kTrack);
    if (processors.insert(rows.integer(kProcessor)).second) context.keep(cost::kTrack);
    of_thread.push_back({rows.integer(kStart), static_cast<std::uint32_t>(rows.integer(kProcessor)), rows.integer(kIn) != 0, rows.integer(kState)});
    if (!context.count_row()) break;
  }
  if (!rows.failure().empty()) return unreadable(kTable, rows);
  for (auto& [global_tid, of_thread] : switches) {
    context.thread(global_tid);  // so that it is known from now on and gets its name
    context.thread_states.emplace(global_tid, spans_between(of_thread));
  }
  return {};
}

Result<void> import_samples(NsysContext& context) {
  constexpr std::string_view kTable = "COMPOSITE_EVENTS";
  Chains chains(context);
  if (const auto read = chains.read("SAMPLING_CALLCHAINS"); !read) return read.error();
  enum Column { kId, kStart, kProcessor, kGlobalTid };
  constexpr std::array<std::string_view, kGlobalTid + 1> kColumns = {"id", "start", "cpu", "globalTid"};
  SamplesByThread samples(context);
  TableRows rows = context.database.rows(kTable, kColumns);
  while (rows.next()) {
    SampleEvent sample;
    sample.start = rows.integer(kStart);
    sample.what.call_node = chains.node(rows.integer(kId));
    if (!rows.is_null(kProcessor)) sample.what.processor = static_cast<std::uint32_t>(rows.integer(kProcessor));
    samples.add(rows.integer(kGlobalTid), sample);
    if (!context.count_row()) break;
  }
  if (!rows.failure().empty()) return unreadable(kTable, rows);
  samples.flush();
  return {};
}

Result<void> import_cuda_backtraces(NsysContext& context) {
  return import_backtraces(context, "CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_CALLCHAINS", SampleOrigin::kCudaCall);
}

Result<void> import_os_runtime_backtraces(NsysContext& context) { return import_backtraces(context, "OSRT_API", "OSRT_CALLCHAINS", SampleOrigin::kOsCall); }

}  // namespace lanescope::importers
