// Makes a trace from the events of a Chrome file. Internal to model/import.
//
// Events come in any order, and the data that decides where they belong may come last: which process launched a GPU's work, the name of a thread, the begin of
// the trace. So events are collected in groups as the file describes them, and tracks are made at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../import_limits.h"
#include "chrome_event.h"
#include "chrome_members.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/trace_builder.h"

namespace lanescope::importers {

class ChromeAssembly {
 public:
  explicit ChromeAssembly(TraceBuilder& builder) : builder_(builder) {}

  // `batch` must contain the event.
  void add(const ChromeEvent& event, const ParsedBatch& batch);

  void add(const ChromeSample& sample);

  // Makes processes, threads, GPUs and tracks from everything that was added.
  void finish(const ChromeMembers& members);

  // Bytes of stored data and of the trace that will be made from it: an estimate.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return kept_; }

  [[nodiscard]] std::uint64_t event_count() const noexcept { return events_; }  // that have a place in a trace
  // Events that were left out: events with impossible times, events of kinds that a timeline has no place for (except flows, which correlation ids replace),
  // and ends of ranges without a begin, which are known after finish().
  [[nodiscard]] std::uint64_t without_time() const noexcept { return without_time_; }
  [[nodiscard]] std::uint64_t without_place() const noexcept { return without_place_; }
  [[nodiscard]] std::uint64_t ends_alone() const noexcept { return ends_alone_; }

 private:
  // The file's name for a process: a pid, a GPU, or a word.
  struct Source {
    std::string text;
    std::string name;
    std::optional<std::uint32_t> host_pid;  // for a GPU's rows: the process whose work they show, if the file says so
    std::optional<std::uint32_t> device;    // for a GPU's rows, if the file says so: "GPU 0"
    bool has_host_work = false;
    ProcessId process = kNone;
  };
  struct SourceThread {
    std::uint32_t source = 0;
    std::string text;
    std::string name;
    std::uint32_t synthetic_tid = 0;
  };
  struct GroupKey {
    TrackKind kind = TrackKind::kKernels;
    std::uint32_t source = 0;
    std::uint32_t thread = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t domain = 0;
    auto operator<=>(const GroupKey&) const = default;
  };
  // Begin or end of a range that consists of two events.
  struct Edge {
    std::uint32_t thread = 0;
    std::uint32_t domain = 0;
    NameId name = 0;
    DetailId detail = 0;
    Nanoseconds time = 0;
    std::optional<Nanoseconds> seen_until;  // of a range that had not ended, if the file says so
    bool begins = false;
  };
  class OpenRanges;
  struct Launch {
    std::uint32_t correlation = 0;
    Nanoseconds start = 0;
    std::uint32_t source = 0;
    auto operator<=>(const Launch&) const = default;
  };
  struct CounterKey {
    std::uint32_t source = 0;
    std::string name;
    std::string series;
    auto operator<=>(const CounterKey&) const = default;
  };
  using CounterSamples = std::vector<std::pair<Nanoseconds, double>>;
  struct CounterValues {
    std::string group;
    CounterSamples samples;
  };
  struct TimedSample {
    Nanoseconds time = 0;
    std::uint32_t frame = 0;  // index in frame_ids_
    std::uint32_t processor = kNone;
    Nanoseconds period = 0;
  };
  struct KernelNames {
    NameId readable = 0;
    NameId brief = 0;
    NameId mangled = 0;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  template <typename Value>
  using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

  // Remembers the latest id, because ids are assigned in order.
  template <typename Detail>
  struct Newest {
    DetailId id = 0;
  };
  NameId intern(std::string_view text) {
    const NameId id = builder_.intern(text);
    if (id > newest_name_) kept_ += cost::kName + text.size();
    newest_name_ = std::max(newest_name_, id);
    return id;
  }
  template <typename Detail>
  requires(!std::is_convertible_v<Detail, std::string_view>) DetailId intern(const Detail& detail) {
    const DetailId id = builder_.intern(detail);
    DetailId& newest = std::get<Newest<Detail>>(newest_details_).id;
    if (id > newest) kept_ += cost::kEvent + 2 * sizeof(Detail);
    newest = std::max(newest, id);
    return id;
  }

  std::uint32_t source(std::string_view pid);
  std::uint32_t thread(std::uint32_t source, std::string_view tid);
  std::uint32_t category(std::string_view name);
  const KernelNames& kernel_names(std::string_view name);
  std::vector<Event>& group(const GroupKey& key);
  void see(Nanoseconds start, Nanoseconds end);

  // Sets a text that is stored `times` times.
  void keep_text(std::string& known, std::string_view text, std::uint64_t times);
  void add_metadata(const ChromeEvent& event);
  void add_kernel(const ChromeEvent& event);
  void add_copy_or_set(const ChromeEvent& event);
  void add_synchronization(const ChromeEvent& event);
  void add_call(const ChromeEvent& event, ApiDomain domain);
  void add_span(const ChromeEvent& event, TrackKind kind);
  void add_state(const ChromeEvent& event);
  void add_page_fault(const ChromeEvent& event, const ParsedBatch& batch);
  void add_range(const ChromeEvent& event, TrackKind kind, std::uint32_t domain);
  void add_mark(const ChromeEvent& event);
  void add_edge(const ChromeEvent& event);
  void add_counter(const ChromeEvent& event, const ParsedBatch& batch);
  GroupKey queue_key(TrackKind kind, const ChromeEvent& event);
  NvtxDetail range_detail(const ChromeEvent& event, std::uint32_t source, std::uint32_t domain);
  void use_category(std::uint32_t source, std::uint32_t domain, std::uint32_t id, std::string_view name);
  // The domain that an event names, as in our exports, if the program marked the range; else `otherwise`.
  std::uint32_t named_domain(const ChromeEvent& event, std::uint32_t otherwise);

  void close_edges();
  void match(std::vector<Edge>& edges, TrackKind kind);
  void place_sources();
  ProcessId built_process(std::uint32_t source);
  ThreadId built_thread(std::uint32_t thread);
  std::vector<Launch> launches() const;
  [[nodiscard]] std::unordered_map<std::uint32_t, std::uint32_t> launching_sources() const;
  void add_tracks(const std::map<std::uint32_t, Gpu>& devices);
  void add_counters();
  void add_samples(const ChromeMembers& members);
  void add_states();
  [[nodiscard]] std::uint32_t tid(std::uint32_t thread) const;

  TraceBuilder& builder_;
  std::vector<Source> sources_;
  ByText<std::uint32_t> source_ids_;
  std::uint32_t last_source_ = kNone;
  std::vector<SourceThread> threads_;
  std::vector<ByText<std::uint32_t>> thread_ids_;  // by source
  std::uint32_t last_thread_ = kNone;
  std::map<GroupKey, std::vector<Event>> groups_;
  struct LastGroup {
    GroupKey key;
    std::vector<Event>* events = nullptr;
  };
  std::vector<LastGroup> last_groups_;                                                         // by kind
  ByText<std::uint32_t> domains_;                                                              // named by events; ids count from kFirstNamedDomain
  ByText<std::uint32_t> categories_;                                                           // of events without a category id; ids count from 1
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, NameId> used_categories_;  // of sources, their domains, and ids
  std::string last_category_;
  std::uint32_t last_category_id_ = 0;
  std::unordered_map<NameId, KernelNames> kernel_names_;
  std::map<CounterKey, CounterValues> counters_;
  std::map<std::pair<std::uint32_t, std::string>, std::vector<Nanoseconds>> counter_ends_;  // by source and name: times at which all its series end
  std::vector<Edge> thread_edges_;
  std::unordered_map<DetailId, NvtxDetail> begun_;  // the details of begins: a range without an end has the same, and that it had not ended
  std::map<std::string, std::vector<Edge>> asynchronous_edges_;
  std::map<std::uint32_t, std::vector<ThreadStateSpan>> states_;  // by thread
  std::unordered_set<std::uint32_t> processors_;                  // that threads ran on
  std::unordered_set<std::uint64_t> devices_;                     // named by events, with their source
  std::map<std::uint32_t, std::vector<TimedSample>> samples_;     // by thread
  ByText<std::uint32_t> frame_ids_;                               // of innermost frames, by the file's name
  bool from_pytorch_ = false;
  std::uint32_t instances_ = 0;
  NameId newest_name_ = 0;
  std::tuple<Newest<KernelDetail>, Newest<MemoryDetail>, Newest<ApiDetail>, Newest<SynchronizationDetail>, Newest<PageFaultDetail>, Newest<NvtxDetail>>
      newest_details_;
  std::uint64_t kept_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t without_time_ = 0;
  std::uint64_t without_place_ = 0;
  std::uint64_t ends_alone_ = 0;
  Nanoseconds begin_ = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds end_ = std::numeric_limits<Nanoseconds>::min();
};

}  // namespace lanescope::importers
