#include "notes/notes_panel.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/notes/notes.h"
#include "tables/panel_layout.h"

namespace lanescope::ui {

using timeline::TimelineView;

NotesPanel::NotesPanel(TimelineView& view, QWidget* parent)
    : QWidget(parent),
      view_(view),
      table_(new ResultTable(QStringLiteral("notes-table"), tr("Notes"), this)),
      text_(new QLineEdit(this)),
      add_(new QPushButton(tr("Mark with a name"), this)),
      remove_(new QPushButton(tr("Remove"), this)),
      where_(new QLabel(tr("Notes are kept beside the trace, in a file whose name is that of the trace with .notes at the end."), this)) {
  const auto [column, line] = lay_out(*this);
  line->addWidget(add_);
  line->addWidget(text_, 1);
  line->addWidget(remove_);
  column->addWidget(where_);
  column->addWidget(table_, 1);
  text_->setAccessibleName(tr("Text of the note"));
  text_->setPlaceholderText(tr("Text of the chosen note; Enter changes it"));
  text_->setMaxLength(static_cast<int>(kLongestNote));
  where_->setWordWrap(true);
  where_->setContentsMargins(8, 0, 8, 3);
  where_->setForegroundRole(QPalette::PlaceholderText);
  auto* remove = new QAction(tr("Remove the note"), this);
  remove->setShortcut(QKeySequence::Delete);
  remove->setShortcutContext(Qt::WidgetShortcut);
  table_->addAction(remove);
  connect(remove, &QAction::triggered, this, &NotesPanel::removeChosen);
  connect(remove_, &QPushButton::clicked, this, &NotesPanel::removeChosen);
  connect(add_, &QPushButton::clicked, &view, &TimelineView::askForMarker);
  connect(text_, &QLineEdit::editingFinished, this, &NotesPanel::changeText);
  auto* give_up = new QAction(text_);
  give_up->setShortcut(QKeySequence(Qt::Key_Escape));
  give_up->setShortcutContext(Qt::WidgetShortcut);
  text_->addAction(give_up);
  connect(give_up, &QAction::triggered, this, [this] {
    text_->setModified(false);
    showText();
    table_->setFocus(Qt::ShortcutFocusReason);
  });
  connect(table_, &ResultTable::rowChosen, this, [this] {
    showText();
    if (shown_) view_.goToTime(shown_->time);
  });
  connect(&view, &TimelineView::markersChanged, this, &NotesPanel::list);
  list();
}

void NotesPanel::setFiles(const QMap<QString, QString>& names) {
  files_ = names;
  list();
}

void NotesPanel::list() {
  const bool is_of_several = files_.size() > 1;
  std::vector<stats::Column> columns{stats::integers("Start", stats::Unit::kNanoseconds), stats::texts("Note")};
  if (is_of_several) columns.push_back(stats::texts("File"));
  auto table = std::make_shared<stats::Table>(std::move(columns));
  listed_ = view_.markers();
  std::vector<std::string> names;  // a note with another text is the same one
  std::map<std::pair<Nanoseconds, QString>, int> at_one_time;
  for (const TimelineView::Marker& marker : listed_) {
    const int earlier = at_one_time[std::pair(marker.time, marker.file)]++;
    names.push_back(std::to_string(marker.time) + ' ' + std::to_string(earlier) + ' ' + marker.file.toStdString());
    const auto text = table->add_text(marker.text.toStdString());
    if (is_of_several)
      table->add_row(marker.time, text, table->add_text(files_.value(marker.file).toStdString()));
    else
      table->add_row(marker.time, text);
  }
  table_->setTable(std::move(table), std::move(names));
  showText();
}

std::optional<TimelineView::Marker> NotesPanel::chosen() const {
  const std::optional<TableRow> row = table_->chosenRow();
  return row && *row < listed_.size() ? std::optional(listed_[*row]) : std::nullopt;
}

void NotesPanel::showText() {
  const std::optional<TimelineView::Marker> note = chosen();
  const bool is_being_typed = note && shown_ && shown_->time == note->time && shown_->file == note->file && text_->isModified();
  if (!is_being_typed) text_->setText(note ? note->text : QString());
  shown_ = note;
  text_->setEnabled(note.has_value());
  remove_->setEnabled(note.has_value());
}

void NotesPanel::changeText() {
  const QString text = text_->text();
  const bool is_typed = text_->isModified();
  text_->setModified(false);
  if (shown_ && is_typed) view_.setMarkerText(*shown_, text);
}

void NotesPanel::removeChosen() {
  if (const std::optional<TimelineView::Marker> note = chosen()) view_.removeMarker(*note);
}

}  // namespace lanescope::ui
