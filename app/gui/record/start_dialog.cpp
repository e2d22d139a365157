#include "record/start_dialog.h"

#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "base/room/screen_room.h"

namespace lanescope::ui {
namespace {

constexpr int kLowestQuestions = 120;  // px
constexpr int kProblemLines = 2;

// As high as its content if there is room; otherwise scrolls.
class Questions : public QScrollArea {
 public:
  explicit Questions(QWidget* questions) {
    setWidget(questions);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);  // so that the first question has the focus when the dialog opens
    viewport()->setAutoFillBackground(false);
    questions->setAutoFillBackground(false);
  }
  [[nodiscard]] QSize sizeHint() const override { return widget()->sizeHint(); }
  [[nodiscard]] QSize minimumSizeHint() const override {
    const QSize least = widget()->minimumSizeHint();
    return {least.width() + verticalScrollBar()->sizeHint().width(), std::min(least.height(), kLowestQuestions)};
  }
};

// An editable combo box consumes Enter if it contains the typed text; in these dialogs Enter starts the recording.
class EnterStarts : public QObject {
 public:
  explicit EnterStarts(QPushButton* starts) : QObject(starts), starts_(starts) {}
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::KeyPress) return QObject::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key != Qt::Key_Return && key != Qt::Key_Enter) return QObject::eventFilter(watched, event);
    starts_->click();
    return true;
  }

 private:
  QPushButton* starts_;
};

}  // namespace

void fill_start_dialog(QDialog& dialog, QFormLayout* fields, std::initializer_list<CaptureForm*> captures, QLabel* problem, const QString& start) {
  problem->setTextFormat(Qt::PlainText);  // it may contain what the user typed
  problem->setVisible(false);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  QPushButton* accepts = buttons->addButton(start, QDialogButtonBox::AcceptRole);
  auto* questions = new QWidget;
  auto* lines = new QVBoxLayout(questions);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->addLayout(fields);
  for (CaptureForm* capture : captures) lines->addWidget(capture);
  lines->addStretch(1);
  auto* column = new QVBoxLayout(&dialog);
  column->addWidget(new Questions(questions), 1);
  column->addWidget(room_for_problem(problem));
  column->addWidget(buttons);
  for (QPushButton* button : dialog.findChildren<QPushButton*>()) button->setAutoDefault(button == accepts);
  accepts->setDefault(true);
  auto* enter = new EnterStarts(accepts);
  for (QComboBox* list : dialog.findChildren<QComboBox*>())
    if (list->isEditable()) list->installEventFilter(enter);  // the box has the focus on behalf of its line edit
  // After a change, the problem may be solved.
  const auto settle = [problem] { problem->setVisible(false); };
  for (auto* field : dialog.findChildren<QLineEdit*>()) QObject::connect(field, &QLineEdit::textChanged, problem, settle);
  for (auto* field : dialog.findChildren<QPlainTextEdit*>()) QObject::connect(field, &QPlainTextEdit::textChanged, problem, settle);
  for (auto* choice : dialog.findChildren<QComboBox*>()) QObject::connect(choice, &QComboBox::currentIndexChanged, problem, settle);
  for (auto* choice : dialog.findChildren<QCheckBox*>()) QObject::connect(choice, &QCheckBox::toggled, problem, settle);
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
}

QWidget* scrolled_questions(QWidget* questions) { return new Questions(questions); }

QWidget* room_for_problem(QLabel* problem) { return room_for_lines(problem, kProblemLines); }

QWidget* room_for_lines(QLabel* text, int lines) {
  auto* room = new QScrollArea;
  text->setWordWrap(true);
  text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  text->setMargin(0);
  room->setWidget(text);
  room->setWidgetResizable(true);
  room->setFrameShape(QFrame::NoFrame);
  room->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  room->setFocusPolicy(Qt::NoFocus);
  room->viewport()->setAutoFillBackground(false);
  text->setAutoFillBackground(false);
  room->setFixedHeight(text->fontMetrics().lineSpacing() * lines);
  return room;
}

void fit_start_dialog(QDialog& dialog, int width_in_characters) {
  dialog.resize(dialog.fontMetrics().averageCharWidth() * width_in_characters, std::min(dialog.sizeHint().height(), room_on_screen(dialog).height()));
}

WrongField::WrongField(QWidget* problem) : QObject(problem) { problem->installEventFilter(this); }

void WrongField::mark(QWidget& field, const QString& sentence) {
  unmark();
  field_ = &field;
  QPalette palette = field.palette();
  const QColor plain = palette.color(QPalette::Base);
  constexpr QRgb kRed = 0xffd32f2f;
  constexpr int kPlainParts = 3;  // to one of red: text on it stays legible in the light and in the dark theme
  const QColor red(kRed);
  const auto mixed = [&](int a, int b) { return (a * kPlainParts + b) / (kPlainParts + 1); };
  palette.setColor(QPalette::Base, QColor(mixed(plain.red(), red.red()), mixed(plain.green(), red.green()), mixed(plain.blue(), red.blue())));
  field.setPalette(palette);
  field.setAccessibleDescription(sentence);
  field.setFocus(Qt::OtherFocusReason);
  for (QWidget* around = field.parentWidget(); around != nullptr; around = around->parentWidget())
    if (auto* scrolled = qobject_cast<QScrollArea*>(around)) return scrolled->ensureWidgetVisible(&field);
}

void WrongField::unmark() {
  if (field_.isNull()) return;
  field_->setPalette({});
  field_->setAccessibleDescription({});
  field_ = nullptr;
}

bool WrongField::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::HideToParent) unmark();
  return QObject::eventFilter(watched, event);
}

void prepare_environment(QPlainTextEdit& field) {
  constexpr int kLines = 3;
  field.setPlaceholderText(QObject::tr("NAME=VALUE, one a line"));
  field.setTabChangesFocus(true);
  field.setFixedHeight(field.fontMetrics().height() * kLines);
}

}  // namespace lanescope::ui
