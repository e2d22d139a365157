// What the rules find: the observation, its cost, the advice, and the tables behind it. Choosing a row shows its place in the timeline.
//
// Rules run on request, while the panel is in sight, for the whole trace.
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
#include "base/jobs/while_shown.h"
#include "model/analysis/rule.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class FindingsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit FindingsPanel(AnsweredTrace& answered, QWidget* parent = nullptr);

  // The paths that are shown, for the command line: a file, a folder, or several files as one trace.
  void setFiles(const QStringList& paths);
  // Applies one rule by its name, or all built-in rules: "".
  void chooseRule(const QString& name);

  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending(); }
  [[nodiscard]] ResultTable& findings() { return *findings_; }
  [[nodiscard]] QString answer() const { return answer_->toPlainText(); }
  [[nodiscard]] QString command() const { return command_->text(); }
  // The tables behind the answer, named by their titles.
  [[nodiscard]] QTabWidget& pages() { return *pages_; }

 signals:
  void sourceLineRequested(const QString& place);  // a place in the source of the kernel that was just selected: "file.cu:12 < main.cu:40"

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void layOut();
  void refresh();
  void apply();
  void showAnswers(const AnsweredTrace::Subject& of, Result<std::vector<analysis::RuleAnswer>> answers);
  void describe(TableRow row);
  void showFinding(TableRow row);
  [[nodiscard]] QString nothingFound() const;  // why no rule found anything. Requires: the rules have answered
  void showTables();
  void keepPages(int count);  // keeps only the first pages of pages_
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
  QLabel* overlap_;  // says that costs are no sum, if they are none
  QStringList files_;

  LatestJob job_;
  AnsweredTrace::Subject asked_;  // the subject of the running or the last request
  QString asked_request_;
  AnsweredTrace::Subject answered_;               // the subject of the answers, which may be an earlier state of asked_
  std::vector<analysis::Finding> found_;          // ranked, one for each row
  std::vector<std::vector<std::size_t>> shared_;  // for each finding, those above it that may count the same time
  std::optional<TableRow> described_;             // the finding that is described
  std::string described_name_;                    // identifies it, also in other states of the trace
  std::vector<analysis::RuleAnswer> tables_;      // of the rules that were applied
  WhileShown while_shown_{*this, [this] { refresh(); }};
};

}  // namespace lanescope::ui
