#include "tables/table_look.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QStyle>

namespace lanescope::ui {
namespace {

constexpr int kMeasuredRows = 100;
constexpr int kWideInCharacters = 48;     // texts are first shortened down to this,
constexpr int kNarrowInCharacters = 16;   // then all except the first texts down to this,
constexpr int kLegibleInCharacters = 28;  // then the first ones, which say what the line is about,
constexpr int kShortestInCharacters = 8;  // then those behind them once more, and the first ones, too, if all columns then fit. Otherwise the table is scrolled
constexpr std::size_t kFirstTexts = 2;

// Reduces the sum of the widths to the room by shrinking the widest of `some` to the next widest, and so on, but not below `least`.
void shrink(const std::vector<int>& widths, const std::vector<int*>& some, int room, int least) {
  int excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
  while (excess > 0 && !some.empty()) {
    const int widest = **std::max_element(some.begin(), some.end(), [](const int* a, const int* b) { return *a < *b; });
    if (widest <= least) return;
    int next = least;
    for (const int* width : some)
      if (*width < widest) next = std::max(next, *width);
    const auto several = static_cast<int>(std::count_if(some.begin(), some.end(), [&](const int* width) { return *width == widest; }));
    const int step = std::min(widest - next, (excess + several - 1) / several);
    for (int* width : some)
      if (*width == widest) *width -= std::max(1, step);
    excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
  }
}

// Titles have room for the arrow of the order, which only one of them shows. Takes that of the others as far as cells need less than their title.
void take_room_of_arrows(const QTableView& table, const std::map<int, int>& chosen, std::vector<int>& widths, int room) {
  const QHeaderView* header = table.horizontalHeader();
  const QAbstractItemView& cells = table;  // whose sizeHintForColumn() is public
  const QStyle* style = table.style();
  const int margins = 2 * (style->pixelMetric(QStyle::PM_HeaderMargin, nullptr, header) + 2);
  for (int column = 0; column < header->count(); ++column) {
    const int excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
    if (excess <= 0) return;
    if (header->isSectionHidden(column) || chosen.contains(column) || column == header->sortIndicatorSection()) continue;
    int& width = widths[static_cast<std::size_t>(column)];
    const QString title = table.model()->headerData(column, Qt::Horizontal).toString();
    const int least = std::max(header->fontMetrics().horizontalAdvance(title) + margins, cells.sizeHintForColumn(column) + 1);
    width = std::max(std::min(width, least), width - excess);
  }
}

// Keeps the line height equal to that of the font, which the desktop may change at any time.
class LinesOfFont : public QObject {
 public:
  explicit LinesOfFont(QTableView& table) : QObject(&table), table_(table) {
    table.installEventFilter(this);
    fit();
  }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::FontChange) fit();
    return false;
  }

 private:
  void fit() { table_.verticalHeader()->setDefaultSectionSize(line_height(table_)); }
  QTableView& table_;
};

}  // namespace

bool restore_header(QHeaderView& header, const QByteArray& state) {
  const QByteArray before = header.saveState();
  if (!header.restoreState(state)) return false;
  const int columns = header.model() == nullptr ? header.count() : header.model()->columnCount(header.rootIndex());
  bool has_others = header.count() != columns || header.sortIndicatorSection() >= columns;
  for (int column = 0; column < columns && !has_others; ++column) has_others = header.visualIndex(column) >= columns;
  if (has_others) header.restoreState(before);
  return !has_others;
}

QColor hover_color() {
  QColor color = QGuiApplication::palette().color(QPalette::Highlight);
  color.setAlpha(56);
  return color;
}

int line_height(const QAbstractItemView& list) { return list.fontMetrics().height() + 4; }

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
  new LinesOfFont(table);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setResizeContentsPrecision(kMeasuredRows);
  QObject::connect(table.horizontalHeader(), &QHeaderView::sectionClicked, &table, [&table] {
    if (table.isSortingEnabled()) table.scrollToTop();
  });
}

// The rule for all tables: numbers are shown whole. If the table is too narrow for all columns, columns with texts shrink, because an elided text, whose
// tooltip has the whole, is more useful than one out of sight; the first texts and telling ones shrink last. If there is more room, a text column at the end
// takes it, for longer texts that may follow.
void fit_columns(QTableView& table, const std::map<int, int>& chosen, const std::set<int>& telling, FirstTexts first) {
  const int character = table.fontMetrics().averageCharWidth();
  table.resizeColumnsToContents();
  QHeaderView* header = table.horizontalHeader();
  std::vector<int> widths;
  for (int column = 0; column < header->count(); ++column) {
    const auto by_hand = chosen.find(column);
    widths.push_back(header->isSectionHidden(column) ? 0 : by_hand != chosen.end() ? by_hand->second : header->sectionSize(column));
  }
  std::vector<int*> texts;                 // pointers into `widths`
  std::vector<int*> first_texts, further;  // of these
  for (int column = 0; column < header->count(); ++column) {
    const bool is_number = (table.model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0;
    if (is_number || header->isSectionHidden(column) || chosen.contains(column)) continue;
    int* const width = &widths[static_cast<std::size_t>(column)];
    (texts.size() < kFirstTexts || telling.contains(column) ? first_texts : further).push_back(width);
    texts.push_back(width);
  }
  const int room = table.viewport()->width();
  shrink(widths, texts, room, character * kWideInCharacters);
  shrink(widths, further, room, character * kNarrowInCharacters);
  shrink(widths, first_texts, room, character * kLegibleInCharacters);
  take_room_of_arrows(table, chosen, widths, room);
  shrink(widths, further, room, character * kShortestInCharacters);
  const int least = character * kShortestInCharacters;
  int spare = 0;  // what the first texts can yield
  for (const int* width : first_texts) spare += std::max(0, *width - least);
  if (first == FirstTexts::kAnyWidth && std::accumulate(widths.begin(), widths.end(), 0) - spare <= room) shrink(widths, first_texts, room, least);
  int last = header->count() - 1;  // the last visible column, from left to right
  while (last >= 0 && header->isSectionHidden(header->logicalIndex(last))) --last;
  if (last >= 0) {
    int* const width = &widths[static_cast<std::size_t>(header->logicalIndex(last))];
    if (std::find(texts.begin(), texts.end(), width) != texts.end()) *width += std::max(0, room - std::accumulate(widths.begin(), widths.end(), 0));
  }
  for (int column = 0; column < header->count(); ++column)
    if (!header->isSectionHidden(column)) header->resizeSection(column, widths[static_cast<std::size_t>(column)]);
}

}  // namespace lanescope::ui
