#include "model/trace/compact/segment_check.h"

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope {

std::string damaged_segments(const std::filesystem::path& path) {
  const auto reader = TraceFileReader::open(path);
  if (!reader) return {};
  FileCondition condition;
  condition.finished = true;  // else it has no index
  for (const IndexedFrame& frame : reader->index()) {
    if (frame.type != proto::FRAME_LANE_SEGMENT || reader->read(frame)) continue;
    if (condition.damaged_frames++ == 0 || frame.offset < condition.first_damage) condition.first_damage = frame.offset;
  }
  return condition.sentence();
}

}  // namespace lanescope
