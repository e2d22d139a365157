// Rows of a trace as an SVG picture, for pages, notebooks and papers. It shows the same as the timeline: columns with a height proportional to their busy
// share, wide events as boxes with their names, counters from minimum to maximum, and the idle time of GPUs in the colours of its causes. Waits of a collective
// for another rank are paler.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

// A row of a picture. Rows of counters have their values, rows that only group others have their names.
struct SvgRow {
  enum class Form : std::uint8_t {
    kCollapsed,    // one line that combines everything below
    kOuterLevels,  // for nested ranges, a line for each of the two outermost levels
    kExpanded,     // a line for each level
  };
  RowIndex row = 0;
  std::string name;
  Form form = Form::kCollapsed;
  std::uint32_t indent = 0;  // number of steps by which the name is indented
  bool operator==(const SvgRow&) const = default;
};

struct SvgPicture {
  TimeRange range;                  // the shown part; not empty
  std::vector<SvgRow> rows;         // from top to bottom
  std::int32_t width = 960;         // px of the whole picture; the names of the rows take 200 of them. At least 300
  std::optional<TimeRange> marked;  // a highlighted part of the time
  struct Note {
    Nanoseconds time = 0;
    std::string text;
  };
  std::vector<Note> notes = {};  // by time; notes within the range have a line, and their text above the rows
};

// Returns the picture as one element <svg> without external references. `idle`, `communication`: null if not known. Names are escaped. O(rows · lanes · width ·
// log n); less than 40 bytes for each column of each row, and some hundred bytes for each box. `contents` must be of the same trace; they keep what was
// requested: of several pictures, only the first takes O(events) for a level.
[[nodiscard]] std::string svg_text(const Trace& trace, const RowTree& tree, const SvgPicture& picture, ContentCache& contents, const IdleTime* idle,
                                   const CommunicationTime* communication);

// Escapes a text for an element or an attribute of XML or HTML: no byte of it is markup or a control character.
[[nodiscard]] std::string markup_text(std::string_view text);

// The first `letters` letters, with an ellipsis if there are more.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t letters);

// The most informative rows for a part of time: the work of each GPU, then the ranges and CUDA calls of the threads that were busiest with them there; if there
// are none of either, processors and threads. At most `most` rows, in the order of the tree; each name includes the owner. O(rows · log n), if the contents are
// known.
[[nodiscard]] std::vector<SvgRow> telling_rows(const RowTree& tree, ContentCache& contents, TimeRange range, std::size_t most);

// The rows that are at least partly in sight in a window of this height, as RowLayout::in_sight(), from top to bottom, without answer rows. They are expanded
// or collapsed as in the layout, and named in the language of the viewer. The names of pinned rows, and of alternating rows of two traces, include their
// owners. `layout`: of `tree`, with these `sides`.
[[nodiscard]] std::vector<SvgRow> rows_in_sight(const RowTree& tree, const RowLayout& layout, TraceSides sides, std::int32_t scroll,
                                                std::int32_t window_height);

}  // namespace lanescope::timeline
