#include "window/keys/key_bindings_dialog.h"

#include <algorithm>
#include <array>

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include "base/room/screen_room.h"

namespace lanescope::ui {

// Tab and Escape keep their usual meaning: next field, and close.
bool KeyField::event(QEvent* event) {
  const bool is_press = event->type() == QEvent::KeyPress;
  if (!is_press && event->type() != QEvent::ShortcutOverride) return QLineEdit::event(event);
  const auto* press = static_cast<QKeyEvent*>(event);
  constexpr std::array kNotTaken{Qt::Key_Tab,  Qt::Key_Backtab, Qt::Key_Escape,  Qt::Key_Control, Qt::Key_Shift,    Qt::Key_Alt,
                                 Qt::Key_Meta, Qt::Key_AltGr,   Qt::Key_Super_L, Qt::Key_Super_R, Qt::Key_CapsLock, Qt::Key_unknown};
  if (std::find(kNotTaken.begin(), kNotTaken.end(), press->key()) != kNotTaken.end()) return QLineEdit::event(event);
  event->accept();
  if (!is_press) return true;
  Qt::KeyboardModifiers modifiers = press->modifiers() & ~(Qt::KeypadModifier | Qt::GroupSwitchModifier);
  const QString text = press->text();  // "?" implies Shift
  if (!text.isEmpty() && text[0].isPrint() && !text[0].isLetterOrNumber() && !text[0].isSpace()) modifiers &= ~Qt::ShiftModifier;
  emit pressed(QKeySequence(QKeyCombination(modifiers, static_cast<Qt::Key>(press->key()))));
  return true;
}

KeyBindingsDialog::KeyBindingsDialog(KeyBindings& bindings, QWidget* parent)
    : QDialog(parent),
      bindings_(bindings),
      filter_(new QLineEdit(this)),
      table_(new QTableWidget(this)),
      key_(new KeyField(this)),
      none_(new QPushButton(tr("&No key"), this)),
      reset_(new QPushButton(tr("Reset to de&fault"), this)),
      reset_all_(new QPushButton(tr("Reset &all"), this)),
      message_(new QLabel(this)) {
  layOut();
  list();
  connect(&bindings, &KeyBindings::changed, this, &KeyBindingsDialog::list);
  connect(filter_, &QLineEdit::textChanged, this, &KeyBindingsDialog::filter);
  connect(filter_, &QLineEdit::returnPressed, this, [this] {  // moves to the first match
    for (int row = 0; row < table_->rowCount(); ++row)
      if (!table_->isRowHidden(row)) {
        table_->selectRow(row);
        return key_->setFocus(Qt::OtherFocusReason);
      }
  });
  connect(key_, &KeyField::pressed, this, [this](const QKeySequence& key) { say(bindings_.choose(chosen(), key)); });
  connect(none_, &QPushButton::clicked, this, [this] { say(bindings_.choose(chosen(), {})); });
  connect(reset_, &QPushButton::clicked, this, [this] { say(bindings_.reset(chosen())); });
  connect(reset_all_, &QPushButton::clicked, this, [this] {
    bindings_.resetAll();
    say({});
  });
  connect(table_, &QTableWidget::itemSelectionChanged, this, &KeyBindingsDialog::enable);
  table_->selectRow(0);
}

void KeyBindingsDialog::layOut() {
  setWindowTitle(tr("Change keys"));
  filter_->setPlaceholderText(tr("Filter commands"));
  filter_->setAccessibleName(tr("Filter commands"));
  table_->setAccessibleName(tr("Commands and their keys"));
  table_->setColumnCount(2);
  table_->setHorizontalHeaderLabels({tr("Command"), tr("Keys")});
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  table_->horizontalHeader()->setDefaultSectionSize(fontMetrics().averageCharWidth() * 30);
  table_->verticalHeader()->hide();
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTabKeyNavigation(false);
  key_->setAccessibleName(tr("Press the key for the chosen command"));
  message_->setWordWrap(true);
  message_->setTextFormat(Qt::PlainText);
  auto* line = new QHBoxLayout;
  line->addWidget(new QLabel(tr("Press a key for it:"), this));
  for (QWidget* part : std::initializer_list<QWidget*>{key_, none_, reset_, reset_all_}) line->addWidget(part);
  auto* close = new QDialogButtonBox(QDialogButtonBox::Close, this);
  // Enter, for example in the filter, must not remove the key of a command.
  for (QPushButton* button : {none_, reset_, reset_all_, close->button(QDialogButtonBox::Close)}) button->setAutoDefault(false);
  connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->addWidget(filter_);
  column->addWidget(table_, 1);
  column->addLayout(line);
  column->addWidget(message_);
  column->addWidget(close);
  resize(QSize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 36).boundedTo(room_on_screen(*this)));
}

void KeyBindingsDialog::list() {
  const int row_before = table_->currentRow();
  table_->setRowCount(static_cast<int>(bindings_.commands().size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const KeyBindings::Command& command = bindings_.commands()[static_cast<std::size_t>(row)];
    const KeyBindings::Keys keys = bindings_.keys(command.id);
    auto* shown = new QTableWidgetItem(QKeySequence::listToString(keys, QKeySequence::NativeText).replace(QStringLiteral("; "), QStringLiteral(", ")));
    QFont font = shown->font();
    font.setBold(keys != command.at_first);  // changed keys are bold
    shown->setFont(font);
    table_->setItem(row, 0, new QTableWidgetItem(command.text));
    table_->setItem(row, 1, shown);
  }
  if (row_before >= 0) table_->selectRow(row_before);
}

void KeyBindingsDialog::filter(const QString& text) {
  for (int row = 0; row < table_->rowCount(); ++row) {
    const bool matches = table_->item(row, 0)->text().contains(text, Qt::CaseInsensitive) || table_->item(row, 1)->text().contains(text, Qt::CaseInsensitive);
    table_->setRowHidden(row, !matches);
  }
  enable();
}

// A hidden command is not chosen.
void KeyBindingsDialog::enable() {
  for (QWidget* part : std::initializer_list<QWidget*>{key_, none_, reset_}) part->setEnabled(!chosen().isEmpty());
  message_->clear();
}

QString KeyBindingsDialog::chosen() const {
  const int row = table_->currentRow();
  return row < 0 || table_->isRowHidden(row) ? QString() : bindings_.commands()[static_cast<std::size_t>(row)].id;
}

void KeyBindingsDialog::say(const QString& problem) { message_->setText(problem); }

}  // namespace lanescope::ui
