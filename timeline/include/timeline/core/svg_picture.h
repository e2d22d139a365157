// Rows of a trace as an SVG picture: for pages, notebooks and papers. What it shows is what the timeline shows: columns as high as they are
// busy, events that are wide enough as boxes with their names, the idle time of GPUs in the colours of its causes, and paler where a collective
// waits for another rank.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/core/communication_time.h"
#include "timeline/core/idle_time.h"
#include "timeline/core/level_content.h"
#include "timeline/core/row_tree.h"

namespace lanescope::timeline {

struct SvgPicture {
  TimeRange range;                  // that is shown; not empty
  std::vector<RowIndex> rows;       // from top to bottom, each as when it is collapsed
  std::int32_t width = 960;         // px of the whole picture; the names of the rows take 200 of them. At least 300
  std::optional<TimeRange> marked;  // a part of the time that stands out
};

// The picture as one element <svg>, without anything from elsewhere. `idle`, `communication`: null where they are not known. Names are escaped. O(rows · lanes ·
// width · log n); less than 40 bytes for each column of each row, and some hundred
// for each box.
// `contents` are of the same trace, and know what they were asked for from then on: of several pictures, only the first takes O(events) for a level.
[[nodiscard]] std::string svg_text(const Trace& trace, const RowTree& tree, const SvgPicture& picture, ContentCache& contents, const IdleTime* idle,
                                   const CommunicationTime* communication);

// Text as it stands within an element or an attribute of XML or HTML: no byte of it is markup, nor a control character.
[[nodiscard]] std::string markup_text(std::string_view text);

// The first so many letters, with an ellipsis where there are more.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t letters);

// The rows that say most of a part of time: the work of each GPU, then ranges and CUDA calls of the threads that were busiest with them
// there; where there are none of either, processors and threads. At most `most`, in the order of the tree. O(rows · log n), with contents that are known.
[[nodiscard]] std::vector<RowIndex> telling_rows(const RowTree& tree, ContentCache& contents, TimeRange range, std::size_t most);

}  // namespace lanescope::timeline
