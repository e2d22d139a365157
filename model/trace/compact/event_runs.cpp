#include "event_runs.h"

#include <algorithm>
#include <memory>
#include <string>

#include "model/file/wire.h"

namespace lanescope {
namespace {

using Row = EventRuns::Row;

constexpr std::size_t kBlockRows = 4'096;
constexpr std::uint64_t kSharesOfGrowth = 2;  // arrays of rows have room for as many again

bool comes_first(const Row& a, const Row& b) noexcept { return a.start != b.start ? a.start < b.start : a.duration > b.duration; }

void sort(std::vector<Row>& rows) {
  if (!std::is_sorted(rows.begin(), rows.end(), comes_first)) std::stable_sort(rows.begin(), rows.end(), comes_first);
}

// A row as differences from the one before: times and correlation ids ascend, mostly.
void append(const Row& row, const Row& before, std::string& bytes) {
  append_varint(zigzag(row.start - before.start), bytes);
  append_varint(static_cast<std::uint64_t>(row.duration), bytes);
  append_varint(row.name, bytes);
  append_varint(zigzag(std::int64_t{row.correlation} - std::int64_t{before.correlation}), bytes);
  append_varint(zigzag(std::int64_t{row.detail} - std::int64_t{before.detail}), bytes);
  append_varint(static_cast<std::uint32_t>(row.depth + 1), bytes);
}

// Null where the bytes end before the row does: they are our own, and were changed.
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

// The rows of one run, a block at a time; or those that are in memory.
class EventRuns::RunReader {
 public:
  explicit RunReader(std::vector<Row> rows) : rows_(std::move(rows)) {}
  RunReader(const ScratchFile& file, Run run) : file_(&file), run_(std::move(run)) {}

  // To be called first, and when all rows have been looked at. Fails where the file can't be read.
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
  [[nodiscard]] const Row& row() const noexcept { return rows_[next_]; }
  void advance() noexcept { ++next_; }

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

void EventRuns::take(TrackId track, std::span<const Event> events, std::span<const std::uint32_t> depths) {
  if (!condition_) return;
  if (track >= tracks_.size()) tracks_.resize(track + std::size_t{1});
  std::vector<Row>& rows = tracks_[track].rows;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    rows.push_back({event.start, event.duration, event.name, event.correlation, event.detail, depths.empty() ? kNoDepth : depths[i]});
  }
  size_ += events.size();
  rows_in_memory_ += events.size();
  if (rows_in_memory_ >= most_rows_) spill();
}

void EventRuns::spill() {
  for (Track& track : tracks_) {
    if (track.rows.empty()) continue;
    sort(track.rows);
    Run& run = track.runs.emplace_back();
    for (std::span<const Row> rest = track.rows; !rest.empty() && condition_;) {
      const auto block = rest.first(std::min(rest.size(), kBlockRows));
      condition_ = write(block, run);
      rest = rest.subspan(block.size());
    }
    track.rows.clear();
  }
  rows_in_memory_ = 0;
}

Result<void> EventRuns::write(std::span<const Row> rows, Run& run) {
  std::string bytes;
  Row before{};
  for (const Row& row : rows) {
    append(row, before, bytes);
    before = row;
  }
  const std::uint64_t offset = file_.size();
  if (auto written = file_.append(std::as_bytes(std::span(bytes))); !written) return written;
  run.push_back({offset, static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(rows.size())});
  return {};
}

Result<void> EventRuns::drain(TrackId track, const std::function<Result<void>(const Row&)>& use) {
  Track& of = tracks_[track];
  std::vector<std::unique_ptr<RunReader>> runs;
  for (Run& run : of.runs) runs.push_back(std::make_unique<RunReader>(file_, std::move(run)));
  sort(of.rows);
  rows_in_memory_ -= of.rows.size();
  runs.push_back(std::make_unique<RunReader>(std::move(of.rows)));
  of = {};
  for (const auto& run : runs)
    if (auto filled = run->fill(); !filled) return filled;

  // A heap of the runs that have rows, the one whose next row comes first on top.
  std::vector<std::size_t> heap;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i]->at_end()) heap.push_back(i);
  const auto comes_later = [&](std::size_t a, std::size_t b) {
    const Row& first = runs[a]->row();
    const Row& second = runs[b]->row();
    return comes_first(second, first) || (!comes_first(first, second) && b < a);
  };
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const std::size_t top = heap.back();
    heap.pop_back();
    RunReader& run = *runs[top];
    // Mostly one run has many rows in front of the others'.
    do {
      if (auto used = use(run.row()); !used) return used;
      run.advance();
      if (run.at_end())
        if (auto filled = run.fill(); !filled) return filled;
    } while (!run.at_end() && (heap.empty() || !comes_later(top, heap.front())));
    if (run.at_end()) continue;
    heap.push_back(top);
    std::push_heap(heap.begin(), heap.end(), comes_later);
  }
  return {};
}

}  // namespace lanescope
