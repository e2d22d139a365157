#include "event_runs.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "model/file/wire.h"

namespace lanescope {
namespace {

using Row = EventRuns::Row;

constexpr std::size_t kBlockRows = 4'096;
constexpr std::uint64_t kSharesOfGrowth = 2;  // arrays of rows have room for at most as many again
constexpr std::size_t kLeastEarly = 64;       // rows of a track from which on some are handed on
constexpr Nanoseconds kLatenessesKept = 2;    // events may come later than any so far

// More depths would make lanes write their events before their segments are full (LaneWriter), which depends on the order of all events.
constexpr std::uint32_t kMostDepths = 64;

// A function object, so that sorting can inline it.
constexpr auto comes_first = [](const Row& a, const Row& b) noexcept {
  if (a.start != b.start) return a.start < b.start;
  return a.duration != b.duration ? a.duration > b.duration : a.depth < b.depth;
};

void set(Row& row, const Event& event, std::uint32_t depth) noexcept {
  row.start = event.start;
  row.duration = event.duration;
  row.name = event.name;
  row.correlation = event.correlation;
  row.detail = event.detail;
  row.depth = depth;
}

// Writes a row as differences from the one before: times and correlation ids mostly ascend.
void append(const Row& row, const Row& before, std::string& bytes) {
  append_varint(zigzag(row.start - before.start), bytes);
  append_varint(static_cast<std::uint64_t>(row.duration), bytes);
  append_varint(row.name, bytes);
  append_varint(zigzag(std::int64_t{row.correlation} - std::int64_t{before.correlation}), bytes);
  append_varint(zigzag(std::int64_t{row.detail} - std::int64_t{before.detail}), bytes);
  append_varint(static_cast<std::uint32_t>(row.depth + 1), bytes);
}

// Returns null if the bytes end before the row does: they are our own file, so it was changed.
const char* read(const char* at, const char* end, const Row& before, Row& row) {
  std::uint64_t values[6];
  for (std::uint64_t& value : values)
    if (at == nullptr || (at = read_varint(at, end, value)) == nullptr) return nullptr;
  const auto signed_of = [](std::uint64_t raw) { return static_cast<std::int64_t>(raw >> 1 ^ (~(raw & 1) + 1)); };
  row.start = before.start + signed_of(values[0]);
  row.duration = static_cast<Nanoseconds>(values[1]);
  row.name = static_cast<NameId>(values[2]);
  row.correlation = static_cast<std::uint32_t>(before.correlation + signed_of(values[3]));
  row.detail = static_cast<DetailId>(before.detail + signed_of(values[4]));
  row.depth = static_cast<std::uint32_t>(values[5]) - 1;
  return at;
}

}  // namespace

// Reads the rows of one run, a block at a time, or the rows in memory.
class EventRuns::RunReader {
 public:
  explicit RunReader(std::vector<Row> rows) : rows_(std::move(rows)) {}
  RunReader(const ScratchFile& file, Run run) : file_(&file), run_(std::move(run)) {}

  // Must be called first, and after all rows have been used. Fails if the file can't be read.
  Result<void> fill() {
    if (next_ < rows_.size() || block_ == run_.size()) return {};
    const Block& block = run_[block_++];
    bytes_.resize(block.bytes);
    if (auto read_back = file_->read(block.offset, std::as_writable_bytes(std::span(bytes_))); !read_back) return read_back;
    rows_.resize(block.rows);
    next_ = 0;
    const char* at = bytes_.data();
    Row before{};
    for (Row& row : rows_) {
      at = read(at, bytes_.data() + bytes_.size(), before, row);
      if (at == nullptr) return Error{"The temporary file of sorted events was changed by another program. Compact the recording again."};
      before = row;
    }
    return {};
  }
  [[nodiscard]] bool at_end() const noexcept { return next_ == rows_.size(); }
  // The rows in memory: at least one, unless it is at its end.
  [[nodiscard]] Rows rows() const noexcept { return Rows(rows_).subspan(next_); }
  void advance(std::size_t count) noexcept { next_ += count; }

 private:
  std::vector<Row> rows_;
  std::size_t next_ = 0;
  const ScratchFile* file_ = nullptr;
  Run run_;
  std::size_t block_ = 0;
  std::string bytes_;
};

EventRuns::EventRuns(std::uint64_t memory_bytes, std::filesystem::path folder)
    : most_rows_(std::max<std::uint64_t>(kBlockRows, memory_bytes / sizeof(Row) / kSharesOfGrowth)), file_(std::move(folder), std::string(kNeed)) {}

void EventRuns::sort(Track& track) {
  const auto begin = track.rows.begin(), middle = begin + static_cast<std::ptrdiff_t>(track.sorted), end = track.rows.end();
  if (!std::is_sorted(middle, end, comes_first)) std::stable_sort(middle, end, comes_first);
  if (middle != begin && middle != end && comes_first(*middle, *(middle - 1)))
    std::inplace_merge(std::upper_bound(begin, middle, *middle, comes_first), middle, end, comes_first);
  track.sorted = track.rows.size();
}

void EventRuns::take(TrackId id, std::vector<Event> events, std::vector<std::uint32_t> depths) {
  if (!condition_) return;
  add(id, events, depths);
  if (!condition_) has_failed_.store(true, std::memory_order_relaxed);
}

void EventRuns::add(TrackId id, std::span<const Event> events, std::span<const std::uint32_t> depths) {
  if (id >= tracks_.size()) tracks_.resize(id + std::size_t{1});
  size_ += events.size();
  Track& track = tracks_[id];
  if (take_by_depths(id, events, depths)) return;
  const std::size_t before = track.rows.size();
  track.rows.resize(before + events.size());
  Row* row = track.rows.data() + before;
  Nanoseconds latest = track.latest, lateness = track.lateness;
  bool too_early = false;
  for (std::size_t i = 0; i < events.size(); ++i, ++row) {
    const Event& event = events[i];
    set(*row, event, depths.empty() ? kNoDepth : depths[i]);
    too_early |= comes_first(*row, track.last_handed);
    latest = std::max(latest, event.start);
    lateness = std::max(lateness, latest - event.start);
  }
  track.latest = latest;
  track.lateness = lateness;
  track.has_depths |= !depths.empty();
  if (track.handed == Handed::kInOrder && too_early) track.handed = Handed::kTooEarly;
  rows_in_memory_ += events.size();
  if (track.rows.size() >= track.window) hand_on_settled(id);
  if (rows_in_memory_ >= most_rows_now()) make_room();
}

// Nested ranges come when they end, so outer ones come long after they started, but the ranges of each depth come in order. So each goes to the lane of
// its depth at once. The result is the same as if all came in order, because a lane is never taken by a range of another depth. Returns false if the
// events are not like this; then they stay here.
bool EventRuns::take_by_depths(TrackId id, std::span<const Event> events, std::span<const std::uint32_t> depths) {
  Track& track = tracks_[id];
  const bool is_begun = track.handed == Handed::kByDepths;
  if (!is_begun && (depths.empty() || track.has_depths || track.handed != Handed::kNothing || !track.rows.empty() || !may_hand_on(track))) return false;
  bool fits = taker_ != nullptr && depths.size() == events.size() && taker_->held_bytes() < most_rows_ / 2 * sizeof(Row);
  std::vector<Row> rows(fits ? events.size() : 0);
  for (std::size_t i = 0; i < rows.size() && fits; ++i) {
    set(rows[i], events[i], depths[i]);
    fits = depths[i] < kMostDepths;
    if (!fits) break;
    if (depths[i] >= track.last_of_depths.size())
      track.last_of_depths.resize(depths[i] + std::size_t{1}, {std::numeric_limits<Nanoseconds>::min(), 0, 0, 0, 0, 0});
    Row& last = track.last_of_depths[depths[i]];
    fits = !comes_first(rows[i], last) && last.start + last.duration <= rows[i].start;
    last = rows[i];
  }
  if (!fits) {
    if (is_begun) track.handed = Handed::kTooEarly;
    return false;
  }
  track.handed = Handed::kByDepths;
  condition_ = taker_->take_early(id, rows);
  return true;
}

// Rows that may be in memory, excluding those that the taker holds.
std::uint64_t EventRuns::most_rows_now() const {
  return most_rows_ - (taker_ == nullptr ? 0 : std::min<std::uint64_t>(taker_->held_bytes() / sizeof(Row), most_rows_ / 2));
}

// Hands on the first half of the events of the tracks that have most. If that is not possible, all events of a track go to the file.
void EventRuns::make_room() {
  std::vector<TrackId> order(tracks_.size());
  for (TrackId id = 0; id < order.size(); ++id) order[id] = id;
  std::stable_sort(order.begin(), order.end(), [&](TrackId a, TrackId b) { return tracks_[a].rows.size() > tracks_[b].rows.size(); });
  const auto has_room = [&](std::uint64_t rows) { return rows_in_memory_ <= rows || !condition_; };
  const std::uint64_t wanted = most_rows_now() / 2;  // so that there is room for a while
  for (const TrackId id : order) {
    if (tracks_[id].rows.size() < kLeastEarly || has_room(wanted)) break;
    if (may_hand_on(tracks_[id])) hand_on(id, tracks_[id].rows.size() / 2);
  }
  if (has_room(most_rows_now() / 4 * 3)) return;  // events that were written to the file are not handed on any more
  for (const TrackId id : order) {
    if (has_room(wanted)) break;
    if (!may_hand_on(tracks_[id]) || tracks_[id].rows.size() < kLeastEarly) spill(tracks_[id]);
  }
  for (const TrackId id : order)
    if (!has_room(wanted)) spill(tracks_[id]);
}

// Tracks with depths are excluded: an event of some depth may last as long as the recording, and it comes when it ends.
bool EventRuns::may_hand_on(const Track& track) const {
  return taker_ != nullptr && !track.has_depths && track.runs.empty() && track.handed != Handed::kTooEarly &&
         taker_->held_bytes() < most_rows_ / 2 * sizeof(Row);
}

// Hands on all events that are unlikely to be preceded by later ones, while they are still in the cache, except a quarter of the window.
void EventRuns::hand_on_settled(TrackId id) {
  Track& track = tracks_[id];
  if (!may_hand_on(track)) return;
  sort(track);
  const Nanoseconds most = (track.latest - track.rows.front().start) / kLatenessesKept;  // otherwise no event has settled
  const Nanoseconds until = track.latest - kLatenessesKept * std::min(track.lateness, most);
  const auto settled = std::lower_bound(track.rows.begin(), track.rows.end(), until, [](const Row& row, Nanoseconds time) { return row.start < time; });
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(settled - track.rows.begin()), track.rows.size() - kWindow / 4);
  if (count >= kWindow / 4) hand_on(id, count);
  track.window = std::max(kWindow, 2 * track.rows.size());
}

void EventRuns::hand_on(TrackId id, std::size_t count) {
  Track& track = tracks_[id];
  sort(track);
  condition_ = taker_->take_early(id, Rows(track.rows).first(count));
  track.handed = Handed::kInOrder;
  track.last_handed = track.rows[count - 1];
  track.rows.erase(track.rows.begin(), track.rows.begin() + static_cast<std::ptrdiff_t>(count));
  track.sorted = track.rows.size();
  rows_in_memory_ -= count;
}

void EventRuns::spill(Track& track) {
  if (track.rows.empty()) return;
  sort(track);
  condition_ = write(track.rows, track.runs.emplace_back());
  rows_in_memory_ -= track.rows.size();
  track.rows.clear();
  track.sorted = 0;
}

// Runs that were handed on go in front of the others, because of equal events those were taken first.
void EventRuns::take_back(TrackId id) {
  Track& track = tracks_[id];
  if (track.handed == Handed::kNothing || !condition_) return;
  track.handed = Handed::kNothing;
  std::vector<Run> runs;
  bool is_new = true;
  condition_ = taker_->give_back(id, [&](Rows rows) {
    if (rows.empty()) {
      is_new = true;
      return Result<void>();
    }
    if (std::exchange(is_new, false)) runs.emplace_back();
    return write(rows, runs.back());
  });
  track.runs.insert(track.runs.begin(), std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
}

void EventRuns::take_back_all() {
  for (TrackId id = 0; id < tracks_.size(); ++id) take_back(id);
}

Result<void> EventRuns::settle() {
  for (TrackId id = 0; id < tracks_.size(); ++id)
    if (tracks_[id].handed == Handed::kTooEarly) take_back(id);
  return condition_;
}

Result<void> EventRuns::write(Rows rows, Run& run) {
  written_ += rows.size();
  for (std::string bytes; !rows.empty(); bytes.clear()) {
    const Rows block = rows.first(std::min(rows.size(), kBlockRows));
    rows = rows.subspan(block.size());
    Row before{};
    for (const Row& row : block) {
      append(row, before, bytes);
      before = row;
    }
    const std::uint64_t offset = file_.size();
    if (auto written = file_.append(std::as_bytes(std::span(bytes))); !written) return written;
    run.push_back({offset, static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(block.size())});
  }
  return {};
}

Result<void> EventRuns::drain(TrackId id, const std::function<Result<void>(Rows)>& use) {
  Track& of = tracks_[id];
  std::vector<std::unique_ptr<RunReader>> runs;
  for (Run& run : of.runs) runs.push_back(std::make_unique<RunReader>(file_, std::move(run)));
  sort(of);
  rows_in_memory_ -= of.rows.size();
  runs.push_back(std::make_unique<RunReader>(std::move(of.rows)));
  of = {};
  for (const auto& run : runs)
    if (auto filled = run->fill(); !filled) return filled;

  // A heap of the runs that have rows; the run whose next row comes first is on top.
  std::vector<std::size_t> heap;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i]->at_end()) heap.push_back(i);
  const auto comes_later = [&](std::size_t a, std::size_t b) {
    const Row& first = runs[a]->rows().front();
    const Row& second = runs[b]->rows().front();
    return comes_first(second, first) || (!comes_first(first, second) && b < a);
  };
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const std::size_t top = heap.back();
    heap.pop_back();
    RunReader& run = *runs[top];
    // In the common case one run has many rows in front of the others'.
    bool is_first = true;
    while (is_first && !run.at_end()) {
      const Rows rows = run.rows();
      std::size_t count = rows.size();
      if (!heap.empty()) {
        const Row& other = runs[heap.front()]->rows().front();
        const bool goes_first = top < heap.front();  // if they are equal
        const auto stays = [&](const Row& row) { return goes_first ? !comes_first(other, row) : comes_first(row, other); };
        count = 1;
        while (count < rows.size() && stays(rows[count])) ++count;
        is_first = count == rows.size();
      }
      if (auto used = use(rows.first(count)); !used) return used;
      run.advance(count);
      if (run.at_end())
        if (auto filled = run.fill(); !filled) return filled;
      if (is_first && !heap.empty() && !run.at_end()) is_first = !comes_later(top, heap.front());
    }
    if (run.at_end()) continue;
    heap.push_back(top);
    std::push_heap(heap.begin(), heap.end(), comes_later);
  }
  return {};
}

}  // namespace lanescope
