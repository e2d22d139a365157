// How the main window handles kernels: their panels, and running the program again to measure one.
#include <QFileInfo>
#include <QMessageBox>

#include "analysis/command_text.h"
#include "window/main_window.h"

namespace lanescope::ui {

void MainWindow::connectKernels() {
  // The keyboard stays with the timeline.
  connect(timeline_, &timeline::TimelineView::eventActivated, this, [this](EventRef event) {
    if (state_.trace() && state_.trace()->track_of(event.lane).key.kind == TrackKind::kKernels) docks_->raise(kernel_);
  });
  connect(binding_, &TimelineBinding::kernelRequested, this, [this](EventRef kernel) {
    state_.setSelectedEvent(kernel);
    docks_->enter(kernel_);
  });
  connect(binding_, &TimelineBinding::kernelProfileRequested, this, [this](EventRef kernel) {
    state_.setSelectedEvent(kernel);
    docks_->enter(kernel_);
    kernel_->profileSelected();
  });
  connect(binding_, &TimelineBinding::sourceRequested, this, [this](EventRef kernel) {
    state_.setSelectedEvent(kernel);
    docks_->enter(source_);
  });
  connect(kernel_, &KernelPanel::sourceRequested, this, [this] { docks_->enter(source_); });
  const auto show_line = [this](const QString& place) {
    docks_->enter(source_);
    source_->showLine(place);
  };
  connect(kernel_, &KernelPanel::sourceLineRequested, this, show_line);
  connect(findings_, &FindingsPanel::sourceLineRequested, this, show_line);
  connect(kernel_, &KernelPanel::profileRequested, this, &MainWindow::profileKernel);
  connect(kernel_, &KernelPanel::profilingCancelled, &profiling_, &KernelProfiling::cancel);
  connect(&profiling_, &KernelProfiling::progressed, kernel_, &KernelPanel::showProgress);
  connect(&profiling_, &KernelProfiling::progressed, this, &MainWindow::closeWhenDone);  // the end of profiling is reported by this, too
  connect(&profiling_, &KernelProfiling::failed, this, [this](const QString& sentence) { showFailure(sentence); });
  connect(&profiling_, &KernelProfiling::measured, this,
          [this](std::shared_ptr<const Trace> recording, const QString& file, const std::shared_ptr<const Trace>& of) {
            remember({WishKind::kOpen, file});
            messages_->show(tr("The counters are in %1.").arg(file), MessageWeight::kNote);
            const std::shared_ptr<const Trace> shown = pair().isOpen() ? pair().first().trace : state_.trace();
            const bool is_of_shown =
                shown && of && shown->provenance().command == of->provenance().command && shown->provenance().utc_epoch == of->provenance().utc_epoch;
            if (is_of_shown) kernel_->addCounters(std::move(recording));  // otherwise another program is shown by now
          });
  source_->setSourceFolders(settings_.panelPart(QStringLiteral("sourceFolders")).toStringList());
  samples_->setSourceFolders(source_->sourceFolders());
  connect(source_, &SourcePanel::sourceFoldersChanged, samples_, &SamplesPanel::setSourceFolders);
  connect(source_, &SourcePanel::sourceFoldersChanged, this,
          [this](const QStringList& folders) { settings_.setPanelPart(QStringLiteral("sourceFolders"), folders); });
}

// Asks first, because the program is started again with all its effects.
void MainWindow::profileKernel(std::shared_ptr<const KernelFacts> facts) {
  if (profiling_.isRunning()) return;
  if (isRecording())
    return showFailure(tr("A program is being recorded. Stop the recording first: counters can be read by one program at a time."), MessageSubject::kRecording);
  const KernelProfiling::Run run = KernelProfiling::plan(*facts, session_.file());
  const QString recorded = facts->program ? QString::fromStdString(facts->program->recorded_folder) : QString();
  QString text = tr("This starts the program again, and reads the counters of one launch of %1 while it runs.").arg(QString::fromStdString(facts->brief_name));
  if (!recorded.isEmpty() && recorded != run.folder) text += tr(" The folder in which it was recorded, %1, is not here.").arg(recorded);
  if (!run.caution.isEmpty()) text += u' ' + run.caution;
  text += tr("\n\nIn %1:\n\n%2").arg(run.folder, command_text(run.command));
  QMessageBox question(QMessageBox::Question, tr("Profile this kernel"), {}, QMessageBox::Cancel, this);
  question.setTextFormat(Qt::PlainText);  // the command comes from the trace: it must not be able to look like another one
  question.setText(text);
  QPushButton* start = question.addButton(tr("Start the program"), QMessageBox::AcceptRole);
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  if (question.clickedButton() == start) profiling_.start(std::move(facts), run);
}

}  // namespace lanescope::ui
