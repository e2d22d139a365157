// All facts about the selected kernel, or about the first kernel that the selected call launched: how its launch fills the GPU, what its counters say that it
// could gain, its roofline, and why its warps wait. Another kernel, pinned as baseline, is shown beside it.
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
#include "base/jobs/while_shown.h"
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

  // Adds counters of kernels from another run of the program; they are used for kernels without counters in the shown trace.
  void addCounters(std::shared_ptr<const Trace> recording);
  // Emits profileRequested() for the selected kernel as soon as its facts are known. If it cannot be profiled, the panel says why.
  void profileSelected();
  // A text that replaces the button for profiling while profiling runs; empty: the button.
  void showProgress(const QString& sentence);

  [[nodiscard]] const std::shared_ptr<const KernelFacts>& facts() const { return facts_; }
  [[nodiscard]] const std::shared_ptr<const KernelFacts>& baseline() const { return baseline_; }
  [[nodiscard]] QString text() const { return browser_->toPlainText(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending(); }

 signals:
  void profileRequested(std::shared_ptr<const lanescope::ui::KernelFacts> facts);
  void profilingCancelled();
  void sourceRequested();
  void sourceLineRequested(const QString& place);  // "file.cu:12 < main.cu:40"

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void layOut();
  void compute();
  [[nodiscard]] QString hint() const;
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
  QTabWidget* pages_;  // of the parts below
  RooflineChart* roofline_;
  QScrollArea* memory_place_;
  MemoryChart* memory_;
  std::shared_ptr<const KernelRecordsOfTrace> records_;
  std::vector<std::shared_ptr<const KernelRecordsOfTrace>> others_;
  std::shared_ptr<const KernelFacts> facts_;
  std::shared_ptr<const KernelFacts> baseline_;
  QString shown_;
  enum class Next { kNothing, kQuestion };  // once the selected kernel is known: whether to read its counters
  Next next_ = Next::kNothing;
  LatestJob job_;
  LatestJob reading_;  // reads other recordings
  WhileShown while_shown_{*this, [this] { compute(); }};
};

}  // namespace lanescope::ui
