#include "tables/table_look.h"

#include <algorithm>

#include <QHeaderView>

namespace lanescope::ui {
namespace {

constexpr int kMeasuredRows = 100;
constexpr int kWidestInCharacters = 48;

}  // namespace

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

void fit_columns(QTableView& table) {
  const int widest = table.fontMetrics().averageCharWidth() * kWidestInCharacters;
  table.resizeColumnsToContents();
  QHeaderView* header = table.horizontalHeader();
  for (int column = 0; column < header->count(); ++column) header->resizeSection(column, std::min(header->sectionSize(column), widest));
}

}  // namespace lanescope::ui
