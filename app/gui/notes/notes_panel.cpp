#include "notes/notes_panel.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include "model/notes/notes.h"

namespace lanescope::ui {

using timeline::TimelineView;

NotesPanel::NotesPanel(TimelineView& view, QWidget* parent)
    : QWidget(parent),
      view_(view),
      table_(new ResultTable(tr("Notes"), this)),
      text_(new QLineEdit(this)),
      add_(new QPushButton(tr("Mark with a name"), this)),
      remove_(new QPushButton(tr("Remove"), this)),
      where_(new QLabel(tr("Notes are kept beside the trace, in a file whose name is that of the trace with .notes at the end."), this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(4, 3, 8, 3);
  line->setSpacing(6);
  line->addWidget(add_);
  line->addWidget(text_, 1);
  line->addWidget(remove_);
  column->addLayout(line);
  column->addWidget(where_);
  column->addWidget(table_, 1);
  text_->setAccessibleName(tr("Text of the note"));
  text_->setPlaceholderText(tr("Text of the chosen note; Enter changes it"));
  text_->setMaxLength(static_cast<int>(kLongestNote));
  where_->setWordWrap(true);
  where_->setContentsMargins(8, 0, 8, 3);
  where_->setForegroundRole(QPalette::PlaceholderText);
  table_->setObjectName(QStringLiteral("notes-table"));
  auto* remove = new QAction(tr("Remove the note"), this);
  remove->setShortcut(QKeySequence::Delete);
  remove->setShortcutContext(Qt::WidgetShortcut);
  table_->addAction(remove);
  connect(remove, &QAction::triggered, this, &NotesPanel::removeChosen);
  connect(remove_, &QPushButton::clicked, this, &NotesPanel::removeChosen);
  connect(add_, &QPushButton::clicked, &view, &TimelineView::askForMarker);
  connect(text_, &QLineEdit::returnPressed, this, &NotesPanel::changeText);
  connect(table_, &ResultTable::rowChosen, this, &NotesPanel::showChosen);
  connect(&view, &TimelineView::markersChanged, this, &NotesPanel::list);
  list();
}

void NotesPanel::list() {
  const QScopedValueRollback rollback(listing_, true);
  const std::optional<TimelineView::Marker> before = chosen();
  auto table = std::make_shared<stats::Table>(std::vector<stats::Column>{stats::integers("Start", stats::Unit::kNanoseconds), stats::texts("Note")});
  std::optional<TableRow> again;
  for (const TimelineView::Marker& marker : view_.markers()) {
    if (before && marker.time == before->time) again = table->row_count();
    table->add_row(marker.time, table->add_text(marker.text.toStdString()));
  }
  table_->setTable(std::move(table));
  if (again) table_->chooseRow(*again);
  showChosen();
}

std::optional<TimelineView::Marker> NotesPanel::chosen() const {
  const std::optional<TableRow> row = table_->chosenRow();
  if (!row || !table_->results().table()) return std::nullopt;
  const stats::Table& table = *table_->results().table();
  const std::string_view text = table.text(table.columns()[1].text(*row));
  return TimelineView::Marker{table.columns()[0].integer(*row), QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()))};
}

void NotesPanel::showChosen() {
  const std::optional<TimelineView::Marker> note = chosen();
  text_->setText(note ? note->text : QString());
  text_->setEnabled(note.has_value());
  remove_->setEnabled(note.has_value());
  if (note && !listing_) view_.goToTime(note->time);
}

void NotesPanel::changeText() {
  const QString text = text_->text();
  if (const std::optional<TimelineView::Marker> note = chosen()) view_.setMarkerText(note->time, text);
}

void NotesPanel::removeChosen() {
  if (const std::optional<TimelineView::Marker> note = chosen()) view_.removeMarker(note->time);
}

}  // namespace lanescope::ui
