// Asks for a program to record on another machine, or on several at once, or for a process that runs on one. Remembers the last choices for each machine, and
// shows what can be recorded there before a recording starts.
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

  // Starts the recording, or returns one sentence that says why not. Without it, the dialog only asks.
  using Start = std::function<QString(const RemoteSettings& settings)>;
  void setStart(Start start) { start_ = std::move(start); }

  // Asks the machine what can be recorded on it; the answer, or the reason why there is none, appears below its name.
  void examine();
  [[nodiscard]] bool isExamining() const { return job_.isRunning(); }
  // Copies this lanescope to the machine, unless that copy is there already, enters its path, and examines the machine by it.
  void copyRecorder();
  // Asks the machine for processes that can be attached to; the user can then choose one.
  void listProcesses();
  [[nodiscard]] bool isListing() const { return list_job_.isRunning(); }

  // If something is wrong, shows the reason and stays open; else stores the choices, starts the recording and closes.
  void accept() override;

 private:
  void layOut();
  void showProblem(const QString& sentence);
  void showProblem(const QString& sentence, QWidget& field);
  [[nodiscard]] QWidget& wrongField(const RemoteSettings& asked);  // requires: remote_work() fails for them
  void forgetAnswer();
  void usePath(const QString& lanescope);
  void showFitting();
  [[nodiscard]] bool attaches() const;

  Settings& settings_;
  QComboBox* target_;
  QPushButton* examine_;
  QLabel* answer_;
  QLineEdit* lanescope_;
  QPushButton* copy_;
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
  WrongField* wrong_;
  QFormLayout* form_;
  CaptureForm* capture_;         // for a program that is started
  CaptureForm* attach_capture_;  // for a running process
  Start start_;
  LatestJob job_;
  LatestJob list_job_;
};

// The output of lanescope doctor --json as text for people: GPUs first, then limitations with their remedies. Says so if `json` is not such an output.
[[nodiscard]] QString examination_text(const QByteArray& json);

}  // namespace lanescope::ui
