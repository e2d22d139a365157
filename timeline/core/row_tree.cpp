#include "timeline/core/row_tree.h"

#include "row_tree_builder.h"
#include "timeline/core/format.h"

namespace lanescope::timeline {

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

RowTree::RowTree(const Trace& trace) {
  SegmentSums sums;
  *this = RowTree(trace, sums);
}

RowTree::RowTree(const Trace& trace, SegmentSums& sums) {
  RowTreeBuilder(trace, sums, *this).build();
  sums.forget_unused();
}

std::optional<RowIndex> RowTree::find(std::string_view key) const {
  const auto found = by_key_.find(std::string(key));
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

std::optional<RowTree::Place> RowTree::place_of(LaneId lane) const {
  if (lane >= place_of_lane_.size()) return std::nullopt;
  return place_of_lane_[lane];
}

std::string row_title(const Row& row) { return row.share ? format_share(*row.share) + " " + row.label : row.label; }

}  // namespace lanescope::timeline
