// What the rules find: what was seen, what it costs, what to do about it, and the tables behind it. Choosing a row shows its place in the
// timeline.
//
// Rules run when asked for: while the panel is in sight, for the whole trace.
#pragma once

#include <memory>
#include <vector>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTabWidget>
#include <QTextBrowser>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "model/analysis/rule.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class FindingsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit FindingsPanel(AnsweredTrace& answered, QWidget* parent = nullptr);

  // What is shown, for the command line: a file, a folder, or several files as one.
  void setFiles(const QStringList& paths);
  // Applies one rule by its name, or all of ours: "".
  void chooseRule(const QString& name);

  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }
  [[nodiscard]] ResultTable& findings() { return *findings_; }
  [[nodiscard]] QString answer() const { return answer_->toPlainText(); }
  [[nodiscard]] QString command() const { return command_->text(); }
  // The tables behind the answer, by their titles.
  [[nodiscard]] QTabWidget& pages() { return *pages_; }

 signals:
  void sourceLineRequested(const QString& place);  // of the kernel that was just selected: "file.cu:12 < main.cu:40"

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void layOut();
  void refresh();
  void apply();
  void showAnswers(const AnsweredTrace::Subject& of, Result<std::vector<analysis::RuleAnswer>> answers);
  void describe(TableRow row);
  void showFinding(TableRow row);
  [[nodiscard]] QString nothingFound() const;  // by any rule, and why. Requires: they have answered
  void showTables();
  void keepPages(int count);  // of pages_: the first ones
  [[nodiscard]] ResultTable* newPage(const QString& title);
  void showSentence(const QString& sentence);
  [[nodiscard]] const analysis::Rule* rule() const;
  [[nodiscard]] QString request() const;  // "gpu_bubbles:gap=5us"; empty for all rules

  AnsweredTrace& answered_trace_;
  AnsweredTraceBox* of_;
  QComboBox* rule_;
  QLineEdit* arguments_;
  QLabel* command_;
  ResultTable* findings_;
  QTabWidget* pages_;
  QTextBrowser* answer_;
  QStringList files_;

  LatestJob job_;
  PacedUpdate paced_;
  AnsweredTrace::Subject asked_;  // what is looked through, or was last
  QString asked_request_;
  AnsweredTrace::Subject answered_;           // what the answers are about, which may be an earlier state of what is asked
  std::vector<analysis::Finding> found_;      // ranked: a row each
  std::optional<TableRow> described_;         // of them
  std::string described_name_;                // which one that is, also of an earlier state
  std::vector<analysis::RuleAnswer> tables_;  // of the rules that were applied
};

}  // namespace lanescope::ui
