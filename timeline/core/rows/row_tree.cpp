#include "timeline/core/rows/row_tree.h"

#include "row_tree_builder.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

void append(Level& to, const Level& sources) { to.insert(to.end(), sources.begin(), sources.end()); }

}  // namespace

MemoryClass memory_class(const MemoryDetail& detail) noexcept {
  if (detail.operation == MemoryOperation::kSet) return MemoryClass::kSet;
  switch (detail.copy_kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kHostToArray:
    case CopyKind::kUnifiedHostToDevice:
      return MemoryClass::kHostToDevice;
    case CopyKind::kDeviceToHost:
    case CopyKind::kArrayToHost:
    case CopyKind::kUnifiedDeviceToHost:
      return MemoryClass::kDeviceToHost;
    case CopyKind::kArrayToArray:
    case CopyKind::kArrayToDevice:
    case CopyKind::kDeviceToArray:
    case CopyKind::kUnifiedDeviceToDevice:
    case CopyKind::kDeviceToDevice:
      return MemoryClass::kDeviceToDevice;
    case CopyKind::kPeerToPeer:
      return MemoryClass::kPeerToPeer;
    case CopyKind::kHostToHost:
      return MemoryClass::kHostToHost;
    case CopyKind::kUnknown:
      break;
  }
  return MemoryClass::kOther;
}

std::optional<MemoryClass> memory_class_of(std::string_view name_of_event) noexcept {
  MemoryDetail detail;
  detail.operation = MemoryOperation::kSet;
  if (memory_operation_name(detail) == name_of_event) return memory_class(detail);
  detail.operation = MemoryOperation::kCopy;
  for (auto kind = static_cast<int>(CopyKind::kUnknown); kind <= static_cast<int>(CopyKind::kUnifiedDeviceToDevice); ++kind) {
    detail.copy_kind = static_cast<CopyKind>(kind);
    if (memory_operation_name(detail) == name_of_event) return memory_class(detail);
  }
  return std::nullopt;
}

std::string_view memory_class_name(MemoryClass operation) noexcept {
  switch (operation) {
    case MemoryClass::kHostToDevice:
      return "HtoD";
    case MemoryClass::kDeviceToHost:
      return "DtoH";
    case MemoryClass::kDeviceToDevice:
      return "DtoD";
    case MemoryClass::kPeerToPeer:
      return "PtoP";
    case MemoryClass::kHostToHost:
      return "HtoH";
    case MemoryClass::kSet:
      return "Memset";
    case MemoryClass::kOther:
      break;
  }
  return "Other";
}

bool LaneSource::matches(const Trace& trace, const Event& event) const noexcept {
  if (name && event.name != *name) return false;
  return !memory || memory_class(trace.memory_detail(event.detail)) == *memory;
}

bool is_behind(TimeRange known, std::optional<Nanoseconds> now) noexcept {
  constexpr Nanoseconds kMostUnknown = 10;  // a tenth of the known time
  return now && *now - known.end > known.length() / kMostUnknown;
}

RowTree::RowTree(const Trace& trace) {
  SegmentSums sums;
  *this = RowTree(trace, sums);
}

RowTree::RowTree(const Trace& trace, SegmentSums& sums, std::optional<Nanoseconds> now) {
  RowTreeBuilder(trace, sums, *this, now).build();
  sums.forget_unused();
}

std::optional<RowIndex> RowTree::find(std::string_view key) const {
  const auto found = by_key_.find(std::string(key));
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

void RowTree::set_answer(const std::string& title, std::uint32_t levels) {
  if (const auto before = find(kAnswerKey)) {
    rows_.pop_back();
    by_key_.erase(std::string(kAnswerKey));
  }
  if (levels == 0) return;
  Row row;
  row.key = kAnswerKey;
  row.label = Message::verbatim(title);
  row.kind = RowKind::kAnswer;
  row.answer_levels = levels;
  by_key_.emplace(row.key, static_cast<RowIndex>(rows_.size()));
  rows_.push_back(std::move(row));
}

std::optional<RowTree::Place> RowTree::place_of(LaneId lane) const {
  if (lane >= place_of_lane_.size()) return std::nullopt;
  return place_of_lane_[lane];
}

std::vector<Level> overview(const RowTree& tree) {
  Level gpus, calls, processors, threads;
  for (const Row& row : tree.rows()) {
    if (row.kind == RowKind::kGpuHardware) append(gpus, row.all);
    if (row.kind == RowKind::kCudaApi || (row.kind == RowKind::kNvtx && calls.empty()))
      append(calls, row.levels.front());  // the outermost level: it covers what is nested in it
    if (row.kind == RowKind::kProcessorGroup) append(processors, row.all);
    if (row.kind == RowKind::kThread) append(threads, row.levels.empty() ? row.all : row.levels.front());
  }
  std::vector<Level> levels;
  const bool uses_gpu = !gpus.empty() || !calls.empty();
  for (Level* level : {uses_gpu ? &gpus : &processors, uses_gpu ? &calls : &threads})
    if (!level->empty()) levels.push_back(std::move(*level));
  return levels;
}

Message share_words(const Row& row) {
  const std::vector<Message::Value> share = {{"share", format_share(*row.share)}};
  switch (row.kind) {
    case RowKind::kThread:
      return Message("It ran for {share} of its own time, in the whole recording", share);
    case RowKind::kProcessor:
      return Message("It was used for {share} of the whole recording", share);
    case RowKind::kProcessorGroup:
      return Message("On average, they were used for {share} of the whole recording", share);
    default:
      return Message("{share} of the work of the rows beside it, in the whole recording", share);
  }
}

Message row_title(const Row& row) { return row.share ? Message("{share} {row}", {{"share", format_share(*row.share)}, {"row", row.label}}) : row.label; }

bool is_heading(const Row& row) noexcept {
  return row.depth == 0 || row.kind == RowKind::kGpu || row.kind == RowKind::kProcesses || row.kind == RowKind::kProcess ||
         row.kind == RowKind::kProcessorGroup;
}

std::size_t sharers_of(const Row& row) noexcept {
  // The mean of many equal items is more informative than whether one of them is busy.
  const bool is_mean = row.kind == RowKind::kProcessorGroup || row.kind == RowKind::kQuietThreads;
  return is_mean ? std::max<std::size_t>(1, row.children.size()) : 1;
}

}  // namespace lanescope::timeline
