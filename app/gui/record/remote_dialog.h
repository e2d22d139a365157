// Asks for a program to record on another machine, or on several at once, or for a process that runs on one. Remembers what was last asked for, machine by
// machine, and shows what can be recorded there before anything begins.
#pragma once

#include <functional>

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

#include "base/jobs/latest_job.h"
#include "base/state/settings.h"
#include "record/capture_form.h"
#include "record/output_field.h"
#include "record/remote_settings.h"

namespace lanescope::ui {

class RemoteDialog : public QDialog {
  Q_OBJECT

 public:
  explicit RemoteDialog(Settings& settings, QWidget* parent = nullptr);

  void set(const RemoteSettings& settings);
  [[nodiscard]] RemoteSettings settings() const;

  // Begins the recording, or returns one sentence why not; without it, the dialog only asks.
  using Start = std::function<QString(const RemoteSettings& settings)>;
  void setStart(Start start) { start_ = std::move(start); }

  // Asks the machine what can be recorded on it; the answer, or why there is none, appears below its name.
  void examine();
  [[nodiscard]] bool isExamining() const { return job_.isRunning(); }
  // Asks it which processes can be attached to; they can then be chosen from.
  void listProcesses();
  [[nodiscard]] bool isListing() const { return list_job_.isRunning(); }

  // Where something stands against it, says what and stays; else remembers what was asked for, begins it and closes.
  void accept() override;

 private:
  void layOut();
  void showProblem(const QString& sentence);
  void forgetAnswer();
  void showFitting();
  [[nodiscard]] bool attaches() const;

  Settings& settings_;
  QComboBox* target_;
  QPushButton* examine_;
  QLabel* answer_;
  QLineEdit* lanescope_;
  QComboBox* what_;
  QComboBox* process_;
  QPushButton* list_;
  QWidget* process_line_;
  QLineEdit* further_;
  QLineEdit* program_;
  QLineEdit* arguments_;
  QLineEdit* folder_;
  QPlainTextEdit* environment_;
  QCheckBox* inherit_environment_;
  OutputField* output_;
  QLabel* problem_;
  QFormLayout* form_;
  CaptureForm* capture_;         // of a program that is started
  CaptureForm* attach_capture_;  // of one that runs
  Start start_;
  LatestJob job_;
  LatestJob list_job_;
};

// What lanescope doctor --json has answered, for people: GPUs first, then what is limited, with the remedy. Where it is no such answer, says so.
[[nodiscard]] QString examination_text(const QByteArray& json);

}  // namespace lanescope::ui
