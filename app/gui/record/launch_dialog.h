// Asks for a program to record. Remembers what was last asked for, program by program.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>

#include "base/settings.h"
#include "record/capture_form.h"

namespace lanescope::ui {

class LaunchDialog : public QDialog {
  Q_OBJECT

 public:
  explicit LaunchDialog(Settings& settings, QWidget* parent = nullptr);

  void setLaunch(const LaunchSettings& launch);
  [[nodiscard]] LaunchSettings launch() const;

  void accept() override;  // only where launch_request() accepts; what was asked for is remembered

 private:
  void browseProgram();
  void browseFolder();

  Settings& settings_;
  QComboBox* program_;
  QLineEdit* arguments_;
  QLineEdit* working_directory_;
  QPlainTextEdit* environment_;
  QCheckBox* inherit_environment_;
  QCheckBox* overwrite_;
  QLineEdit* output_;
  QLabel* problem_;
  CaptureForm* capture_;
};

}  // namespace lanescope::ui
