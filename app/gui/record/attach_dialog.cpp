#include "record/attach_dialog.h"

#include <algorithm>
#include <chrono>

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>

#include "base/room/screen_room.h"
#include "model/stats/format.h"
#include "model/text/to_translate.h"
#include "record/start_dialog.h"

namespace lanescope::ui {
namespace {

using attach::ProcessSummary;

constexpr std::chrono::seconds kListInterval{2};
constexpr int kAttachWidthInCharacters = 120;
constexpr int kHeightInLines = 58;
constexpr int kListShare = 45;  // percent of the height for the list, the rest for the questions below, initially

std::string_view possible(const ProcessSummary& process) {
  if (process.refusal.empty()) return to_translate("yes");
  return process.observation_refusal.empty() ? to_translate("from outside") : to_translate("no");
}

stats::Table table_of(const std::vector<ProcessSummary>& processes) {
  stats::Table table({stats::identifiers("PID"), stats::texts("Name"), stats::words("CUDA"), stats::words("Can be attached to"), stats::texts("User"),
                      stats::texts("Command")});
  for (const ProcessSummary& process : processes)
    table.add_row(std::int64_t{process.pid}, table.add_text(process.name), table.add_text(process.uses_cuda ? "yes" : ""),
                  table.add_text(std::string(possible(process))), table.add_text(process.user), table.add_text(process.command_line));
  return table;
}

bool contains(const ProcessSummary& process, const QString& text) {
  return QString::number(process.pid).startsWith(text) || QString::fromStdString(process.name).contains(text, Qt::CaseInsensitive) ||
         QString::fromStdString(process.command_line).contains(text, Qt::CaseInsensitive);
}

// The most likely processes come first.
bool comes_first(const ProcessSummary& a, const ProcessSummary& b) {
  if (a.uses_cuda != b.uses_cuda) return a.uses_cuda;
  if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
  return a.pid > b.pid;
}

}  // namespace

AttachDialog::AttachDialog(Settings& settings, QWidget* parent)
    : QDialog(parent),
      settings_(settings),
      filter_(new QLineEdit),
      only_cuda_(new QCheckBox(tr("Only those that use CUDA"))),
      table_(new ResultTable({}, tr("Processes"))),
      problem_(new QLabel),
      outside_(new QCheckBox(tr("Only from &outside: its threads and GPU metrics. Nothing enters the process."))),
      capture_(new CaptureForm(Target::kRunning)),
      output_(new OutputField),
      choices_(new QWidget) {
  setWindowTitle(tr("Attach to a running process"));
  layOut();
  connect(filter_, &QLineEdit::textChanged, this, &AttachDialog::showProcesses);
  connect(only_cuda_, &QCheckBox::toggled, this, &AttachDialog::showProcesses);
  auto* down = new QShortcut(QKeySequence(Qt::Key_Down), filter_);  // to the list of matching processes
  down->setContext(Qt::WidgetShortcut);
  connect(down, &QShortcut::activated, this, [this] {
    table_->setFocus();
    if (!table_->chosenRow() && table_->model()->rowCount() > 0) table_->selectRow(0);
  });
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* enter = new QShortcut(QKeySequence(key), filter_);
    enter->setContext(Qt::WidgetShortcut);
    connect(enter, &QShortcut::activated, this, &AttachDialog::takeFilter);
  }
  connect(table_, &ResultTable::rowChosen, this, [this](TableRow row) {
    if (pid_ == shown_[row].pid) return;
    pid_ = shown_[row].pid;
    failure_.clear();
    if (shownChoices() == offered_) {  // choices that the user has changed stay when another line becomes current
      const CaptureChoices choices = settings_.attachChoices(QString::fromStdString(shown_[row].name));
      capture_->set(choices);
      outside_->setChecked(choices.from_outside);
      offered_ = shownChoices();
    }
    showChosen();
  });
  connect(outside_, &QCheckBox::toggled, this, [this](bool outside) {
    failure_.clear();
    capture_->setObservation(outside ? Observation::kFromOutside : Observation::kWithin);
    showChosen();
  });
  connect(table_, &ResultTable::rowActivated, this, &AttachDialog::accept);
  offered_ = shownChoices();
  timer_.setInterval(kListInterval);
  connect(&timer_, &QTimer::timeout, this, &AttachDialog::list);
  timer_.start();
  list();
  showChosen();
  filter_->setFocus();
}

CaptureChoices AttachDialog::shownChoices() const {
  CaptureChoices choices = capture_->choices();
  choices.from_outside = outside_->isChecked();
  return choices;
}

void AttachDialog::layOut() {
  filter_->setPlaceholderText(tr("Name, command line or process id"));
  filter_->setAccessibleName(tr("Filter processes"));
  filter_->setClearButtonEnabled(true);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTextElideMode(Qt::ElideMiddle);  // the script of an interpreter is at the end of its command line
  auto* line = new QHBoxLayout;
  line->addWidget(filter_, 1);
  line->addWidget(only_cuda_);
  auto* form = new QFormLayout;
  capture_->set({});
  form->addRow(tr("Output &file"), output_);
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(output_))) label->setBuddy(output_->edit());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  attach_ = buttons->addButton(tr("Attach"), QDialogButtonBox::AcceptRole);
  buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);
  attach_->setDefault(true);
  auto* chosen = new QVBoxLayout(choices_);
  chosen->setContentsMargins(0, 0, 0, 0);
  chosen->addLayout(line);
  auto* questions = new QWidget;
  auto* lines = new QVBoxLayout(questions);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->addWidget(outside_);
  lines->addLayout(form);  // in sight at first, in front of what is scrolled
  lines->addWidget(capture_);
  lines->addStretch(1);
  auto* parts = new QSplitter(Qt::Vertical);
  parts->addWidget(table_);
  parts->addWidget(scrolled_questions(questions));
  parts->setChildrenCollapsible(false);
  parts->setStretchFactor(0, kListShare);
  parts->setStretchFactor(1, 100 - kListShare);
  chosen->addWidget(parts, 1);
  auto* column = new QVBoxLayout(this);
  column->addWidget(choices_, 1);
  column->addWidget(room_for_problem(problem_));
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &AttachDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &AttachDialog::reject);
  resize(fontMetrics().averageCharWidth() * kAttachWidthInCharacters, std::min(fontMetrics().height() * kHeightInLines, room_on_screen(*this).height()));
  constexpr int kSizesWhole = 10'000;  // the splitter converts the shares to pixels
  parts->setSizes({kSizesWhole * kListShare / 100, kSizesWhole * (100 - kListShare) / 100});
}

void AttachDialog::list() {
  if (job_.isRunning() || is_attaching_) return;
  job_.start([this](const LatestJob::Context& job) {
    std::vector<ProcessSummary> processes = attach::list_processes();
    std::stable_sort(processes.begin(), processes.end(), comes_first);
    job.deliver([this, processes = std::move(processes)]() mutable {
      processes_ = std::move(processes);
      showProcesses();
    });
  });
}

// If the filter matches only one process, the first Enter chooses it and shows what will be done with it; the next Enter attaches.
void AttachDialog::takeFilter() {
  if (chosen() != nullptr) return accept();
  if (shown_.size() == 1) table_->selectRow(0);
}

void AttachDialog::showProcesses() {
  std::vector<ProcessSummary> shown;
  for (const ProcessSummary& process : processes_)
    if ((!only_cuda_->isChecked() || process.uses_cuda) && contains(process, filter_->text().trimmed())) shown.push_back(process);
  stats::Table table = table_of(shown);
  std::string text = stats::format_table(table, stats::Format::kCsv);
  if (text == shown_text_) return showChosen();  // it names the filter
  shown_text_ = std::move(text);
  shown_ = std::move(shown);
  std::vector<std::string> names;  // a process with another name is the same one
  for (const ProcessSummary& process : shown_) names.push_back(std::to_string(process.pid));
  table_->setTable(std::make_shared<const stats::Table>(std::move(table)), std::move(names));
  table_->horizontalHeader()->setStretchLastSection(true);
  if (pid_ && !table_->chosenRow()) choose(*pid_);  // it is listed again
  showChosen();
}

std::vector<pid_t> AttachDialog::listed() const {
  std::vector<pid_t> pids;
  for (const ProcessSummary& process : shown_) pids.push_back(process.pid);
  return pids;
}

void AttachDialog::choose(pid_t pid) {
  for (TableRow row = 0; row < shown_.size(); ++row)
    if (shown_[row].pid == pid) return table_->chooseRow(row);
}

const ProcessSummary* AttachDialog::chosen() const {
  for (const ProcessSummary& process : shown_)
    if (pid_ == process.pid) return &process;
  return nullptr;
}

void AttachDialog::showChosen() {
  if (is_attaching_) return;
  const ProcessSummary* process = chosen();
  attach_->setEnabled(process && (outside_->isChecked() ? process->observation_refusal : process->refusal).empty());
  const QString wanted = filter_->text().trimmed();
  problem_->setText(process && !failure_.isEmpty() ? failure_
                    : process                      ? prospects(*process)
                    : shown_.empty() && !wanted.isEmpty()
                        ? tr("No process has \"%1\" in its name, command line or process id.").arg(wanted)
                        : tr("Choose the process to record. It runs on when the recording stops, and can be attached to again."));
}

QString AttachDialog::prospects(const ProcessSummary& process) const {
  const QString name = QStringLiteral("%1 (%2)").arg(QString::fromStdString(process.name)).arg(process.pid);
  if (outside_->isChecked())
    return process.observation_refusal.empty() ? tr("No thread of %1 is stopped. What it did before is not recorded.").arg(name)
                                               : QString::fromStdString(process.observation_refusal);
  if (process.refusal.empty()) return tr("%1 will stand still for a few milliseconds. What it did before is not recorded.").arg(name);
  const QString refusal = QString::fromStdString(process.refusal);
  return process.observation_refusal.empty() ? tr("%1 Its threads can be recorded from outside.").arg(refusal) : refusal;
}

AttachSettings AttachDialog::attach() const {
  AttachSettings settings;
  if (const ProcessSummary* process = chosen()) {
    settings.pid = process->pid;
    settings.program = QString::fromStdString(process->name);
  }
  settings.capture = capture_->choices();
  settings.capture.from_outside = outside_->isChecked();
  settings.overwrite = output_->overwrite();
  settings.output = output_->pattern();
  return settings;
}

void AttachDialog::accept() {
  if (!attach_->isEnabled() || !output_->check({})) return;
  const AttachSettings settings = attach();
  settings_.rememberAttach(settings);
  failure_.clear();
  waitForAttach(Waiting::kYes);
  problem_->setText(tr("Attaching to %1 (%2) … Cancel leaves it as it is.").arg(settings.program).arg(settings.pid));
  emit requested(settings);
}

void AttachDialog::attachEnded(const QString& problem) {
  waitForAttach(Waiting::kNo);
  if (problem.isEmpty()) return QDialog::accept();
  failure_ = problem;
  showChosen();
}

void AttachDialog::waitForAttach(Waiting waiting) {
  is_attaching_ = waiting == Waiting::kYes;
  choices_->setEnabled(!is_attaching_);
  attach_->setEnabled(!is_attaching_);
}

}  // namespace lanescope::ui
