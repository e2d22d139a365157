// Asks for a program to record. Remembers the last choices for each program.
#pragma once

#include <functional>

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>

#include "base/state/settings.h"
#include "record/capture_form.h"
#include "record/output_field.h"
#include "record/wrong_answer.h"

namespace lanescope::ui {

class LaunchDialog : public QDialog {
  Q_OBJECT

 public:
  explicit LaunchDialog(Settings& settings, QWidget* parent = nullptr);

  void setLaunch(const LaunchSettings& launch);
  [[nodiscard]] LaunchSettings launch() const;

  // Starts the program, or returns one sentence that says why not. Without it, the dialog only asks.
  using Start = std::function<QString(const LaunchSettings& settings)>;
  void setStart(Start start) { start_ = std::move(start); }

  // If something is wrong, shows the reason and stays open; else stores the choices, starts the program and closes.
  void accept() override;

 private:
  void takeCommand();
  void showProblem(const QString& sentence);
  void showProblem(const QString& sentence, QWidget& field);
  [[nodiscard]] QWidget& fieldOf(LaunchField field);
  void browseProgram();
  void browseFolder();

  Settings& settings_;
  QComboBox* program_;
  QLineEdit* arguments_;
  QLineEdit* working_directory_;
  QPlainTextEdit* environment_;
  QCheckBox* inherit_environment_;
  OutputField* output_;
  QLabel* problem_;
  WrongField* wrong_;
  CaptureForm* capture_;
  Start start_;
};

}  // namespace lanescope::ui
