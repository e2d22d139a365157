#include "tables/table_look.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <QGuiApplication>
#include <QHeaderView>

namespace lanescope::ui {
namespace {

constexpr int kMeasuredRows = 100;
constexpr int kWidestInCharacters = 48;
constexpr int kNarrowestInCharacters = 16;  // of those that give up room

}  // namespace

QColor hover_color() {
  QColor color = QGuiApplication::palette().color(QPalette::Highlight);
  color.setAlpha(56);
  return color;
}

void apply_table_look(QTableView& table) {
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setWordWrap(false);
  table.setShowGrid(false);
  table.setAlternatingRowColors(true);
  table.setFrameShape(QFrame::NoFrame);
  table.setTextElideMode(Qt::ElideRight);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setMinimumSectionSize(1);
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 4);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setResizeContentsPrecision(kMeasuredRows);
}

// Numbers are shown whole. Where the table is too narrow for all columns, the wide ones, which hold texts, give up room: a text that is
// elided says more than one that is out of sight.
void fit_columns(QTableView& table) {
  const int character = table.fontMetrics().averageCharWidth();
  table.resizeColumnsToContents();
  QHeaderView* header = table.horizontalHeader();
  std::vector<int> widths;
  for (int column = 0; column < header->count(); ++column)
    widths.push_back(header->isSectionHidden(column) ? 0 : std::min(header->sectionSize(column), character * kWidestInCharacters));
  std::vector<int*> texts;  // of `widths`
  for (int column = 0; column < header->count(); ++column)
    if ((table.model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight) == 0)
      texts.push_back(&widths[static_cast<std::size_t>(column)]);
  const int room = table.viewport()->width();
  int excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
  while (excess > 0 && !texts.empty()) {  // the widest down to the next one, and so on
    const int widest = **std::max_element(texts.begin(), texts.end(), [](const int* a, const int* b) { return *a < *b; });
    if (widest <= character * kNarrowestInCharacters) break;
    int next = character * kNarrowestInCharacters;
    for (const int* width : texts)
      if (*width < widest) next = std::max(next, *width);
    const auto several = static_cast<int>(std::count_if(texts.begin(), texts.end(), [&](const int* width) { return *width == widest; }));
    const int step = std::min(widest - next, (excess + several - 1) / several);
    for (int* width : texts)
      if (*width == widest) *width -= std::max(1, step);
    excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
  }
  for (int column = 0; column < header->count(); ++column)
    if (!header->isSectionHidden(column)) header->resizeSection(column, widths[static_cast<std::size_t>(column)]);
}

}  // namespace lanescope::ui
