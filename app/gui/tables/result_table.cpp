#include "tables/result_table.h"

#include <algorithm>
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

namespace lanescope::ui {
namespace {

constexpr stats::TimeUnit kPlainUnit = stats::TimeUnit::kNanoseconds;

std::vector<std::string> titles(const stats::Table* table) {
  std::vector<std::string> list;
  if (table)
    for (const stats::Column& column : table->columns()) list.push_back(column.title);
  return list;
}

}  // namespace

ResultTable::ResultTable(const QString& accessible_name, QWidget* parent) : QuietFocus(parent), model_(new ResultModel(this)) {
  setAccessibleName(accessible_name);
  apply_table_look(*this);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setModel(model_);
  setContextMenuPolicy(Qt::CustomContextMenu);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  horizontalHeader()->setSectionsMovable(true);
  setSortingEnabled(true);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section, int before, int after) {
    if (!fitting_ && before > 0 && after > 0) chosen_widths_[title(section)] = after;  // not where a column was hidden or shown
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
    if (model_->table()) sorted_ = {section, order};
  });
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) emit rowChosen(model_->tableRow(current.row()));
  });
}

// What is sorted by outlives the time in which there is no table.
void ResultTable::setTable(std::shared_ptr<const stats::Table> table) {
  const QScopedValueRollback fitting(fitting_, true);
  const bool was_empty = model_->table() == nullptr;
  if (!table) return model_->setTable(nullptr);
  const bool other_columns = std::exchange(titles_, titles(table.get())) != titles(table.get());
  if (other_columns) sorted_ = {-1, Qt::AscendingOrder};
  const auto [section, order] = sorted_;
  model_->setTable(std::move(table));
  horizontalHeader()->setSortIndicator(section, order);
  model_->sort(section, order);
  if (other_columns || was_empty) fitColumns();
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
  fit_columns(*this, chosen);
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
  QTableView::keyPressEvent(event);
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
    add_line([&](const stats::Column& column) {
      stats::append_cell(text, *table, column, model_->tableRow(index.row()), kPlainUnit, stats::Separators::kNone);
    });
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
