// Decisions that need all events of a Chrome trace: processes, threads, GPUs, and the tracks.
#include <algorithm>

#include "chrome_assembly.h"
#include "chrome_categories.h"
#include "chrome_members.h"
#include "model/import/chrome_json.h"

namespace lanescope::importers {
namespace {

constexpr std::uint32_t kFirstSyntheticPid = 0xf0000000;  // for processes that are named by a word

bool is_on_gpu(TrackKind kind) { return is_gpu_work(kind) || kind == TrackKind::kSynchronizations; }

}  // namespace

ProcessId ChromeAssembly::built_process(std::uint32_t source) {
  Source& of = sources_[source];
  if (of.process != kNone) return of.process;
  of.process = builder_.process_of_instance(++instances_);
  Process& process = builder_.process(of.process);
  process.pid = number_of(of.text).value_or(kFirstSyntheticPid + source);
  process.executable = builder_.kept(!of.name.empty() ? of.name : number_of(of.text) ? std::string_view() : std::string_view(of.text));
  return of.process;
}

// Calls of several processes may have the same correlation id. The latest one before the work began is taken as its launch.
std::vector<ChromeAssembly::Launch> ChromeAssembly::launches() const {
  std::vector<Launch> all;
  for (const auto& [key, events] : groups_)
    if (key.kind == TrackKind::kCudaApi)
      for (const Event& event : events) all.push_back({event.correlation, event.start, key.source});
  std::sort(all.begin(), all.end());
  return all;
}

// For each source with GPU work, the process whose calls launched most of a sample of this work, if calls were found.
std::unordered_map<std::uint32_t, std::uint32_t> ChromeAssembly::launching_sources() const {
  constexpr std::size_t kSample = 256;  // events of each queue
  const std::vector<Launch> launches = this->launches();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> votes;  // by source and launching source
  for (const auto& [key, events] : groups_) {
    if (!is_gpu_work(key.kind)) continue;
    const std::size_t step = std::max<std::size_t>(1, events.size() / kSample);
    for (std::size_t i = 0; i < events.size(); i += step) {
      const Event& event = events[i];
      auto found = std::upper_bound(launches.begin(), launches.end(), Launch{event.correlation, event.start, kNone});
      if (found == launches.begin() || (--found)->correlation != event.correlation) continue;
      ++votes[{key.source, found->source}];
    }
  }
  std::unordered_map<std::uint32_t, std::uint32_t> launching;
  std::unordered_map<std::uint32_t, std::size_t> most;
  for (const auto& [pair, count] : votes)
    if (count > most[pair.first]) {
      most[pair.first] = count;
      launching[pair.first] = pair.second;
    }
  return launching;
}

void ChromeAssembly::place_sources() {
  std::vector<bool> used(sources_.size());
  for (const auto& [key, events] : groups_) used[key.source] = true;
  for (const auto& [key, values] : counters_) used[key.source] = true;
  for (std::uint32_t i = 0; i < sources_.size(); ++i)
    if (sources_[i].has_host_work) used[i] = true;
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t i = 0; i < sources_.size(); ++i)
    if (used[i] && (sources_[i].has_host_work || !from_pytorch_)) hosts.push_back(i);
  for (const std::uint32_t host : hosts) built_process(host);
  const auto launching = hosts.size() > 1 ? launching_sources() : std::unordered_map<std::uint32_t, std::uint32_t>{};
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    Source& of = sources_[i];
    if (!used[i] || of.process != kNone) continue;
    // Rows of a GPU, and events of the profiler itself, have sources of their own, but belong to the process that was profiled.
    std::uint32_t owner = i;
    if (const auto named = of.host_pid ? source_ids_.find(std::to_string(*of.host_pid)) : source_ids_.end(); named != source_ids_.end())
      owner = named->second;
    else if (hosts.size() == 1)
      owner = hosts.front();
    else if (const auto launched_by = launching.find(i); launched_by != launching.end())
      owner = launched_by->second;
    of.process = built_process(owner);
  }
}

ThreadId ChromeAssembly::built_thread(std::uint32_t thread) {
  const SourceThread& of = threads_[thread];
  const auto tid = number_of(of.text);
  const ThreadId id = builder_.thread(sources_[of.source].process, tid.value_or(of.synthetic_tid));
  if (!of.name.empty())
    builder_.name_thread(id, of.name);
  else if (!tid)
    builder_.name_thread(id, of.text);
  return id;
}

void ChromeAssembly::add_tracks(const std::map<std::uint32_t, Gpu>& devices) {
  std::vector<std::string_view> named_domains(domains_.size());
  for (const auto& [name, id] : domains_) named_domains[id - kFirstNamedDomain] = name;
  for (auto& [key, events] : groups_) {
    for (Event& event : events) event.start -= begin_;
    TrackKey track;
    track.kind = key.kind;
    track.process = sources_[key.source].process;
    track.domain = key.domain;
    const bool faults_on_gpu = key.kind == TrackKind::kPageFaults && key.device != kNone;
    if (is_on_gpu(key.kind) || faults_on_gpu) {
      if (const auto known = devices.find(key.device); known != devices.end()) builder_.set_device(track.process, key.device, known->second);
      track.gpu = builder_.gpu_of_device(track.process, key.device);
    }
    if (is_on_gpu(key.kind)) {
      track.context = key.context;
      track.stream = key.stream;
      builder_.set_context({track.process, key.context, key.device, 0});
      if (key.stream != kNone) builder_.set_stream({track.process, key.context, key.stream, 0, 0, {}});
    } else if (key.thread != kNone) {
      track.thread = built_thread(key.thread);
    }
    for (const auto& [id, name] : kDomainNames)
      if (id == key.domain) builder_.set_domain(track.process, id, name);
    if (key.domain >= kFirstNamedDomain) builder_.set_domain(track.process, key.domain, named_domains[key.domain - kFirstNamedDomain]);
    builder_.add(track, std::move(events));
  }
  groups_.clear();
}

void ChromeAssembly::finish(const ChromeMembers& members) {
  close_edges();
  if (events_ == 0) begin_ = 0;
  if (members.recording_start) begin_ = *members.recording_start;  // what was exported keeps its times
  place_sources();
  add_tracks(members.devices);
  add_counters();
  add_samples(members);
  add_states();
  for (const auto& [of, name] : used_categories_)
    if (const auto& [source, domain, id] = of; sources_[source].process != kNone)
      builder_.set_category(sources_[source].process, domain, id, builder_.text(name));

  constexpr Nanoseconds kYear2001 = 1'000'000'000'000'000'000;  // larger times count from 1970
  Provenance& provenance = builder_.provenance();
  provenance.format = "Chrome JSON";
  provenance.producer = !members.producer.empty() ? members.producer : from_pytorch_ ? "PyTorch profiler" : "";
  provenance.host_name = members.host_name;
  provenance.monotonic_epoch = begin_;
  provenance.attached_pid = members.attached_pid;
  if (members.part) provenance.part = SavedPart{{members.part->time.begin - begin_, members.part->time.end - begin_}, members.part->first_launch - begin_};
  if (members.utc_base != 0)
    provenance.utc_epoch = members.utc_base + begin_;
  else if (begin_ > kYear2001)
    provenance.utc_epoch = begin_;
}

}  // namespace lanescope::importers
