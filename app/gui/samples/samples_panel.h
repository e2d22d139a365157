// What threads were seen to run, where their calls came from, or what GPUs ran for them: as a flame graph, as call trees, as tables of functions and of source
// lines. Covers the part of time that lists cover, and all threads, one process or one thread. For programs with Python, either all calls of a chain or only
// those that the program's authors know.
//
// Nothing is computed while the panel is hidden, and everything is computed off the GUI thread.
#pragma once

#include <memory>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTreeView>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/while_shown.h"
#include "base/state/selection_state.h"
#include "samples/call_tree_model.h"
#include "samples/flame_graph_view.h"
#include "samples/line_view.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class SamplesPanel : public QWidget {
  Q_OBJECT

 public:
  enum class View { kFlameGraph, kTopDown, kBottomUp, kFunctions, kLines };

  explicit SamplesPanel(SelectionState& state, QWidget* parent = nullptr);

  void chooseView(View view);
  // Shows its CPU samples, or its calls if there are none.
  void chooseThread(ThreadId thread);
  // Of compared runs: "A", "B", empty for both; used if no thread or process is chosen.
  void chooseRun(const QString& run);
  void chooseProcess(ProcessId process);
  [[nodiscard]] static bool hasChainsOf(const Trace& trace, ThreadId thread);
  [[nodiscard]] static bool hasChainsOfProcess(const Trace& trace, ProcessId process);
  [[nodiscard]] const std::shared_ptr<const SampleProfile>& profile() const { return profile_; }
  [[nodiscard]] FlameGraphView& flameGraph() { return *flame_; }
  [[nodiscard]] QTreeView& tree(samples::CallTreeOrder order) { return order == samples::CallTreeOrder::kTopDown ? *top_down_ : *bottom_up_; }
  [[nodiscard]] ResultTable& functions() { return *functions_; }
  [[nodiscard]] ResultTable& lines() { return *lines_; }
  [[nodiscard]] LineView& source() { return *line_view_; }
  void setSourceFolders(const QStringList& folders);  // folders with sources that are not at their recorded paths
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending() || line_view_->isComputing(); }

 signals:
  void functionActivated(const QString& name);                           // its samples should be searched
  void lineActivated(const QString& recorded_path, std::uint32_t line);  // its source should be opened

 private:
  void layOut();
  QTreeView* addTree(CallTreeModel& model, const QString& name);
  void chooseRunner(const QString& wanted);  // an entry of thread_
  void setSource(samples::StackSource source);
  void fillThreads();
  void offer();
  void clear();
  void compute();
  void filterRows();      // of the current table
  void expandMainPath();  // of the top-down call tree
  void showNote();
  void offerCalls();
  [[nodiscard]] ProfileRequest request() const;
  [[nodiscard]] samples::StackSource stackSource() const;
  [[nodiscard]] QString missingText() const;

  SelectionState& state_;
  QComboBox* view_;
  QComboBox* source_;
  QString run_ = QStringLiteral("A");  // of two runs, the one that is counted if no thread or process is chosen; empty: both
  bool source_is_chosen_ = false;      // by the user, for this trace; else the first source that the trace has is used
  QComboBox* binding_;
  QComboBox* thread_;
  QComboBox* calls_;
  QLineEdit* search_;
  QLabel* note_;
  QStackedWidget* pages_;
  QLabel* nothing_;
  FlameGraphView* flame_;
  CallTreeModel* top_down_model_;
  CallTreeModel* bottom_up_model_;
  QTreeView* top_down_;
  QTreeView* bottom_up_;
  ResultTable* functions_;
  ResultTable* lines_;
  LineView* line_view_;
  QStringList source_folders_;
  int shown_rows_ = 0;  // of the current table
  std::shared_ptr<const SampleProfile> profile_;
  std::shared_ptr<const Trace> computed_trace_;
  std::optional<ProfileRequest> computed_;
  QString lack_;                           // why nothing is counted: events that cannot be read
  std::weak_ptr<const Trace> offered_of_;  // the trace whose threads are listed
  bool has_python_ = false;                // stays true while a trace grows
  LatestJob job_;
  WhileShown while_shown_{*this, [this] { compute(); }};
};

}  // namespace lanescope::ui
