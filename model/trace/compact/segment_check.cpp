#include "model/trace/compact/segment_check.h"

#include <algorithm>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope {

std::string damaged_segments(const std::filesystem::path& path) {
  auto reader = TraceFileReader::open(path);
  if (!reader) return {};
  const std::vector<IndexedFrame> index = reader->index();
  const auto is_segment = [](const IndexedFrame& frame) { return frame.type == proto::FRAME_LANE_SEGMENT; };
  if (std::none_of(index.begin(), index.end(), is_segment)) return {};
  while (reader->next()) continue;
  return reader->condition().sentence();
}

}  // namespace lanescope
