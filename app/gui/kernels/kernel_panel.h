// All that is known of the selected kernel, or of the first that the selected call launched: how its launch fills the GPU, what its counters
// say that it could win, its roofline, and why its warps wait. Another kernel, pinned as baseline, stands beside it.
//
// Nothing is computed while the panel is hidden.
#pragma once

#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "kernels/kernel_facts.h"
#include "kernels/memory_chart.h"
#include "kernels/roofline_chart.h"
#include "kernels/stall_chart.h"

namespace lanescope::ui {

class KernelPanel : public QWidget {
  Q_OBJECT

 public:
  explicit KernelPanel(SelectionState& state, QWidget* parent = nullptr);

  // Counters of kernels that were read in another run of the program; they count where the trace that is shown has none of a kernel.
  void addCounters(std::shared_ptr<const Trace> recording);
  // Asks for counters of the selected kernel as soon as it is known: profileRequested(). Where it can't be profiled, the panel says why.
  void profileSelected();
  // What stands in place of the button that profiles while that goes on; empty: the button.
  void showProgress(const QString& sentence);

  [[nodiscard]] const std::shared_ptr<const KernelFacts>& facts() const { return facts_; }
  [[nodiscard]] const std::shared_ptr<const KernelFacts>& baseline() const { return baseline_; }
  [[nodiscard]] QString text() const { return browser_->toPlainText(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void profileRequested(std::shared_ptr<const lanescope::ui::KernelFacts> facts);
  void profilingCancelled();
  void sourceRequested();
  void sourceLineRequested(const QString& place);  // "file.cu:12 < main.cu:40"

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void layOut();
  void refresh();
  void compute();
  void present();
  void showCharts();
  void pin();

  SelectionState& state_;
  QToolButton* profile_;
  QToolButton* source_;
  QToolButton* pin_;
  QLabel* progress_;
  QToolButton* cancel_;
  QTextBrowser* browser_;
  QSplitter* charts_;
  StallChart* stalls_;
  QTabWidget* pages_;  // of what is below them
  RooflineChart* roofline_;
  QScrollArea* memory_place_;
  MemoryChart* memory_;
  std::shared_ptr<const KernelRecordsOfTrace> records_;
  std::vector<std::shared_ptr<const KernelRecordsOfTrace>> others_;
  std::shared_ptr<const KernelFacts> facts_;
  std::shared_ptr<const KernelFacts> baseline_;
  QString shown_;
  bool profiles_next_ = false;  // what is being computed
  PacedUpdate paced_;
  LatestJob job_;
  LatestJob reading_;  // of other recordings
};

}  // namespace lanescope::ui
