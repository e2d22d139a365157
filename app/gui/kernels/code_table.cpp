#include "kernels/code_table.h"

#include <algorithm>

#include <QFontDatabase>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPalette>
#include <QScrollBar>

#include "tables/table_look.h"

namespace lanescope::ui {
namespace {

constexpr float kHottest = 0.75F;  // opacity of the colour of the row with most samples
const QColor kHeat(214, 84, 40);   // readable behind light and dark text
constexpr int kCharacters[] = {10, 20, 8};
constexpr qsizetype kFewestOfText = 24, kMostOfText = 240;  // characters

QString share_text(double share) {
  if (share <= 0) return {};
  if (share < 0.0005) return QStringLiteral("<0.1 %");
  return QString::number(100 * share, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

}  // namespace

CodeTableModel::CodeTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void CodeTableModel::setRows(std::vector<CodeRow> rows, QStringList further) {
  beginResetModel();
  rows_ = std::move(rows);
  further_ = std::move(further);
  marked_.clear();
  hottest_ = 0;
  warmest_.assign(static_cast<std::size_t>(further_.size()), 0);
  for (const CodeRow& row : rows_) {
    hottest_ = std::max(hottest_, row.share);
    for (std::size_t i = 0; i < std::min(warmest_.size(), row.numbers.size()); ++i) warmest_[i] = std::max(warmest_[i], row.numbers[i].warmth);
  }
  endResetModel();
}

double CodeTableModel::warmth(int row) const {
  const CodeRow& of = rows_[static_cast<std::size_t>(row)];
  if (hasSamples()) return of.share;
  return of.numbers.empty() ? 0 : of.numbers.front().warmth;
}

void CodeTableModel::mark(std::vector<int> rows) {
  if (rows == marked_) return;
  marked_ = std::move(rows);
  if (!rows_.empty()) emit dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, columnCount() - 1), {Qt::BackgroundRole});
}

int CodeTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }
int CodeTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns + static_cast<int>(further_.size()); }

QVariant CodeTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const CodeRow& row = rows_[static_cast<std::size_t>(index.row())];
  const auto further = static_cast<std::size_t>(std::max(0, index.column() - kColumns));
  const CodeNumber* const number = index.column() >= kColumns && further < row.numbers.size() ? &row.numbers[further] : nullptr;
  const auto heat = [](double share) {
    QColor colour = kHeat;
    colour.setAlphaF(kHottest * static_cast<float>(share));
    return colour;
  };
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case kSamples:
          return share_text(row.share);
        case kReason:
          return row.reason;
        case kPlace:
          return row.place;
        case kText:
          return row.text;
        default:
          return number == nullptr ? QString() : number->text;
      }
    case Qt::TextAlignmentRole:
      return static_cast<int>((index.column() == kSamples || index.column() == kPlace || index.column() >= kColumns ? Qt::AlignRight : Qt::AlignLeft) |
                              Qt::AlignVCenter);
    case Qt::FontRole:
      if (index.column() == kText || index.column() == kPlace) return QFontDatabase::systemFont(QFontDatabase::FixedFont);
      return {};
    case Qt::ForegroundRole:
      if (!row.is_source || index.column() == kPlace) return QGuiApplication::palette().brush(QPalette::PlaceholderText);
      return {};
    case Qt::BackgroundRole: {
      if (row.share > 0 && hottest_ > 0 && (index.column() == kSamples || index.column() == kReason)) return heat(row.share / hottest_);
      if (number != nullptr && number->warmth > 0) return heat(number->warmth / warmest_[further]);
      if (std::binary_search(marked_.begin(), marked_.end(), index.row())) return hover_color();
      return {};
    }
    case Qt::ToolTipRole:
      return row.tip;
    default:
      return {};
  }
}

QVariant CodeTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole && (section == kReason || section == kText))
    return static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);  // aligned like the cells below
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kSamples:
      return tr("Samples");
    case kReason:
      return tr("Waits for");
    case kPlace:
      return tr("At");
    case kText:
      return tr("Code");
    default:
      return further_.value(section - kColumns);
  }
}

void CodeTable::scrollTo(const QModelIndex& index, ScrollHint hint) {
  const int place = horizontalScrollBar()->value();
  QTableView::scrollTo(index, hint);
  horizontalScrollBar()->setValue(place);
}

CodeTable::CodeTable(const QString& accessible_name, QWidget* parent) : QuietFocus<QTableView>(parent), model_(new CodeTableModel(this)) {
  setModel(model_);
  setAccessibleName(accessible_name);
  apply_table_look(*this);
  setWordWrap(false);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setFrameShape(QFrame::NoFrame);
  for (int column = 0; column < CodeTableModel::kText; ++column) setColumnWidth(column, kCharacters[column] * fontMetrics().averageCharWidth());
  // The column is as wide as its longest line, because cut-off code is hard to read.
  connect(model_, &QAbstractItemModel::modelReset, this, [this] {
    qsizetype longest = kFewestOfText;
    for (const CodeRow& row : model_->rows()) longest = std::max(longest, std::min(kMostOfText, row.text.size()));
    for (int column = CodeTableModel::kColumns; column < model_->columnCount(); ++column) resizeColumnToContents(column);
    // Numbers come before the code, which is wide; empty columns are hidden.
    horizontalHeader()->moveSection(horizontalHeader()->visualIndex(CodeTableModel::kText), model_->columnCount() - 1);
    const bool shows_samples = model_->hasSamples() || model_->columnCount() == CodeTableModel::kColumns;
    for (const int column : {CodeTableModel::kSamples, CodeTableModel::kReason}) setColumnHidden(column, !shows_samples);
    const QFontMetrics letters(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text_width_ = letters.horizontalAdvance(QString(longest + 2, u'0'));
    fitText();
  });
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) emit rowChosen(current.row());
  });
}

void CodeTable::resizeEvent(QResizeEvent* event) {
  QuietFocus<QTableView>::resizeEvent(event);
  fitText();
}

// The code column gets the room that the other columns leave.
void CodeTable::fitText() {
  const int others = horizontalHeader()->length() - (isColumnHidden(CodeTableModel::kText) ? 0 : columnWidth(CodeTableModel::kText));
  setColumnWidth(CodeTableModel::kText, std::max(text_width_, viewport()->width() - others));
}

void CodeTable::chooseRow(int row) {
  if (row < 0 || row >= model_->rowCount()) return;
  setCurrentIndex(model_->index(row, CodeTableModel::kText));
  scrollTo(model_->index(row, CodeTableModel::kPlace), QAbstractItemView::PositionAtCenter);
}

int CodeTable::nextHotRow() const {
  const std::vector<CodeRow>& rows = model_->rows();
  std::vector<int> hot;
  for (int row = 0; row < static_cast<int>(rows.size()); ++row)
    if (model_->warmth(row) > 0) hot.push_back(row);
  if (hot.empty()) return -1;
  std::stable_sort(hot.begin(), hot.end(), [&](int a, int b) { return model_->warmth(a) > model_->warmth(b); });
  const auto chosen = std::find(hot.begin(), hot.end(), chosenRow());
  return chosen == hot.end() || chosen + 1 == hot.end() ? hot.front() : *(chosen + 1);
}

int CodeTable::find(const QString& text) const {
  const std::vector<CodeRow>& rows = model_->rows();
  const int count = static_cast<int>(rows.size());
  for (int step = 1; step <= count && !text.isEmpty(); ++step) {
    const int row = (std::max(-1, chosenRow()) + step) % count;
    if (rows[static_cast<std::size_t>(row)].text.contains(text, Qt::CaseInsensitive)) return row;
  }
  return -1;
}

}  // namespace lanescope::ui
