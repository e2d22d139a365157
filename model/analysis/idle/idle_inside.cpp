#include "idle_inside.h"

#include <algorithm>
#include <array>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "covered_time.h"
#include "model/file/wire.h"
#include "model/trace/workers/parallel.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kBlockSpans = 4'096;

}  // namespace

// The spans of a run in the file, a block at a time, or those in memory.
class IdleInside::RunReader {
 public:
  explicit RunReader(std::vector<Span> spans) : spans_(std::move(spans)) {}
  RunReader(const ScratchFile& file, Run run) : file_(&file), run_(std::move(run)) {}

  // Must be called first, and after each next(). Fails if the file can't be read.
  [[nodiscard]] Result<void> fill() {
    if (next_ < spans_.size() || block_ == run_.size()) return {};
    const Block& block = run_[block_++];
    bytes_.resize(block.bytes);
    if (auto read = file_->read(block.offset, std::as_writable_bytes(std::span(bytes_))); !read) return read;
    spans_.resize(block.spans);
    next_ = 0;
    const char* at = bytes_.data();
    const char* const end = at + bytes_.size();
    Nanoseconds before = 0;
    for (Span& span : spans_) {
      std::array<std::uint64_t, 3> values;
      for (std::uint64_t& value : values)
        if (at == nullptr || (at = read_varint(at, end, value)) == nullptr) return Error{"A temporary file was changed by another program. Try again."};
      before = span.begin = before + static_cast<Nanoseconds>(values[0] >> 1 ^ (~(values[0] & 1) + 1));
      span.end = span.begin + static_cast<Nanoseconds>(values[1]);
      span.key = static_cast<Key>(values[2]);
    }
    return {};
  }
  [[nodiscard]] bool at_end() const noexcept { return next_ == spans_.size(); }
  [[nodiscard]] const Span& front() const noexcept { return spans_[next_]; }  // requires: not at the end
  void next() noexcept { ++next_; }

 private:
  std::vector<Span> spans_;
  std::size_t next_ = 0;
  const ScratchFile* file_ = nullptr;
  Run run_;
  std::size_t block_ = 0;
  std::string bytes_;
};

// How long one GPU was busy before ascending times, counted from the first.
class IdleInside::BusyTime {
 public:
  BusyTime(const Trace& trace, std::span<const TrackId> tracks, Nanoseconds first, const std::stop_token& stop)
      : operations_(trace, tracks, {first, GpuOperations::kEver.end}, stop) {
    if (const auto until = GpuOperations::busy_until(trace, tracks, first); until && *until > first) covered_.add({first, *until});
    read();
  }
  // Requires: not before the time that was asked for last.
  [[nodiscard]] Nanoseconds before(Nanoseconds t) {
    for (; next_ < count_ && read_[next_].range.begin < t; ++next_ == count_ ? read() : void()) covered_.add(read_[next_].range);
    return covered_.before(t);
  }

 private:
  void read() {
    count_ = operations_.next(read_);
    next_ = 0;
  }

  GpuOperations operations_;
  std::array<GpuOperation, 256> read_;
  std::size_t count_ = 0, next_ = 0;
  CoveredTime covered_;
};

// Goes through the work of a group's GPUs once, side by side.
class IdleInside::Pass {
 public:
  Pass(const IdleInside& owner, const std::vector<GpuId>& gpus, Nanoseconds first) : width_(gpus.size()) {
    for (const GpuId gpu : gpus) gpus_.push_back(std::make_unique<BusyTime>(owner.trace_, owner.tracks_.of(gpu), first, owner.stop_));
  }

  // Requires: spans come by their begins.
  void add(const Span& span) {
    close_until(span.begin);
    const std::size_t place = free_.empty() ? busy_.size() : free_.back();
    if (free_.empty())
      busy_.resize(busy_.size() + width_);
    else
      free_.pop_back();
    for (std::size_t i = 0; i < width_; ++i) busy_[place + i] = gpus_[i]->before(span.begin);
    open_.push({span.end, span.end - span.begin, place, span.key});
  }
  [[nodiscard]] Sums take() {
    close_until(GpuOperations::kEver.end);
    return std::move(sums_);
  }

 private:
  struct Open {
    Nanoseconds end, length;
    std::size_t place;  // of how long its GPUs were busy before it
    Key key;
    bool operator>(const Open& other) const noexcept { return end > other.end; }
  };

  void close_until(Nanoseconds t) {
    for (; !open_.empty() && open_.top().end <= t; open_.pop()) {
      const Open& span = open_.top();
      Nanoseconds idle = span.length;
      for (std::size_t i = 0; i < width_; ++i) idle = std::min(idle, span.length - (gpus_[i]->before(span.end) - busy_[span.place + i]));
      sums_[span.key] += idle;
      free_.push_back(span.place);
    }
  }

  const std::size_t width_;
  std::vector<std::unique_ptr<BusyTime>> gpus_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;  // the span that ends first on top
  std::vector<Nanoseconds> busy_;                                      // for each open span one for each GPU
  std::vector<std::size_t> free_;                                      // places in these
  Sums sums_;
};

IdleInside::IdleInside(const Trace& trace, std::size_t spans_at_once, std::stop_token stop, std::size_t most_pairs)
    : trace_(trace),
      tracks_(trace),
      spans_at_once_(spans_at_once),
      stop_(std::move(stop)),
      most_pairs_(most_pairs),
      file_(scratch_folder(), "It takes up to ten bytes for each range.") {
  std::vector<std::set<GpuId>> of_processes(trace.processes().size());
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind) && track.key.process < of_processes.size()) of_processes[track.key.process].insert(track.key.gpu);
  std::map<std::set<GpuId>, std::size_t> known;
  for (const std::set<GpuId>& gpus : of_processes) {
    const auto [group, is_new] = known.try_emplace(gpus, groups_.size());
    if (is_new) groups_.push_back({{gpus.begin(), gpus.end()}, {}, {}});
    group_of_process_.push_back(group->second);
  }
}

void IdleInside::add(ProcessId process, TimeRange span, Key key) {
  groups_[group_of_process_[process]].held.push_back({span.begin, span.end, key});
  ++held_;
}

void IdleInside::make_room() {
  if (held_ < spans_at_once_) return;
  for (Group& group : groups_)
    if (!write(group)) return add_sums_of_held();
  held_ = 0;
}

Result<void> IdleInside::write(Group& group) {
  if (group.held.empty()) return {};
  std::sort(group.held.begin(), group.held.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Run run;
  std::string bytes;
  for (std::size_t first = 0; first < group.held.size(); first += kBlockSpans) {
    const auto block = std::span(group.held).subspan(first, std::min(kBlockSpans, group.held.size() - first));
    bytes.clear();
    Nanoseconds before = 0;
    for (const Span& span : block) {
      append_varint(zigzag(span.begin - before), bytes);
      append_varint(static_cast<std::uint64_t>(span.end - span.begin), bytes);
      append_varint(span.key, bytes);
      before = span.begin;
    }
    run.push_back({file_.size(), static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(block.size())});
    if (auto written = file_.append(std::as_bytes(std::span(bytes))); !written) return written;
  }
  group.runs.push_back(std::move(run));
  group.held.clear();
  return {};
}

// Without a file: what is in memory is summed now.
void IdleInside::add_sums_of_held() {
  for (Group& group : groups_) {
    std::vector<Run> in_file = std::exchange(group.runs, {});
    if (const auto sums = sums_of(group))  // nothing is read from the file
      for (const auto& [key, idle] : *sums) sums_[key] += idle;
    group.runs = std::move(in_file);
  }
  held_ = 0;
}

// The GPUs of the group that count for its spans.
std::vector<GpuId> IdleInside::gpus_for(const Group& group) const {
  std::size_t spans = group.held.size();
  for (const Run& run : group.runs)
    for (const Block& block : run) spans += block.spans;
  const std::size_t most = std::max(kLeastGpus, most_pairs_ / std::max<std::size_t>(1, spans));
  if (group.gpus.size() <= most) return group.gpus;
  std::vector<std::pair<std::size_t, GpuId>> by_operations;
  for (const GpuId gpu : group.gpus) {
    std::size_t operations = 0;
    for (const TrackId track : tracks_.of(gpu))
      for (const LaneId lane : trace_.tracks()[track].lanes) operations += trace_.lane(lane).size();
    by_operations.emplace_back(operations, gpu);
  }
  std::stable_sort(by_operations.begin(), by_operations.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<GpuId> gpus;
  for (std::size_t i = 0; i < most; ++i) gpus.push_back(by_operations[i].second);
  return gpus;
}

// Takes the spans of the group.
Result<IdleInside::Sums> IdleInside::sums_of(Group& group) const {
  const std::vector<GpuId> gpus = gpus_for(group);
  std::vector<RunReader> readers;
  std::sort(group.held.begin(), group.held.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  readers.emplace_back(std::exchange(group.held, {}));
  for (Run& run : std::exchange(group.runs, {})) readers.emplace_back(file_, std::move(run));
  using Head = std::pair<Nanoseconds, std::size_t>;  // the begin of a reader's next span
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto look_at = [&](std::size_t reader) -> Result<void> {
    if (auto filled = readers[reader].fill(); !filled) return filled;
    if (!readers[reader].at_end()) heads.emplace(readers[reader].front().begin, reader);
    return {};
  };
  for (std::size_t reader = 0; reader < readers.size(); ++reader)
    if (auto looked = look_at(reader); !looked) return looked.error();
  if (heads.empty()) return Sums();
  Pass pass(*this, gpus, heads.top().first);
  while (!heads.empty() && !stop_.stop_requested()) {
    const std::size_t first = heads.top().second;
    heads.pop();
    pass.add(readers[first].front());
    readers[first].next();
    if (auto looked = look_at(first); !looked) return looked.error();
  }
  return pass.take();
}

Result<IdleInside::Sums> IdleInside::take() {
  std::vector<Result<Sums>> results(groups_.size(), Sums());
  parallel_for(groups_.size(), [&](std::size_t i) { results[i] = sums_of(groups_[i]); });
  for (Result<Sums>& result : results) {
    if (!result) return result.error();
    for (const auto& [key, idle] : *result) sums_[key] += idle;
  }
  return std::move(sums_);
}

}  // namespace lanescope::analysis
