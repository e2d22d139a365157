// What a timeline is made of.
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
  void lay_out(QSize size);
  void update_scroll_bar();

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
  std::map<QString, std::vector<QKeyCombination>> keys;  // of commands, by id, that somebody gave others
  std::optional<Nanoseconds> last_marker;                // that somebody went to
};

}  // namespace lanescope::timeline
