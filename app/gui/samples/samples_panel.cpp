#include "samples/samples_panel.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

#include "base/input/leave_field.h"
#include "base/input/offered_entries.h"
#include "base/room/elided_label.h"
#include "base/text/breaking_line.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"
#include "samples/opened_calls.h"
#include "tables/quiet_focus.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using samples::CallChoice;
using samples::CallTreeOrder;
using samples::StackSource;

// The kind of tracks that threads must have to be offered.
TrackKind kind_of_threads(StackSource source) {
  switch (source) {
    case StackSource::kCpuSamples:
      return TrackKind::kCpuSamples;
    case StackSource::kBacktraces:
      return TrackKind::kBacktraces;
    case StackSource::kGpuWork:
      break;
  }
  return TrackKind::kCudaApi;
}

// The entry for one of the compared runs; for both if `run` is empty.
QString run_entry(const QString& run) { return QStringLiteral("run:") + run; }

constexpr int kNothingPage = 5;       // after the pages of the views
constexpr int kFirstTextColumn = 4;   // of the tables
constexpr int kNarrowestChoice = 10;  // of a choice in a narrow window

}  // namespace

SamplesPanel::SamplesPanel(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      view_(new QComboBox(this)),
      source_(new QComboBox(this)),
      binding_(new QComboBox(this)),
      thread_(new QComboBox(this)),
      calls_(new QComboBox(this)),
      search_(new QLineEdit(this)),
      note_(new ElidedLabel(this)),
      pages_(new QStackedWidget(this)),
      nothing_(new QLabel(this)),
      flame_(new FlameGraphView(this)),
      top_down_model_(new CallTreeModel(CallTreeOrder::kTopDown, this)),
      bottom_up_model_(new CallTreeModel(CallTreeOrder::kBottomUp, this)),
      top_down_(addTree(*top_down_model_, tr("Call tree, top-down"))),
      bottom_up_(addTree(*bottom_up_model_, tr("Call tree, bottom-up"))),
      functions_(new ResultTable(QStringLiteral("samples-functions"), tr("Functions"), this)),
      lines_(new ResultTable(QStringLiteral("samples-lines"), tr("Lines"), this)),
      line_view_(new LineView(this)) {
  layOut();
  // Bottom-up, the self weight belongs to the end of the chain, which is of no interest.
  for (const int column : {CallTreeModel::kSelfShare, CallTreeModel::kSelf}) bottom_up_->setColumnHidden(column, true);
  connect(view_, &QComboBox::currentIndexChanged, this, [this] {
    filterRows();
    showNote();
    while_shown_.atOnce();
  });
  connect(source_, &QComboBox::activated, this, [this] {
    source_is_chosen_ = true;
    fillThreads();
    while_shown_.atOnce();
  });
  connect(thread_, &QComboBox::activated, &while_shown_, &WhileShown::atOnce);
  connect(calls_, &QComboBox::currentIndexChanged, &while_shown_, &WhileShown::atOnce);
  connect(binding_, &QComboBox::activated, this, [this] { state_.setTimeBinding(static_cast<TimeBinding>(binding_->currentData().toInt())); });
  leave_with_escape(*search_, [this] {
    const auto view = static_cast<View>(view_->currentIndex());
    QWidget* const about = view == View::kFunctions ? functions_ : view == View::kLines ? static_cast<QWidget*>(lines_) : flame_;
    about->setFocus(Qt::ShortcutFocusReason);
  });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    flame_->setSearch(text);
    filterRows();
    showNote();
  });
  for (ResultTable* table : {functions_, lines_}) connect(table->model(), &QAbstractItemModel::layoutChanged, this, &SamplesPanel::filterRows);  // if sorted
  connect(lines_, &ResultTable::rowChosen, this, [this](TableRow row) { line_view_->showLine(profile_->lines[row]); });
  connect(line_view_, &LineView::lineActivated, this, &SamplesPanel::lineActivated);
  connect(lines_, &ResultTable::rowActivated, this, [this](TableRow row) {
    const samples::LineWeight& line = profile_->lines[row];
    emit lineActivated(QString::fromStdString(std::string(computed_trace_->name(line.file))), line.line);
  });
  connect(flame_, &FlameGraphView::focusChanged, this, &SamplesPanel::showNote);
  connect(flame_, &FlameGraphView::functionActivated, this, &SamplesPanel::functionActivated);
  connect(functions_, &ResultTable::rowActivated, this,
          [this](TableRow row) { emit functionActivated(QString::fromStdString(profile_->top_down.functions()[profile_->functions[row].function].name)); });
  connect(&state, &SelectionState::timeBindingChanged, this, [this] { binding_->setCurrentIndex(binding_->findData(static_cast<int>(state_.timeBinding()))); });
  connect(&state, &SelectionState::boundRangeChanged, &while_shown_, &WhileShown::soon);
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      source_is_chosen_ = false;
      thread_->setCurrentIndex(0);  // the number would stand for another thread there
      has_python_ = false;
      clear();
      offer();
    }
    while_shown_.soon();
  });
  while_shown_.after(job_);
  offer();
  showNote();
}

void SamplesPanel::layOut() {
  for (const QString& name : {tr("Flame graph"), tr("Top-down"), tr("Bottom-up"), tr("Functions"), tr("Lines")}) view_->addItem(name);
  source_->addItem(tr("CPU samples"), static_cast<int>(StackSource::kCpuSamples));
  source_->addItem(tr("Backtraces of calls"), static_cast<int>(StackSource::kBacktraces));
  source_->addItem(tr("GPU time"), static_cast<int>(StackSource::kGpuWork));
  source_->setItemData(source_->count() - 1,
                       tr("What GPUs ran, below what launched it: the calls that led there or, where they were not recorded, NVTX ranges. "
                          "Kernels whose warps were sampled go on with lines of their source."),
                       Qt::ToolTipRole);
  binding_->addItem(tr("All of the time"), static_cast<int>(TimeBinding::kWholeTrace));
  binding_->addItem(tr("Selected range, or all"), static_cast<int>(TimeBinding::kSelectedRange));
  binding_->addItem(tr("Visible range"), static_cast<int>(TimeBinding::kVisibleRange));
  binding_->setCurrentIndex(binding_->findData(static_cast<int>(state_.timeBinding())));
  calls_->addItem(tr("Without the interpreter"), static_cast<int>(CallChoice::kWithoutInterpreter));
  calls_->addItem(tr("Python only"), static_cast<int>(CallChoice::kPythonOnly));
  calls_->addItem(tr("All calls"), static_cast<int>(CallChoice::kAll));
  calls_->setAccessibleName(tr("Which calls of a chain"));
  calls_->setToolTip(
      tr("Without the interpreter: Python's functions and what they call in libraries. Python only: what they call counts as theirs. Threads "
         "that run no Python are shown whole."));
  view_->setAccessibleName(tr("View of the call chains"));
  source_->setAccessibleName(tr("Which call chains"));
  binding_->setAccessibleName(tr("Part of time"));
  binding_->setToolTip(tr("The part of time that is counted, here and in lists. Without a selected range, all of it."));
  thread_->setAccessibleName(tr("Process or thread"));
  thread_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  thread_->setMinimumContentsLength(18);
  search_->setPlaceholderText(tr("Highlight functions"));
  search_->setAccessibleName(tr("Highlight functions"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(fontMetrics().averageCharWidth() * 36);
  note_->setForegroundRole(QPalette::PlaceholderText);
  nothing_->setAlignment(Qt::AlignCenter);
  nothing_->setWordWrap(true);
  nothing_->setForegroundRole(QPalette::PlaceholderText);

  auto* choices = new QWidget(this);
  auto* line = new QHBoxLayout(choices);
  for (QComboBox* choice : {view_, source_, binding_, thread_, calls_}) {
    choice->setMinimumWidth(fontMetrics().averageCharWidth() * kNarrowestChoice);
    line->addWidget(choice);
  }
  auto* found = new QWidget(this);
  auto* search_line = new QHBoxLayout(found);
  search_line->addWidget(search_, 2);
  search_line->addWidget(note_, 3);
  for (QHBoxLayout* part : {line, search_line}) {
    part->setContentsMargins(0, 0, 0, 0);
    part->setSpacing(4);
  }
  auto* bar = new BreakingLine(choices, found, BreakingLine::Stretched::kSecond, this);
  bar->setContentsMargins(4, 3, 8, 3);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar);
  column->addWidget(pages_, 1);
  auto* line_parts = new QSplitter(this);
  line_parts->setObjectName(QStringLiteral("samples-line-parts"));
  line_parts->addWidget(lines_);
  line_parts->addWidget(line_view_);
  line_parts->setChildrenCollapsible(false);
  for (QWidget* page : {static_cast<QWidget*>(flame_), static_cast<QWidget*>(top_down_), static_cast<QWidget*>(bottom_up_), static_cast<QWidget*>(functions_),
                        static_cast<QWidget*>(line_parts), static_cast<QWidget*>(nothing_)})
    pages_->addWidget(page);
  top_down_->header()->setObjectName(QStringLiteral("samples-top-down"));
  bottom_up_->header()->setObjectName(QStringLiteral("samples-bottom-up"));
}

QTreeView* SamplesPanel::addTree(CallTreeModel& model, const QString& name) {
  auto* tree = new QuietFocus<QTreeView>(this);
  tree->setAccessibleName(name);
  tree->setFrameShape(QFrame::NoFrame);
  tree->setUniformRowHeights(true);
  tree->setAlternatingRowColors(true);
  tree->setModel(&model);
  tree->setExpandsOnDoubleClick(false);
  const int digit = fontMetrics().horizontalAdvance(u'0');
  constexpr int kCharacters[CallTreeModel::kColumns] = {70, 9, 9, 12, 12, 26, 24};
  for (int section = 0; section < CallTreeModel::kColumns; ++section) tree->header()->resizeSection(section, digit * kCharacters[section]);
  connect(tree, &QTreeView::doubleClicked, this, [this, &model](const QModelIndex& index) { emit functionActivated(model.functionName(index)); });
  tree->setContextMenuPolicy(Qt::ActionsContextMenu);
  const auto offer = [&](const QString& text, auto act) {
    auto* action = new QAction(text, tree);
    tree->addAction(action);
    connect(action, &QAction::triggered, this, act);
    return action;
  };
  offer(tr("Expand all below  (*)"), [tree] { tree->expandRecursively(tree->currentIndex()); });
  offer(tr("Find its samples on the rows"), [this, tree, &model] { emit functionActivated(model.functionName(tree->currentIndex())); });
  QAction* copy = offer(tr("Copy the function's name"), [tree, &model] { QGuiApplication::clipboard()->setText(model.functionName(tree->currentIndex())); });
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  return tree;
}

void SamplesPanel::chooseView(View view) { view_->setCurrentIndex(static_cast<int>(view)); }

bool SamplesPanel::hasChainsOf(const Trace& trace, ThreadId thread) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(), [&](const Track& track) {
    return track.key.thread == thread && (track.key.kind == TrackKind::kCpuSamples || track.key.kind == TrackKind::kBacktraces);
  });
}

bool SamplesPanel::hasChainsOfProcess(const Trace& trace, ProcessId process) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(), [&](const Track& track) {
    return track.key.process == process && (track.key.kind == TrackKind::kCpuSamples || track.key.kind == TrackKind::kBacktraces);
  });
}

void SamplesPanel::chooseThread(ThreadId thread) { chooseRunner(QStringLiteral("thread:%1").arg(thread)); }
void SamplesPanel::chooseProcess(ProcessId process) { chooseRunner(QStringLiteral("process:%1").arg(process)); }

void SamplesPanel::chooseRunner(const QString& wanted) {
  offer();
  const auto is_offered = [&](StackSource source) {
    setSource(source);
    return thread_->findData(wanted) >= 0;
  };
  if (stackSource() == StackSource::kGpuWork || thread_->findData(wanted) < 0)
    static_cast<void>(is_offered(StackSource::kCpuSamples) || is_offered(StackSource::kBacktraces));
  source_is_chosen_ = true;
  thread_->setCurrentIndex(std::max(0, thread_->findData(wanted)));
  while_shown_.atOnce();
}

void SamplesPanel::chooseRun(const QString& run) {
  run_ = run;
  const int index = thread_->findData(run_entry(run));
  if (index < 0 || !thread_->currentData().toString().startsWith(run_entry({}))) return;
  thread_->setCurrentIndex(index);
  while_shown_.atOnce();
}

// Keeps the choice if it still exists. Of two runs one is counted, unless the user chooses both.
void SamplesPanel::fillThreads() {
  const QVariant chosen = thread_->currentData();
  OfferedEntries entries;
  const bool has_runs = state_.trace() && compares_runs(*state_.trace());
  if (has_runs) {
    for (const TracePart& part : state_.trace()->parts())
      entries.emplace_back(isolated(QString::fromStdString(part.label)), run_entry(QString::fromStdString(part.run)));
    entries.emplace_back(tr("A and B as one"), run_entry({}));
  } else {
    entries.emplace_back(tr("All threads"), QString());
  }
  if (const std::shared_ptr<const Trace>& trace = state_.trace()) {
    const TrackKind kind = kind_of_threads(stackSource());
    for (ProcessId process = 0; process < trace->processes().size(); ++process) {
      bool first = true;
      for (const TrackId id : trace->tracks_of(process, kind)) {
        const Track& track = trace->tracks()[id];
        if (std::exchange(first, false)) {
          const std::string_view run = run_of(*trace, track);
          entries.emplace_back(
              isolated(QStringLiteral("%1[%2] %3")
                           .arg(run.empty() ? QString() : QString::fromUtf8(run.data(), static_cast<qsizetype>(run.size())) + QStringLiteral("  "))
                           .arg(trace->processes()[process].pid)
                           .arg(QString::fromStdString(trace->processes()[process].name))),
              QStringLiteral("process:%1").arg(process));
        }
        const Thread& thread = trace->threads()[track.key.thread];
        entries.emplace_back(isolated(QStringLiteral("    [%1] %2").arg(thread.tid).arg(QString::fromStdString(thread.name))),
                             QStringLiteral("thread:%1").arg(track.key.thread));
      }
    }
  }
  offer_entries(*thread_, entries);
  const int kept = thread_->findData(chosen);
  thread_->setCurrentIndex(std::max(0, kept >= 0 ? kept : thread_->findData(run_entry(run_))));
}

// Fills the choices for the present state of the trace; while a trace grows, before each computation.
void SamplesPanel::offer() {
  if (state_.trace() && offered_of_.lock() == state_.trace()) return;
  offered_of_ = state_.trace();
  fillThreads();
  offerCalls();
}

samples::StackSource SamplesPanel::stackSource() const { return static_cast<StackSource>(source_->currentData().toInt()); }

// What to do if the trace has no data of the source.
QString SamplesPanel::missingText() const {
  switch (stackSource()) {
    case StackSource::kCpuSamples:
      return tr("The trace has no CPU samples. Record them with: lanescope profile --sample=process-tree");
    case StackSource::kBacktraces:
      return tr("The trace has no backtraces of calls. Record them with: lanescope profile --cudabacktrace=all");
    case StackSource::kGpuWork:
      break;
  }
  return tr("The trace has no work of GPUs. Record it with: lanescope profile --trace=cuda");
}

void SamplesPanel::setSource(StackSource source) {
  const int index = source_->findData(static_cast<int>(source));
  if (source_->currentIndex() == index) return;
  source_->setCurrentIndex(index);
  fillThreads();
}

// Without Python, there is nothing to choose.
void SamplesPanel::offerCalls() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  has_python_ = has_python_ || (trace && samples::has_python(trace->call_stacks()));
  calls_->setVisible(trace && has_python_);
}

ProfileRequest SamplesPanel::request() const {
  ProfileRequest request;
  request.calls = static_cast<CallChoice>(calls_->currentData().toInt());
  request.trees = view_->currentIndex() == static_cast<int>(View::kBottomUp) ? CallTrees::kBoth : CallTrees::kTopDown;
  request.lines = view_->currentIndex() == static_cast<int>(View::kLines) ? SourceLines::kCounted : SourceLines::kNone;
  request.source_folders = source_folders_;
  samples::SampleSelection& selection = request.selection;
  selection.source = stackSource();
  selection.window = state_.boundRange();
  const QString chosen = thread_->currentData().toString();
  const Trace& trace = *state_.trace();
  if (chosen.startsWith(run_entry({}))) selection.run = chosen.section(u':', 1).toStdString();
  if (chosen.startsWith(u"thread:")) selection.threads = {chosen.section(u':', 1).toUInt()};
  if (chosen.startsWith(u"process:"))
    for (ThreadId thread = 0; thread < trace.threads().size(); ++thread)
      if (trace.threads()[thread].process == chosen.section(u':', 1).toUInt()) selection.threads.push_back(thread);
  return request;
}

void SamplesPanel::clear() {
  job_.cancel();
  computed_.reset();
  computed_trace_.reset();
  profile_.reset();
  lack_.clear();
  flame_->setProfile(nullptr, nullptr);
  for (CallTreeModel* tree : {top_down_model_, bottom_up_model_}) tree->setProfile(nullptr, nullptr);
  for (ResultTable* table : {functions_, lines_}) table->setTable(nullptr);
  line_view_->setProfile(nullptr, nullptr);
  showNote();
}

void SamplesPanel::compute() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  if (trace && !source_is_chosen_)
    for (const StackSource usual : {StackSource::kCpuSamples, StackSource::kBacktraces, StackSource::kGpuWork})
      if (has_stacks(*trace, usual)) {
        setSource(usual);
        break;
      }
  if (!trace) return clear();
  offer();
  const ProfileRequest wanted = request();
  if (trace == computed_trace_ && computed_ && wanted.isPartOf(*computed_)) return;
  computed_trace_ = trace;
  computed_ = wanted;
  job_.start([this, trace, wanted](const LatestJob::Context& job) {
    auto profile = make_profile(*trace, wanted, job.stop());
    if (!profile) return;
    const Result<void> all = check_all_was_read(*trace);
    job.deliver([this, trace, wanted, profile = std::move(profile), lack = all ? QString() : QString::fromStdString(all.error().text)] {
      if (!lack.isEmpty()) {
        clear();
        lack_ = lack;
        computed_trace_ = trace;  // it is not tried again
        computed_ = wanted;
        return showNote();
      }
      const bool was_shown = profile_ && top_down_model_->rowCount() > 0;
      const OpenedCalls opened_down(*top_down_), opened_up(*bottom_up_);
      profile_ = profile;
      flame_->setProfile(trace, profile);
      top_down_model_->setProfile(trace, profile);
      bottom_up_model_->setProfile(trace, profile);
      functions_->setTable(profile->table);
      lines_->setTable(profile->line_table);
      line_view_->setProfile(trace, profile);
      const bool is_restored = was_shown && opened_down.restore(*top_down_);
      if (was_shown) opened_up.restore(*bottom_up_);
      if (!is_restored) expandMainPath();
      showNote();
    });
  });
}

void SamplesPanel::setSourceFolders(const QStringList& folders) {
  source_folders_ = folders;
  line_view_->setSourceFolders(folders);
  while_shown_.soon();
}

// Shows only rows with a text that contains the searched text.
void SamplesPanel::filterRows() {
  const QString wanted = search_->text();
  ResultTable& table = view_->currentIndex() == static_cast<int>(View::kLines) ? *lines_ : *functions_;
  const QAbstractItemModel& rows = *table.model();
  shown_rows_ = 0;
  for (int row = 0; row < rows.rowCount(); ++row) {
    bool shown = wanted.isEmpty();
    for (int column = kFirstTextColumn; column < rows.columnCount() && !shown; ++column)
      shown = rows.index(row, column).data().toString().contains(wanted, Qt::CaseInsensitive);
    table.setRowHidden(row, !shown);
    shown_rows_ += shown ? 1 : 0;
  }
}

// Expands down to where the calls branch, because a program's start and its loop are dozens of calls deep.
void SamplesPanel::expandMainPath() {
  constexpr double kMostOfIt = 0.5;
  const samples::CallTree& tree = profile_->top_down;
  top_down_->expandToDepth(0);
  for (QModelIndex call = top_down_model_->index(0, 0); call.isValid();) {
    top_down_->expand(call);
    const QModelIndex heaviest = top_down_model_->index(0, 0, call);
    const auto amount = [&](const QModelIndex& index) { return samples::amount(tree.node(top_down_model_->node(index)).total, profile_->by); };
    if (!heaviest.isValid() || amount(heaviest) < kMostOfIt * amount(call)) return;
    call = heaviest;
  }
}

void SamplesPanel::showNote() {
  const bool any = profile_ && profile_->top_down.total().count > 0;
  pages_->setCurrentIndex(any ? view_->currentIndex() : kNothingPage);
  const bool flame = view_->currentIndex() == static_cast<int>(View::kFlameGraph);
  const bool table = view_->currentIndex() == static_cast<int>(View::kFunctions);
  const bool lines = view_->currentIndex() == static_cast<int>(View::kLines);
  search_->setEnabled(flame || table || lines);
  search_->setPlaceholderText(table ? tr("Filter functions and modules") : lines ? tr("Filter lines, functions and files") : tr("Highlight functions"));
  note_->clear();
  if (!any) {
    nothing_->setText(!lack_.isEmpty()                                               ? lack_
                      : state_.trace() && has_stacks(*state_.trace(), stackSource()) ? tr("There are none in this part of time and of this thread.")
                                                                                     : missingText());
    return;
  }
  QString text = shown_text(weight_text(profile_->top_down.total(), profile_->source));
  if (flame && !search_->text().isEmpty()) text += tr(" · found in %1").arg(QString::fromStdString(timeline::format_share(flame_->foundShare())));
  if (table && !search_->text().isEmpty()) text += tr(" · %1 of %2 functions").arg(shown_rows_).arg(functions_->model()->rowCount());
  if (lines && !search_->text().isEmpty()) text += tr(" · %1 of %2 lines").arg(shown_rows_).arg(lines_->model()->rowCount());
  if (lines && profile_->line_table && profile_->lines.empty())
    text += tr(" · no lines: the source lines of this code are not known. Python code has them, and code with debug information.");
  note_->setText(text);
  note_->setToolTip(text);  // a narrow window cuts it off
}

}  // namespace lanescope::ui
