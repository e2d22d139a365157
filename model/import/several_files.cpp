// Several files as one trace.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "model/import/open_trace.h"
#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/parallel.h"
#include "same_recording.h"

namespace lanescope {
namespace {

// The rank of a trace's processes, if all processes with a rank have the same.
std::optional<std::uint32_t> rank_of(const Trace& trace) {
  std::optional<std::uint32_t> rank;
  for (const Process& process : trace.processes()) {
    if (rank && process.place.rank && process.place.rank != rank) return std::nullopt;
    if (process.place.rank) rank = process.place.rank;
  }
  return rank;
}

// Names of the files; if two have the same name, their paths.
std::vector<std::string> names_of(std::span<const std::filesystem::path> paths) {
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.filename().string());
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
    for (std::size_t i = 0; i < paths.size(); ++i) names[i] = paths[i].string();
  return names;
}

struct Rank {
  std::optional<std::uint32_t> number;
  std::string name;  // of the file
  std::string file;  // its path
  std::shared_ptr<const Trace> trace;
};

// The results of reading several files, in the order of their paths.
struct ReadFiles {
  explicit ReadFiles(std::size_t count, Unreadable of_unreadable) : unreadable(of_unreadable), traces(count) {}

  Unreadable unreadable;
  std::vector<std::shared_ptr<const Trace>> traces;  // null if it could not be read
  std::map<std::size_t, Error> errors;               // by file

  // True if no further file needs to be read.
  [[nodiscard]] bool is_over() const { return unreadable == Unreadable::kFails && !errors.empty(); }
  // The first error, if the files that were read are not sufficient.
  [[nodiscard]] Result<void> result() const {
    if (errors.empty() || (unreadable == Unreadable::kIsLeftOut && errors.size() < traces.size())) return {};
    return errors.begin()->second;
  }
};

Error cancelled(std::span<const std::filesystem::path> paths) { return {"Opening " + std::to_string(paths.size()) + " traces was cancelled."}; }

// Reads several files at once, on all cores, because files whose events stay in them use little of a core.
Result<void> read_all_heads(std::span<const std::filesystem::path> paths, const LoadProgress& progress, ReadFiles& read) {
  std::mutex mutex;
  std::size_t done = 0;
  bool is_cancelled = false;
  const auto goes_on = [&] {
    const std::lock_guard lock(mutex);
    if (progress && !is_cancelled) is_cancelled = progress(static_cast<double>(done) / static_cast<double>(paths.size()), nullptr) == LoadStep::kCancel;
    return !is_cancelled;
  };
  parallel_for(paths.size(), [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (read.is_over()) return;  // earlier files have been started, and the first error among them is reported
    }
    if (!goes_on()) return;
    const LoadProgress of_one = [&](double, const std::shared_ptr<const Trace>&) { return goes_on() ? LoadStep::kContinue : LoadStep::kCancel; };
    Result<std::shared_ptr<const Trace>> trace = open_trace(paths[i], of_one, EventPlace::kInFile);
    const std::lock_guard lock(mutex);
    if (trace)
      read.traces[i] = *std::move(trace);
    else
      read.errors.emplace(i, trace.error());
    ++done;
  });
  if (is_cancelled) return cancelled(paths);
  return read.result();
}

// Reads the traces that are missing or, with kInMemory, whose events are not in memory.
Result<void> read_all(std::span<const std::filesystem::path> paths, EventPlace place, const LoadProgress& progress, ReadFiles& read) {
  if (place == EventPlace::kInFile) return read_all_heads(paths, progress, read);
  auto& traces = read.traces;
  for (std::size_t i = 0; i < paths.size() && !read.is_over(); ++i) {
    if (traces[i] && (place != EventPlace::kInMemory || holds_events(*traces[i]))) continue;
    LoadStep step = LoadStep::kContinue;
    const LoadProgress of_all = [&](double fraction, const std::shared_ptr<const Trace>&) {
      if (progress) step = progress((static_cast<double>(i) + fraction) / static_cast<double>(paths.size()), nullptr);
      return step;
    };
    const Result<std::shared_ptr<const Trace>> trace = open_trace(paths[i], of_all, place);
    if (step == LoadStep::kCancel) return cancelled(paths);
    if (trace)
      traces[i] = *trace;
    else
      read.errors.emplace(i, trace.error());
  }
  return read.result();
}

// Of files with the same recording, chooses the one with most of it; among equals one whose events stay in the file, then the first.
class DistinctRecordings {
 public:
  DistinctRecordings(std::span<const std::filesystem::path> paths, const ReadFiles& read) {
    const std::vector<std::string> names = names_of(paths);
    std::vector<std::size_t> by_worth;
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (read.traces[i]) by_worth.push_back(i);
    // What other formats keep of a recording is less than the recording, however many events they have.
    const auto worth = [&](std::size_t i) {
      const Trace& trace = *read.traces[i];
      return std::tuple(is_recording(trace), trace.event_count(), !holds_events(trace));
    };
    std::stable_sort(by_worth.begin(), by_worth.end(), [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
    // Grouped by epoch, so that a job of a thousand ranks is not compared pair by pair.
    std::map<std::int64_t, std::vector<std::size_t>> chosen_by_epoch;
    for (const std::size_t i : by_worth) {
      const Trace& trace = *read.traces[i];
      auto& rivals = chosen_by_epoch[trace.provenance().utc_epoch];
      const auto whole = std::find_if(rivals.begin(), rivals.end(), [&](std::size_t rival) { return is_of_same_recording(trace, *read.traces[rival]); });
      if (whole == rivals.end()) {
        tell_of_parts(names, read, rivals, i);
        rivals.push_back(i);
        chosen_.push_back(i);
      } else {
        same_.push_back(names[i] + " is left out: it holds the same recording as " + names[*whole] + ".");
      }
    }
    std::sort(chosen_.begin(), chosen_.end());
  }

  [[nodiscard]] const std::vector<std::size_t>& chosen() const noexcept { return chosen_; }  // in the order of paths
  [[nodiscard]] const std::vector<std::string>& same() const noexcept { return same_; }      // a sentence for each file that was not chosen
  [[nodiscard]] const std::vector<std::string>& parts() const noexcept { return parts_; }    // a sentence for each that is another part of a chosen one

 private:
  // Says if the file was saved for another time of the same recording as a chosen one.
  void tell_of_parts(const std::vector<std::string>& names, const ReadFiles& read, const std::vector<std::size_t>& rivals, std::size_t i) {
    const auto is_other_part = [&](std::size_t rival) {
      const std::optional<SavedPart>&own = read.traces[i]->provenance().part, &others = read.traces[rival]->provenance().part;
      return own && others && own->time != others->time && began_as_one(*read.traces[i], *read.traces[rival]);
    };
    const auto other = std::find_if(rivals.begin(), rivals.end(), is_other_part);
    if (other == rivals.end()) return;
    parts_.push_back(names[i] + " and " + names[*other] +
                     " hold parts of one recording: what reaches over their border counts twice, and idle time there has no known "
                     "cause. For exact figures, open the recording itself, or save one part that has both times.");
  }

  std::vector<std::size_t> chosen_;
  std::vector<std::string> same_;
  std::vector<std::string> parts_;
};

std::vector<TraceRemark> remarks_on(const DistinctRecordings& distinct, std::span<const std::filesystem::path> paths, const ReadFiles& read) {
  std::vector<TraceRemark> remarks;
  for (const std::string& sentence : distinct.parts())
    for (const auto kind : {TraceRemark::Kind::kWarning, TraceRemark::Kind::kCondition}) remarks.push_back({kind, sentence});
  for (const std::string& sentence : distinct.same()) remarks.push_back({TraceRemark::Kind::kSameRecording, sentence});
  const std::vector<std::string> names = names_of(paths);
  for (const auto& [i, error] : read.errors)
    for (const auto kind : {TraceRemark::Kind::kWarning, TraceRemark::Kind::kCondition}) remarks.push_back({kind, names[i] + " is missing: " + error.text});
  return remarks;
}

// Does work that can be stopped, while another thread asks progress whether to continue.
template <typename Work>
void do_asking(const LoadProgress& progress, const Work& work) {
  using namespace std::chrono_literals;
  if (!progress) return work(std::stop_token());
  std::stop_source stopped;
  std::mutex mutex;
  std::condition_variable_any ended;
  std::jthread asking;
  try {
    asking = std::jthread([&](const std::stop_token& end) {
      std::unique_lock lock(mutex);
      while (!ended.wait_for(lock, end, 50ms, [] { return false; }) && !end.stop_requested())
        if (progress(1, nullptr) == LoadStep::kCancel) return void(stopped.request_stop());
    });
  } catch (const std::system_error&) {  // if no thread can be started, progress is not asked
  }
  work(stopped.get_token());
}

// Several files as one trace. Their clocks are aligned once, independent of where their events are.
class Ranks {
 public:
  explicit Ranks(std::span<const std::filesystem::path> paths) : paths_(paths), names_(names_of(paths)) {}

  // Returns null after a stop request.
  std::shared_ptr<const Trace> combined(std::span<const std::shared_ptr<const Trace>> read, const std::stop_token& stop) {
    const std::vector<Rank> ranks = ranks_of(read);
    if (clocks_.empty()) clocks_ = align_clocks(traces_of(ranks), stop);
    return clocks_.empty() ? nullptr : combined_by(clocks_, ranks, stop);
  }
  // The same before clocks are compared by events. Returns null if no comparison is necessary, because then the clocks are aligned, and after a stop request.
  std::shared_ptr<const Trace> combined_at_once(std::span<const std::shared_ptr<const Trace>> read, const std::stop_token& stop) {
    const std::vector<Rank> ranks = ranks_of(read);
    std::vector<ClockAlignment> clocks = align_clocks_at_once(traces_of(ranks));
    const bool are_known = std::all_of(clocks.begin(), clocks.end(), [](const ClockAlignment& each) { return each.by == ClockSource::kSameClock; });
    if (!are_known) return combined_by(clocks, ranks, stop);
    clocks_ = std::move(clocks);
    return nullptr;
  }

 private:
  [[nodiscard]] std::vector<Rank> ranks_of(std::span<const std::shared_ptr<const Trace>> read) const {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < read.size(); ++i) ranks.push_back({rank_of(*read[i]), names_[i], paths_[i].string(), read[i]});
    std::set<std::optional<std::uint32_t>> numbers;
    for (const Rank& rank : ranks) numbers.insert(rank.number);
    if (numbers.size() == ranks.size() && !numbers.contains(std::nullopt))
      std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.number < b.number; });
    return ranks;
  }
  static std::vector<std::shared_ptr<const Trace>> traces_of(const std::vector<Rank>& ranks) {
    std::vector<std::shared_ptr<const Trace>> traces;
    for (const Rank& rank : ranks) traces.push_back(rank.trace);
    return traces;
  }
  static std::shared_ptr<const Trace> combined_by(const std::vector<ClockAlignment>& clocks, const std::vector<Rank>& ranks, const std::stop_token& stop) {
    std::vector<TraceSource> sources;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Rank& rank = ranks[i];
      const std::string label = rank.number ? "rank " + std::to_string(*rank.number) + "  " + rank.name : rank.name;
      sources.push_back({rank.trace, label, clocks[i].clock, alignment_sentence(rank.name, clocks[i]), clocks[i].by == ClockSource::kCollectives, rank.file});
    }
    return combine_traces(sources, stop, GpusSeenTwice::kAreOne);
  }

  std::span<const std::filesystem::path> paths_;
  std::vector<std::string> names_;
  std::vector<ClockAlignment> clocks_;  // of the ranks in order; empty: not aligned yet
};

// True if the events of all traces that are in files are to be read into memory. Combining copies them, so that they temporarily take twice the memory. For
// very many events, users prefer to see the trace at once.
bool fit_into_memory(std::span<const std::shared_ptr<const Trace>> traces) {
  constexpr std::uint64_t kEventBytes = 24;
  std::uint64_t events = 0;
  for (const std::shared_ptr<const Trace>& trace : traces) events += holds_events(*trace) ? 0 : trace->event_count();
  return events * kEventBytes <= SegmentCache::of_process().use().budget / 4;
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_traces(std::span<const std::filesystem::path> paths, EventPlace place, const LoadProgress& progress,
                                                 Unreadable unreadable, std::vector<std::string>* same_recording) {
  if (paths.size() == 1) return open_trace(paths.front(), progress, place);
  const bool where_they_fit = place == EventPlace::kInMemoryWhereTheyFit;
  ReadFiles all(paths.size(), unreadable);
  if (const Result<void> done = read_all(paths, where_they_fit ? EventPlace::kInFile : place, progress, all); !done) return done.error();
  const DistinctRecordings distinct(paths, all);
  if (same_recording != nullptr) same_recording->insert(same_recording->end(), distinct.same().begin(), distinct.same().end());
  const std::vector<TraceRemark> remarks = remarks_on(distinct, paths, all);
  std::vector<std::filesystem::path> chosen;
  ReadFiles read(distinct.chosen().size(), Unreadable::kFails);
  for (const std::size_t i : distinct.chosen()) {
    read.traces[chosen.size()] = std::move(all.traces[i]);
    chosen.push_back(paths[i]);
  }
  if (chosen.size() == 1) {
    const auto alone = where_they_fit ? open_trace(chosen.front(), progress, place) : Result<std::shared_ptr<const Trace>>(read.traces.front());
    return alone ? with_remarks(*alone, remarks) : alone;
  }
  Ranks ranks(chosen);
  const auto combine = [&](auto way) -> std::shared_ptr<const Trace> {
    std::shared_ptr<const Trace> combined;
    do_asking(progress, [&](const std::stop_token& stop) { combined = (ranks.*way)(read.traces, stop); });
    return combined ? with_remarks(combined, remarks) : nullptr;
  };
  if (progress && std::none_of(read.traces.begin(), read.traces.end(), [](const auto& trace) { return holds_events(*trace); }))
    if (auto at_once = combine(&Ranks::combined_at_once); at_once && progress(0, std::move(at_once)) == LoadStep::kCancel) return cancelled(paths);
  std::shared_ptr<const Trace> combined = combine(&Ranks::combined);
  if (!combined) return cancelled(paths);
  if (!where_they_fit || holds_events(*combined) || !fit_into_memory(read.traces)) return combined;
  if (progress && progress(0, combined) == LoadStep::kCancel) return cancelled(paths);
  if (const Result<void> done = read_all(chosen, EventPlace::kInMemory, progress, read); !done) return done.error();
  combined = combine(&Ranks::combined);
  if (!combined) return cancelled(paths);
  return combined;
}

std::size_t count_left_out_as_same(const Trace& trace) {
  return static_cast<std::size_t>(std::count_if(trace.diagnostics().begin(), trace.diagnostics().end(),
                                                [](const DiagnosticMessage& message) { return message.content.kind == DiagnosticKind::kSameRecording; }));
}

Unreadable unreadable_of(std::span<const std::filesystem::path> named) {
  const bool has_folder = std::any_of(named.begin(), named.end(), [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
  });
  return has_folder ? Unreadable::kIsLeftOut : Unreadable::kFails;
}

}  // namespace lanescope
