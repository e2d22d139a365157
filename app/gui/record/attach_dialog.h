// Asks for a running process of this machine to record, and shows for each what prevents attaching.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTimer>

#include "base/jobs/latest_job.h"
#include "base/state/settings.h"
#include "collector/attach/process_list.h"
#include "record/capture_form.h"
#include "record/output_field.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class AttachDialog : public QDialog {
  Q_OBJECT

 public:
  explicit AttachDialog(Settings& settings, QWidget* parent = nullptr);

  [[nodiscard]] bool isListing() const { return job_.isRunning(); }
  // The processes that pass the filter; those that use CUDA first.
  [[nodiscard]] std::vector<pid_t> listed() const;
  void choose(pid_t pid);  // a listed process
  [[nodiscard]] AttachSettings attach() const;

  // Asks for the recording of the chosen process if it can be attached to; the choices are stored. The dialog stays open until attachEnded().
  void accept() override;
  // Closes the dialog, or shows the problem and lets the user choose again.
  void attachEnded(const QString& problem);
  [[nodiscard]] bool isAttaching() const { return is_attaching_; }

 signals:
  void requested(const lanescope::ui::AttachSettings& settings);

 private:
  enum class Waiting { kNo, kYes };
  void waitForAttach(Waiting waiting);
  void layOut();
  void list();
  void takeFilter();
  void showProcesses();
  void showChosen();
  [[nodiscard]] QString prospects(const attach::ProcessSummary& process) const;
  [[nodiscard]] const attach::ProcessSummary* chosen() const;
  [[nodiscard]] CaptureChoices shownChoices() const;

  Settings& settings_;
  QLineEdit* filter_;
  QCheckBox* only_cuda_;
  ResultTable* table_;
  QLabel* problem_;
  QCheckBox* outside_;
  CaptureForm* capture_;
  CaptureChoices offered_;  // the last choices that the form was filled with
  OutputField* output_;
  QWidget* choices_;  // everything above, except the problem
  QPushButton* attach_;
  bool is_attaching_ = false;
  QTimer timer_;
  LatestJob job_;
  std::vector<attach::ProcessSummary> processes_;
  std::vector<attach::ProcessSummary> shown_;  // one for each row
  std::string shown_text_;                     // of the table, to detect changes
  std::optional<pid_t> pid_;                   // the chosen process
  QString failure_;                            // why attaching to it failed; empty: not tried since it was chosen
};

}  // namespace lanescope::ui
