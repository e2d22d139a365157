// The parts of a timeline.
#pragma once

#include <map>
#include <vector>

#include <QScrollBar>

#include "input/prompt.h"
#include "parts/canvas.h"
#include "parts/minimap.h"
#include "parts/row_header.h"
#include "parts/ruler_bar.h"
#include "timeline/widget/timeline_view.h"
#include "view/view_state.h"

namespace lanescope::timeline {

struct TimelineView::Parts {
  Parts(TimelineView* view, Selection& selection);
  void layOut(QSize size);
  void updateScrollBar();

  static constexpr int kFirstHeaderWidth = 300;

  ViewState state;
  Minimap* minimap;
  RulerBar* ruler;
  QWidget* corner;
  RowHeader* header;
  Canvas* canvas;
  QScrollBar* scroll_bar;
  Prompt* prompt;
  QWidget* grip = nullptr;
  int header_width = kFirstHeaderWidth;
  std::map<QString, std::vector<QKeyCombination>> keys;  // of commands, by id, whose default keys were changed
  std::optional<Nanoseconds> last_marker;                // the last one that the user went to
};

}  // namespace lanescope::timeline
