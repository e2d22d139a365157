#include "tables/result_table.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>

#include "model/stats/format.h"
#include "tables/table_look.h"
#include "tables/table_place.h"

namespace lanescope::ui {
namespace {

constexpr stats::TimeUnit kPlainUnit = stats::TimeUnit::kNanoseconds;

// Finds rows of a table in a later state of it. Rows with the same identity are matched in their order. O(rows) for each call, however many rows are wanted.
class RowsAgain {
 public:
  void want(TableRow row, std::uint64_t identity) {
    alike_[identity].wanted.push_back(wanted_.size());
    wanted_.push_back({row, 0});
  }
  template <typename IdentityOf>
  void number(std::size_t rows, IdentityOf identity_of) {
    for (auto& [identity, alike] : alike_)
      std::sort(alike.wanted.begin(), alike.wanted.end(), [this](std::size_t a, std::size_t b) { return wanted_[a].row < wanted_[b].row; });
    pass(rows, identity_of, [this](TableRow row, std::size_t place, std::size_t i) {
      if (wanted_[i].row != row) return false;
      wanted_[i].place = place;
      return true;
    });
  }
  // In the order of want().
  template <typename IdentityOf>
  std::vector<std::optional<TableRow>> find(std::size_t rows, IdentityOf identity_of) {
    std::vector<std::optional<TableRow>> found(wanted_.size());
    pass(rows, identity_of, [&](TableRow row, std::size_t place, std::size_t i) {
      if (wanted_[i].place != place) return false;
      found[i] = row;
      return true;
    });
    return found;
  }

 private:
  struct Wanted {
    TableRow row;
    std::size_t place;  // among rows with the same identity
  };
  // Rows with the same identity.
  struct Alike {
    std::vector<std::size_t> wanted;  // by row, and so by place
    std::size_t seen = 0;
    std::size_t next = 0;  // index into `wanted`
  };
  // Visits rows that may be the next wanted row of their identity, until `visit` returns true.
  template <typename IdentityOf, typename Visit>
  void pass(std::size_t rows, IdentityOf identity_of, Visit visit) {
    if (wanted_.empty()) return;
    for (auto& [identity, alike] : alike_) alike.seen = alike.next = 0;
    for (TableRow row = 0; row < rows; ++row) {
      const auto found = alike_.find(identity_of(row));
      if (found == alike_.end()) continue;
      Alike& alike = found->second;
      const std::size_t place = alike.seen++;
      if (alike.next < alike.wanted.size() && visit(row, place, alike.wanted[alike.next])) ++alike.next;
    }
  }
  std::vector<Wanted> wanted_;
  std::unordered_map<std::uint64_t, Alike> alike_;
};

std::vector<std::string> titles(const stats::Table* table) {
  std::vector<std::string> list;
  if (table)
    for (const stats::Column& column : table->columns()) list.push_back(column.title);
  return list;
}

}  // namespace

ResultTable::ResultTable(const QString& name, const QString& accessible_name, QWidget* parent) : QuietFocus(parent), model_(new ResultModel(this)) {
  setObjectName(name);
  setAccessibleName(accessible_name);
  apply_table_look(*this);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setModel(model_);
  setContextMenuPolicy(Qt::CustomContextMenu);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  horizontalHeader()->setSectionsMovable(true);
  setSortingEnabled(true);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section, int before, int after) {
    if (!fitting_ && before > 0 && after > 0) chosen_widths_[title(section)] = after;  // not if a column was hidden or shown
  });
  horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this, &ResultTable::showHeaderMenu);
  auto* copy = new QAction(tr("Copy as TSV"), this);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  addAction(copy);
  connect(copy, &QAction::triggered, this, &ResultTable::copySelection);
  connect(this, &QTableView::customContextMenuRequested, this, &ResultTable::showMenu);
  connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) { emit rowActivated(model_->tableRow(index.row())); });
  connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this](int section, Qt::SortOrder order) {
    if (!model_->table()) return;
    const bool moves = sorted_.first != section;  // the title with the arrow needs room for it
    sorted_ = {section, order};
    if (moves && !fitting_) fitColumns();
  });
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid() && !is_being_filled_) emit rowChosen(model_->tableRow(current.row()));
  });
}

std::uint64_t ResultTable::identityOf(TableRow row) const {
  return names_.empty() ? identity_of_row(*model_->table(), row) : std::hash<std::string>()(names_[row]);
}

// The sorting is kept while there is no table.
void ResultTable::setTable(std::shared_ptr<const stats::Table> table, std::vector<std::string> names, std::vector<TableRow> leaders) {
  const QScopedValueRollback fitting(fitting_, true);
  const QScopedValueRollback filling(is_being_filled_, true);
  const bool was_empty = model_->rowCount() == 0;  // its columns were fitted only to their titles
  if (!table) {
    names_.clear();
    return model_->setTable(nullptr);
  }
  const bool other_columns = std::exchange(titles_, titles(table.get())) != titles(table.get());
  if (other_columns) sorted_ = {-1, Qt::AscendingOrder};
  const auto [section, order] = sorted_;
  const TablePlace place(*this);
  const bool is_kept = model_->table() && !other_columns;
  RowsAgain again;
  if (is_kept)
    for (const int line : place.lines()) again.want(model_->tableRow(line), identityOf(model_->tableRow(line)));
  if (is_kept) again.number(model_->table()->row_count(), [this](TableRow row) { return identityOf(row); });
  model_->setTable(std::move(table), std::move(leaders));
  names_ = std::move(names);
  horizontalHeader()->setSortIndicator(section, order);
  model_->sort(section, order);
  if (other_columns || was_empty) fitColumns();
  if (!is_kept) return scrollToTop();
  const std::vector<int> line_of = model_->linesOfRows();
  std::vector<int> lines;
  for (const std::optional<TableRow> row : again.find(model_->table()->row_count(), [this](TableRow each) { return identityOf(each); }))
    lines.push_back(row ? line_of[*row] : TablePlace::kGone);
  place.restore(*this, lines);
}

QString ResultTable::title(int section) const { return model_->headerData(section, Qt::Horizontal, Qt::DisplayRole).toString(); }

void ResultTable::setChosenWidths(const QVariantMap& widths) {
  chosen_widths_ = widths;
  fitColumns();
}

void ResultTable::fitColumns() {
  const QScopedValueRollback fitting(fitting_, true);
  std::map<int, int> chosen;
  for (int section = 0; section < model_->columnCount(); ++section)
    if (const int width = chosen_widths_.value(title(section)).toInt(); width > 0) chosen[section] = width;
  std::set<int> telling;
  for (int section = 0; section < model_->columnCount(); ++section)
    if (title(section) == telling_) telling.insert(section);
  for (const int section : std::exchange(left_out_, {})) setColumnHidden(section, hidden_.contains(section));
  const auto is_too_narrow = [this] { return horizontalHeader()->length() > viewport()->width(); };
  for (const QString& each : dispensable_) {
    fit_columns(*this, chosen, telling, FirstTexts::kLegible);
    if (!is_too_narrow()) return;
    for (int section = 0; section < model_->columnCount(); ++section)
      if (title(section) == each && sorted_.first != section && !chosen.contains(section) && !isColumnHidden(section)) {
        setColumnHidden(section, true);
        left_out_.insert(section);
      }
  }
  fit_columns(*this, chosen, telling, FirstTexts::kAnyWidth);
}

void ResultTable::setHiddenColumns(std::set<int> sections) {
  hidden_ = std::move(sections);
  for (int section = 0; section < model_->columnCount(); ++section) setColumnHidden(section, hidden_.contains(section));
  left_out_.clear();
  fitColumns();
}

void ResultTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fitColumns();
}

std::optional<TableRow> ResultTable::chosenRow() const {
  const QModelIndex current = currentIndex();
  return current.isValid() ? std::optional(model_->tableRow(current.row())) : std::nullopt;
}

void ResultTable::chooseRow(TableRow row) {
  for (int i = 0; i < model_->rowCount(); ++i)
    if (model_->tableRow(i) == row) return selectRow(i);
}

void ResultTable::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (const std::optional<TableRow> row = chosenRow(); enter && row) return emit rowActivated(*row);
  QuietFocus::keyPressEvent(event);
}

void ResultTable::copySelection() const {
  const std::shared_ptr<const stats::Table>& table = model_->table();
  QModelIndexList rows = selectionModel()->selectedRows();
  if (!table || rows.isEmpty()) return;
  std::sort(rows.begin(), rows.end());
  std::string text;
  const auto add_line = [&](auto add_cell) {
    for (std::size_t i = 0; i < table->columns().size(); ++i) {
      if (i > 0) text += '\t';
      add_cell(table->columns()[i]);
    }
    text += '\n';
  };
  add_line([&](const stats::Column& column) { text += stats::shown_title(column, kPlainUnit); });
  for (const QModelIndex& index : rows)
    add_line(
        [&](const stats::Column& column) { stats::append_cell(text, *table, column, model_->tableRow(index.row()), kPlainUnit, stats::Separators::kNone); });
  QGuiApplication::clipboard()->setText(QString::fromStdString(text));
}

TableFiles* ResultTable::files() const {
  for (QWidget* around = parentWidget(); around != nullptr; around = around->parentWidget())
    if (auto* files = dynamic_cast<TableFiles*>(around)) return files;
  return nullptr;
}

void ResultTable::showMenu(const QPoint& position) {
  QMenu menu;
  menu.addActions(actions());
  if (TableFiles* const files = this->files()) {
    QAction* export_all = menu.addAction(tr("Export the table as CSV…"), this, [this, files] { files->saveTable(*this); });
    export_all->setEnabled(model_->rowCount() > 0);
  }
  menu.exec(viewport()->mapToGlobal(position));
}

void ResultTable::showHeaderMenu(const QPoint& position) {
  QMenu menu;
  QAction* fit = menu.addAction(tr("Fit the columns"), this, [this] { setChosenWidths({}); });
  fit->setEnabled(!chosen_widths_.isEmpty());
  menu.exec(horizontalHeader()->mapToGlobal(position));
}

}  // namespace lanescope::ui
