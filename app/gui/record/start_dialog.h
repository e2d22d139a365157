// What dialogs that start a program have in common.
#pragma once

#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>

#include "record/capture_form.h"

namespace lanescope::ui {

// Fills the dialog, from top to bottom: its fields, what is recorded, what is wrong with that, and buttons. The one called `start` accepts, and so
// does Enter.
void fill_start_dialog(QDialog& dialog, QFormLayout* fields, CaptureForm* capture, QLabel* problem, const QString& start);

// A field for variables of the environment, one a line.
void prepare_environment(QPlainTextEdit& field);

}  // namespace lanescope::ui
