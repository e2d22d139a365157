// Rows of a trace as an SVG picture: for pages, notebooks and papers. What it shows is what the timeline shows: columns as high as they are
// busy, events that are wide enough as boxes with their names, counters from least to most, the idle time of GPUs in the colours of its causes, and paler
// where a collective waits for another rank.
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

// A row of a picture. Counters have their values, what only groups others its name.
struct SvgRow {
  enum class Form : std::uint8_t {
    kCollapsed,    // one line of all that is below
    kOuterLevels,  // of nested ranges, a line for each of the outer two
    kExpanded,     // a line for each level
  };
  RowIndex row = 0;
  std::string name;
  Form form = Form::kCollapsed;
  std::uint32_t indent = 0;  // steps that the name begins further to the right
  bool operator==(const SvgRow&) const = default;
};

struct SvgPicture {
  TimeRange range;                  // that is shown; not empty
  std::vector<SvgRow> rows;         // from top to bottom
  std::int32_t width = 960;         // px of the whole picture; the names of the rows take 200 of them. At least 300
  std::optional<TimeRange> marked;  // a part of the time that stands out
  struct Note {
    Nanoseconds time = 0;
    std::string text;
  };
  std::vector<Note> notes = {};  // by time; those within the range have a line, and their text above the rows
};

// The picture as one element <svg>, without anything from elsewhere. `idle`, `communication`: null where they are not known. Names are escaped. O(rows · lanes
// · width · log n); less than 40 bytes for each column of each row, and some hundred for each box. `contents` are of the same trace, and know what they were
// asked for from then on: of several pictures, only the first takes O(events) for a level.
[[nodiscard]] std::string svg_text(const Trace& trace, const RowTree& tree, const SvgPicture& picture, ContentCache& contents, const IdleTime* idle,
                                   const CommunicationTime* communication);

// Text as it stands within an element or an attribute of XML or HTML: no byte of it is markup, nor a control character.
[[nodiscard]] std::string markup_text(std::string_view text);

// The first so many letters, with an ellipsis where there are more.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t letters);

// The rows that say most of a part of time: the work of each GPU, then ranges and CUDA calls of the threads that were busiest with them
// there; where there are none of either, processors and threads. At most `most`, in the order of the tree; each is named with whose it is. O(rows · log n),
// with contents that are known.
[[nodiscard]] std::vector<SvgRow> telling_rows(const RowTree& tree, ContentCache& contents, TimeRange range, std::size_t most);

// The rows of which something is in sight in a window of this height, as RowLayout::in_sight(), from top to bottom and without answers to questions: open
// and closed as they are there, named in the language that is shown. Of pinned rows, and where rows of two traces alternate, names say whose they are.
// `layout`: of `tree`, with those `sides`.
[[nodiscard]] std::vector<SvgRow> rows_in_sight(const RowTree& tree, const RowLayout& layout, TraceSides sides, std::int32_t scroll,
                                                std::int32_t window_height);

}  // namespace lanescope::timeline
