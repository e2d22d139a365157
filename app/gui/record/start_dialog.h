// Common parts of dialogs that start a program.
#pragma once

#include <initializer_list>

#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>

#include "record/capture_form.h"

namespace lanescope::ui {

// Fills the dialog from top to bottom: its fields, the capture forms, the problem, and buttons. The button `start` and Enter accept. If the dialog is lower
// than its content, the fields and capture forms scroll; the rest stays in sight. The problem is hidden when any answer changes.
void fill_start_dialog(QDialog& dialog, QFormLayout* fields, std::initializer_list<CaptureForm*> captures, QLabel* problem, const QString& start);

// As high as its content, as far as the screen has room.
void fit_start_dialog(QDialog& dialog, int width_in_characters);

// Puts questions into a scroll area for windows that are lower than they need. Takes ownership.
[[nodiscard]] QWidget* scrolled_questions(QWidget* questions);

// Reserves two lines for the problem, also while there is none, so that no field moves; a longer sentence scrolls. Takes ownership of the label.
[[nodiscard]] QWidget* room_for_problem(QLabel* problem);
[[nodiscard]] QWidget* room_for_lines(QLabel* text, int lines);  // the same for `lines` lines

// The field that a shown problem is about: it has another colour and the focus, is in sight, and assistive technology reads the problem with it. It is an
// ordinary field again when the problem is hidden.
class WrongField : public QObject {
 public:
  explicit WrongField(QWidget* problem);  // becomes its child
  void mark(QWidget& field, const QString& sentence);
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void unmark();
  QPointer<QWidget> field_;
};

// A field for environment variables, one per line.
void prepare_environment(QPlainTextEdit& field);

}  // namespace lanescope::ui
