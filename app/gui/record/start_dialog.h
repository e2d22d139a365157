// What dialogs that start a program have in common.
#pragma once

#include <initializer_list>

#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>

#include "record/capture_form.h"

namespace lanescope::ui {

// Fills the dialog, from top to bottom: its fields, what is recorded, what is wrong with that, and buttons. The one called `start` accepts, and so
// does Enter. Where the dialog is lower than all of that, fields and what is recorded are scrolled; the rest stays in sight.
void fill_start_dialog(QDialog& dialog, QFormLayout* fields, std::initializer_list<CaptureForm*> captures, QLabel* problem, const QString& start);

// As high as what is in it, as far as the screen has room.
void fit_start_dialog(QDialog& dialog, int width_in_characters);

// Questions that are scrolled where there is less room than they need. It takes them.
[[nodiscard]] QWidget* scrolled_questions(QWidget* questions);

// Room for two lines of what is wrong, which stays where nothing is, so that no field moves; a longer sentence is scrolled. It takes the label.
[[nodiscard]] QWidget* room_for_problem(QLabel* problem);

// A field for variables of the environment, one a line.
void prepare_environment(QPlainTextEdit& field);

}  // namespace lanescope::ui
