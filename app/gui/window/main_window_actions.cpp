// The actions of the main window's menus.
#include <algorithm>
#include <filesystem>

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>

#include "base/files/editor.h"
#include "base/files/file_path.h"
#include "base/input/leave_field.h"
#include "base/text/event_words.h"
#include "base/text/texts.h"
#include "export/picture_dialog.h"
#include "export/save_dialog.h"
#include "export/trace_writing.h"
#include "kernels/source_files.h"
#include "loading/choose_files.h"
#include "model/file/privacy.h"
#include "model/import/open_trace.h"
#include "model/text/language.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"
#include "timeline/widget/timeline_command.h"
#include "window/keys/key_bindings_dialog.h"
#include "window/keys/keys_dialog.h"
#include "window/look/theme.h"
#include "window/main_window.h"
#include "window/quitting.h"
#include "window/timeline/picture.h"

namespace lanescope::ui {
namespace {

constexpr double kZoomStep = 1.5;  // of one key press

// "Traces (*.trace *.sqlite);;Lanescope trace (*.trace);;..."
QString file_filters() {
  QStringList all, single;
  for (const TraceFileFormat& format : readable_trace_formats()) {
    const QString patterns = QString::fromUtf8(format.patterns.data(), static_cast<qsizetype>(format.patterns.size()));
    all += patterns;
    single += QStringLiteral("%1 (%2)").arg(QString::fromUtf8(format.name.data(), static_cast<qsizetype>(format.name.size())), patterns);
  }
  return QObject::tr("Traces (%1)").arg(all.join(u' ')) + QStringLiteral(";;") + single.join(QStringLiteral(";;")) + QStringLiteral(";;") +
         QObject::tr("All files (*)");
}

std::vector<timeline::RowIndex> rows_of_gpus(const timeline::RowTree& rows) {
  std::vector<timeline::RowIndex> gpus;
  for (timeline::RowIndex row = 0; row < rows.rows().size(); ++row)
    if (rows.row(row).kind == timeline::RowKind::kGpu) gpus.push_back(row);
  return gpus;
}

// The row itself or the row above it; nothing if the row does not belong to a GPU.
std::optional<timeline::RowIndex> gpu_above(const timeline::RowTree& rows, const std::string& key) {
  for (std::optional<timeline::RowIndex> row = rows.find(key); row; row = rows.row(*row).parent)
    if (rows.row(*row).kind == timeline::RowKind::kGpu) return row;
  return std::nullopt;
}

// Fields take some keys with Ctrl for themselves: Ctrl+E moves to the end of the line. The keys of this command stay its own while it can be used.
class KeepsItsKeys : public QObject {
 public:
  KeepsItsKeys(const QAction& command, QObject* parent) : QObject(parent), command_(command) { qApp->installEventFilter(this); }

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::ShortcutOverride || qobject_cast<QLineEdit*>(watched) == nullptr || !command_.isEnabled()) return false;
    const QKeySequence keys(static_cast<QKeyEvent*>(event)->keyCombination());
    if (QApplication::activeModalWidget() != nullptr || !command_.shortcuts().contains(keys)) return false;
    event->ignore();
    return true;
  }

 private:
  const QAction& command_;
};

}  // namespace

// Opening, recording, saving and closing.
void MainWindow::connectFiles() {
  connect(actions_.open, &QAction::triggered, this, &MainWindow::chooseFile);
  const auto wish_launch = [this] { begin({WishKind::kLaunch, {}}); };
  const auto wish_attach = [this] { begin({WishKind::kAttach, {}}); };
  connect(actions_.new_window, &QAction::triggered, this, [this] { emit windowWished(std::nullopt); });
  connect(actions_.launch, &QAction::triggered, this, wish_launch);
  connect(actions_.attach, &QAction::triggered, this, wish_attach);
  connect(actions_.record_elsewhere, &QAction::triggered, this, [this] { begin({WishKind::kRecordElsewhere, {}}); });
  connect(actions_.compare, &QAction::triggered, this, &MainWindow::chooseBeside);
  connect(actions_.open_fleet, &QAction::triggered, this, &MainWindow::chooseFleet);
  connect(actions_.reload, &QAction::triggered, this, [this] { begin(session_.sameAgain()); });
  connect(actions_.save_as, &QAction::triggered, this, &MainWindow::saveAs);
  connect(exports_, &Exports::begun, this, [this] { messages_->settle(MessageSubject::kExport); });
  connect(exports_, &Exports::ended, this,
          [this](const QString& sentence, MessageWeight weight) { messages_->showAnew(sentence, weight, MessageSubject::kExport); });
  connect(actions_.export_csv, &QAction::triggered, this, &MainWindow::exportEvents);
  new KeepsItsKeys(*actions_.export_csv, this);
  connect(events_, &EventsPanel::exportRequested, this, &MainWindow::exportEvents);
  connect(events_, &EventsPanel::copied, this, [this](const QString& sentence) {
    messages_->settle(MessageSubject::kClipboard);
    if (!sentence.isEmpty()) messages_->show(sentence, MessageWeight::kNote, MessageSubject::kClipboard);
  });
  connect(actions_.close_window, &QAction::triggered, this, &QWidget::close);
  connect(actions_.quit, &QAction::triggered, this, [] { quit_all(); });
  connect(start_, &StartPage::openRequested, this, &MainWindow::chooseFile);
  connect(start_, &StartPage::launchRequested, this, wish_launch);
  connect(start_, &StartPage::attachRequested, this, wish_attach);
  connect(actions_.stop, &QAction::triggered, this, &MainWindow::stopRecording);
  connect(actions_.copy_picture, &QAction::triggered, this,
          [this] { QGuiApplication::clipboard()->setImage(timeline_->picture(timeline_->devicePixelRatioF())); });
  connect(actions_.save_picture, &QAction::triggered, this, &MainWindow::savePicture);
}

// Finding, filtering and selecting.
void MainWindow::connectSelection() {
  connect(actions_.copy_details, &QAction::triggered, this, [this] {
    if (state_.trace() && state_.selectedEvent().valid())
      QGuiApplication::clipboard()->setText(QString::fromStdString(timeline::as_text(words_of_event(state_, state_.selectedEvent()))));
  });
  connect(actions_.find, &QAction::triggered, search_, &EventSearch::focusText);
  connect(actions_.find_next, &QAction::triggered, search_, &EventSearch::next);
  connect(actions_.find_previous, &QAction::triggered, search_, &EventSearch::previous);
  connect(actions_.filter_rows, &QAction::triggered, this, [this] {
    actions_.row_filter->setFocus(Qt::ShortcutFocusReason);
    actions_.row_filter->selectAll();
  });
  connect(actions_.filter_events, &QAction::triggered, this, [this] {
    docks_->raise(events_);
    events_->focusFilter();
  });
  connect(actions_.clear_selection, &QAction::triggered, this, [this] {
    state_.setSelectedEvent({});
    state_.setSelectedRange(std::nullopt);
  });
  connect(&state_, &SelectionState::selectedEventChanged, this, &MainWindow::enableActions);
  connect(&state_, &SelectionState::selectedRangeChanged, this, &MainWindow::enableActions);
}

// What leads to panels, from menus and from other parts of the window.
void MainWindow::connectPanels() {
  connect(actions_.output, &QAction::triggered, this, [this] {
    diagnostics_->showOutputPage();
    docks_->enter(diagnostics_);
  });
  connect(details_, &DetailsPanel::familyRequested, this, [this](const QString& family) {
    binding_->filterToFamily(family.toStdString());
    docks_->enter(events_);
  });
  connect(actions_.longest_gaps, &QAction::triggered, this, &MainWindow::showLongestGaps);
  connect(actions_.statistics, &QAction::triggered, this, [this] {
    statistics_->chooseReport({});
    docks_->enter(statistics_);
  });
  connect(actions_.notes, &QAction::triggered, this, [this] { docks_->enter(notes_); });
  connect(actions_.query, &QAction::triggered, this, [this] { docks_->enter(query_); });
  connect(query_, &QueryPanel::rowChanged, this, [this](std::shared_ptr<const timeline::AnswerRow> row) {
    const bool brings_in_sight = row != nullptr && timeline_->answer() == nullptr;  // an answer that follows the selection does not scroll the rows
    timeline_->setAnswer(std::move(row));
    if (brings_in_sight) timeline_->scrollToRow(QString::fromLatin1(timeline::RowTree::kAnswerKey));
  });
  connect(actions_.diagnostics, &QAction::triggered, this, [this] { docks_->enter(diagnostics_); });
  connect(binding_, &TimelineBinding::eventsRequested, this, [this] { docks_->enter(events_); });
  connect(statistics_, &StatisticsPanel::eventsRequested, this, [this] { docks_->enter(events_); });
  connect(binding_, &TimelineBinding::statisticsRequested, this, [this] { docks_->enter(statistics_); });
  connect(binding_, &TimelineBinding::bubblesRequested, this, [this] { docks_->enter(bubbles_); });
  connect(binding_, &TimelineBinding::saveRequested, this, &MainWindow::saveAs);
  connect(events_, &EventsPanel::waitsRequested, timeline_, &timeline::TimelineView::askWhatItWaitedFor);
  connect(events_, &EventsPanel::marksRequested, timeline_, &timeline::TimelineView::markSelection);
  connect(binding_, &TimelineBinding::flameGraphRequested, this, [this](ThreadId thread) {
    samples_->chooseThread(thread);
    showFlameGraph();
  });
  connect(binding_, &TimelineBinding::flameGraphOfProcessRequested, this, [this](ProcessId process) {
    samples_->chooseProcess(process);
    showFlameGraph();
  });
  const auto show_of_time = [this](ThreadId thread, TimeRange time) {
    state_.setTimeBinding(TimeBinding::kSelectedRange);
    state_.setSelectedRange(time);
    samples_->chooseThread(thread);
    showFlameGraph();
  };
  connect(binding_, &TimelineBinding::flameGraphOfTimeRequested, this, show_of_time);
  connect(bubbles_, &BubblesPanel::flameGraphRequested, this, show_of_time);
}

// The window itself, and what it starts outside.
void MainWindow::connectWindow() {
  connect(actions_.memory, &QAction::triggered, this, &MainWindow::chooseMemory);
  connect(actions_.editor, &QAction::triggered, this, &MainWindow::chooseEditor);
  connect(details_, &DetailsPanel::sourceRequested, this, &MainWindow::openSource);
  connect(source_, &SourcePanel::sourceRequested, this, &MainWindow::openSource);
  connect(samples_, &SamplesPanel::lineActivated, this, &MainWindow::openSource);
  connect(actions_.other_side, &QAction::triggered, this, [this] { docks_->hasKeyboard() ? timeline_->setFocus() : docks_->enterFront(); });
  connect(actions_.reset_layout, &QAction::triggered, this, &MainWindow::resetLayout);
  connect(actions_.keys, &QAction::triggered, this, &MainWindow::showKeys);
  connect(actions_.about, &QAction::triggered, this, &MainWindow::showAbout);
}

void MainWindow::connectAnalysis() {
  connect(&answered_, &AnsweredTrace::changed, this, [this] {
    const AnsweredTrace::Choice of = answered_.choice();
    samples_->chooseRun(of == AnsweredTrace::Choice::kBoth ? QString() : of == AnsweredTrace::Choice::kFirst ? QStringLiteral("A") : QStringLiteral("B"));
  });
  connect(timeline_, &timeline::TimelineView::waitedForRequested, waits_, &WaitSource::follow);
  connect(waits_, &WaitSource::followed, timeline_, &timeline::TimelineView::setPath);
  connect(waits_, &WaitSource::ended, this, [this](const QString& sentence) { messages_->showAnew(sentence, MessageWeight::kNote, MessageSubject::kWaits); });
  connect(&state_, &SelectionState::selectedEventChanged, this, [this] { messages_->settle(MessageSubject::kWaits); });
  connect(&state_, &SelectionState::selectedRangeChanged, this, [this] { messages_->settle(MessageSubject::kWaits); });
  connect(idle_, &IdleTimeSource::changed, this, [this] {
    timeline_->setIdleTime(idle_->idleTime());
    timeline_->setCommunicationTime(idle_->communicationTime());
    if (idle_->idleTime()) messages_->settle(MessageSubject::kGaps);
  });
  connect(actions_.bubbles, &QAction::triggered, this, [this] { docks_->enter(bubbles_); });
  connect(actions_.findings, &QAction::triggered, this, [this] {
    findings_->chooseRule({});
    docks_->enter(findings_);
  });
  std::optional<analysis::RuleOrigin> origin;
  for (const analysis::Rule& rule : analysis::rules()) {
    if (origin && *origin != rule.origin) actions_.rules->addSeparator();
    origin = rule.origin;
    QAction* entry = actions_.rules->addAction(shown_text(rule.title).replace(u'&', QStringLiteral("&&")), this, [this, name = text_of(rule.name)] {
      findings_->chooseRule(name);
      docks_->enter(findings_);
    });
    entry->setToolTip(shown_text(rule.description));
  }
  for (const stats::Report& report : stats::reports()) {
    QAction* entry = actions_.reports->addAction(shown_text(report.title).replace(u'&', QStringLiteral("&&")), this, [this, name = text_of(report.name)] {
      statistics_->chooseReport(name);
      docks_->enter(statistics_);
    });
    entry->setToolTip(shown_text(report.description));
  }
  connect(diff_, &DiffPanel::compareRequested, this, &MainWindow::chooseBeside);
  connect(diff_, &DiffPanel::bubblesRequested, this, [this](AnsweredTrace::Choice of) {
    if (answered_.choice() != AnsweredTrace::Choice::kBoth) answered_.choose(of);
    docks_->enter(bubbles_);
  });
  connect(diff_, &DiffPanel::said, this, [this](const QString& sentence) { messages_->showAnew(sentence, MessageWeight::kNote, MessageSubject::kAlignment); });
  connect(diff_, &DiffPanel::eventsRequested, this, [this] { docks_->enter(events_); });
  connect(diff_, &DiffPanel::kernelRequested, this, [this] { docks_->enter(kernel_); });
}

// Adds the keyboard commands of timelines to menus, for users who look for them there.
void MainWindow::fillTimelineMenus() {
  using Menu = timeline::TimelineCommand::Menu;
  Menu before = Menu::kNavigate;
  for (const timeline::TimelineCommand& command : timeline::timeline_commands()) {
    if (command.menu == Menu::kView) continue;
    QMenu* menu = command.menu == Menu::kRows ? actions_.rows : actions_.navigate;
    if (command.menu == Menu::kMark && before != Menu::kMark) menu->addSeparator();
    before = command.menu;
    QAction* action = add_with_timeline_key(menu, command.text, timeline::keys_text(command.keys));
    timeline_entries_.emplace_back(action, &command);
    connect(action, &QAction::triggered, this, [this, act = command.act] {
      timeline_->setFocus();
      act(*timeline_);
    });
  }
  connect(timeline_, &timeline::TimelineView::markersChanged, this, &MainWindow::enableActions);
  connect(&timeline_->selection(), &timeline::Selection::gapChanged, this, &MainWindow::enableActions);
}

void MainWindow::connectKeys() {
  KeyBindings& bindings = KeyBindings::ofProcess();
  QSet<QString> texts_of_actions;
  for (QAction* action : findChildren<QAction*>()) {
    if (action->objectName().isEmpty() || qobject_cast<QMenu*>(action->parent()) == nullptr) continue;
    bound_actions_.push_back(action);
    QString text = without_mnemonic(action->text()).remove(u'…');
    if (const auto* menu = qobject_cast<QMenu*>(action->parent()); qobject_cast<QMenu*>(menu->parent()) != nullptr)
      text = tr("%1: %2").arg(without_mnemonic(menu->title()), text);  // "Zooms" alone would not say what zooms
    texts_of_actions.insert(text);
    bindings.add({QStringLiteral("window/") + action->objectName(), text, action->shortcuts()});
  }
  for (const timeline::TimelineCommand& command : timeline::timeline_commands()) {
    KeyBindings::Keys keys;
    for (const QKeyCombination key : command.keys) keys += QKeySequence(key);
    QString text = without_mnemonic(command.text);
    if (texts_of_actions.contains(text)) text = tr("%1: %2").arg(tr("Timeline"), text);  // the window has it, too; its keys have another meaning there
    bindings.add({QStringLiteral("timeline/") + command.id, text, keys});
  }
  connect(&bindings, &KeyBindings::changed, this, &MainWindow::applyKeys);
  connect(actions_.change_keys, &QAction::triggered, this, [this] { KeyBindingsDialog(KeyBindings::ofProcess(), this).exec(); });
  applyKeys();
}

void MainWindow::applyKeys() {
  const KeyBindings& bindings = KeyBindings::ofProcess();
  for (QAction* action : bound_actions_)
    if (const auto keys = bindings.keys(QStringLiteral("window/") + action->objectName()); keys != action->shortcuts()) action->setShortcuts(keys);
  for (const timeline::TimelineCommand& command : timeline::timeline_commands()) {
    std::vector<QKeyCombination> keys;
    for (const QKeySequence& key : bindings.keys(QStringLiteral("timeline/") + command.id)) keys.push_back(key[0]);
    timeline_->setKeys(command.id, std::move(keys));
  }
  for (const auto& [action, command] : timeline_entries_) {
    const QString keys = timeline::keys_text(timeline_->keysOf(*command));
    action->setText(keys.isEmpty() ? command->text : command->text + u'\t' + keys);
  }
}

void MainWindow::connectViewActions() {
  using timeline::FollowLive;
  using timeline::TimelineView;
  QUndoStack& edits = timeline_->edits();
  connect(actions_.undo, &QAction::triggered, &edits, &QUndoStack::undo);
  connect(actions_.redo, &QAction::triggered, &edits, &QUndoStack::redo);
  connect(&edits, &QUndoStack::indexChanged, this, &MainWindow::showEdits);
  showEdits();
  timeline_->setRowScale(settings_.rowScale());
  connect(timeline_, &TimelineView::rowScaleChanged, this, [this](double scale) { settings_.setRowScale(scale); });
  if (const auto width = settings_.headerWidth()) timeline_->setHeaderWidth(*width);
  connect(timeline_, &TimelineView::headerWidthChanged, this, [this](int width) { settings_.setHeaderWidth(width); });
  connect(timeline_, &TimelineView::highlightedRequested, this, [this](timeline::EventMatches::Direction direction) {
    direction == timeline::EventMatches::Direction::kNext ? search_->next() : search_->previous();
  });
  connect(timeline_, &TimelineView::gapsRequested, this, &MainWindow::lookForGaps);
  connect(timeline_, &TimelineView::gapsEnded, this, &MainWindow::sayNoGap);
  connect(&state_, &SelectionState::selectedGapChanged, this, [this] { messages_->settle(MessageSubject::kGaps); });
  connect(actions_.back, &QAction::triggered, timeline_, &TimelineView::goBack);
  connect(actions_.forward, &QAction::triggered, timeline_, &TimelineView::goForward);
  connect(timeline_, &TimelineView::historyChanged, this, &MainWindow::enableActions);
  connect(actions_.zoom_in, &QAction::triggered, this, [this] { timeline_->zoomBy(kZoomStep); });
  connect(actions_.zoom_out, &QAction::triggered, this, [this] { timeline_->zoomBy(1 / kZoomStep); });
  connect(actions_.zoom_to_selection, &QAction::triggered, timeline_, &TimelineView::zoomToSelection);
  connect(actions_.fit, &QAction::triggered, timeline_, &TimelineView::zoomToFit);
  connect(actions_.go_to_time, &QAction::triggered, timeline_, &TimelineView::askForTime);
  connect(actions_.mark, &QAction::triggered, timeline_, &TimelineView::askForMarker);
  connect(search_, &EventSearch::searchedTextChanged, timeline_, &TimelineView::setHighlightedText);
  connect(search_, &EventSearch::searchedTextChanged, this, &MainWindow::enableActions);
  connect(samples_, &SamplesPanel::functionActivated, search_, &EventSearch::searchFor);
  const auto to_timeline = [this] { timeline_->setFocus(); };
  connect(search_, &EventSearch::left, this, to_timeline);
  connect(actions_.row_filter, &QLineEdit::returnPressed, this, to_timeline);
  leave_with_escape(*actions_.row_filter, to_timeline);
  connect(actions_.follow_live, &QAction::triggered, this, [this](bool follow) { timeline_->setFollowLive(follow ? FollowLive::kYes : FollowLive::kNo); });
  connect(timeline_, &TimelineView::followLiveChanged, this, [this](FollowLive follow) { actions_.follow_live->setChecked(follow == FollowLive::kYes); });
  connect(actions_.row_filter, &QLineEdit::textChanged, timeline_, &TimelineView::setRowFilter);
  const std::pair<QAction*, timeline::WheelUse> wheel[] = {{actions_.wheel_zooms, timeline::WheelUse::kZoom},
                                                           {actions_.wheel_scrolls, timeline::WheelUse::kScroll}};
  timeline_->setWheelUse(settings_.wheelUse());
  for (const auto& [action, use] : wheel) {
    action->setChecked(settings_.wheelUse() == use);
    connect(action, &QAction::triggered, this, [this, chosen = use] {
      settings_.setWheelUse(chosen);
      timeline_->setWheelUse(chosen);
    });
  }
  const std::pair<QAction*, Theme> themes[] = {
      {actions_.theme_system, Theme::kSystem}, {actions_.theme_light, Theme::kLight}, {actions_.theme_dark, Theme::kDark}};
  for (const auto& [action, theme] : themes) {
    action->setChecked(settings_.theme() == theme);
    connect(action, &QAction::triggered, this, [this, chosen = theme] { chooseTheme(chosen); });
  }
  fillLanguages();
}

// The menu shows what would be undone and redone.
void MainWindow::showEdits() {
  const QUndoStack& edits = timeline_->edits();
  actions_.undo->setEnabled(edits.canUndo());
  actions_.undo->setText(edits.canUndo() ? tr("&Undo: %1").arg(edits.undoText()) : tr("&Undo"));
  actions_.redo->setEnabled(edits.canRedo());
  actions_.redo->setText(edits.canRedo() ? tr("Re&do: %1").arg(edits.redoText()) : tr("Re&do"));
}

// A file is opened with its loop visible when it has been read completely.
void MainWindow::connectLoop() {
  connect(loop_, &LoopSource::found, this, [this] {
    timeline_->setLoops(loop_->loops());
    if (!loop_->loops().empty()) messages_->settle(MessageSubject::kLoop);
    std::optional<Nanoseconds> begin;
    for (const timeline::TimelineView::Loop& loop : loop_->loops()) begin = std::min(begin.value_or(loop.range.begin), loop.range.begin);
    events_->setLoopBegin(isRecording() || pair().isOpen() ? std::nullopt : begin);  // the loops of two runs begin at times of their own
    if (!session_.isReading() && !loop_->isAsked()) timeline_->openOnLoop();
  });
  connect(actions_.show_loop, &QAction::triggered, timeline_, &timeline::TimelineView::showLoop);
  connect(timeline_, &timeline::TimelineView::loopRequested, loop_, &LoopSource::ask);
  connect(loop_, &LoopSource::answered, this, [this](timeline::LoopUse use) {
    if (!timeline_->loops().empty()) return use == timeline::LoopUse::kSelected ? timeline_->selectLoop() : timeline_->showLoop();
    if (state_.trace() && has_substitutes(*state_.trace()))
      return messages_->showAnew(tr("Not all events of this trace could be read: no loop is found without them."), MessageWeight::kNote, MessageSubject::kLoop);
    messages_->showAnew(tr("No loop was found: neither NVTX ranges nor GPU work repeat for long enough."), MessageWeight::kNote, MessageSubject::kLoop);
  });
}

// If the events of a recording are read on demand, gaps are searched only on request.
void MainWindow::lookForGaps() {
  if (!state_.trace() || has_memory_for_events(*state_.trace()) || idle_->isComputing()) return;
  messages_->showAnew(
      tr("Looking for gaps of GPUs reads all events of this recording once. They are shaded as soon as they are known; G then goes to the next."),
      MessageWeight::kNote, MessageSubject::kGaps);
  idle_->look();
}

void MainWindow::sayNoGap(timeline::IdleTime::Direction direction) {
  const QString sentence = rows_of_gpus(timeline_->rows()).empty() ? tr("The trace has no GPU work, so it has no gaps.")
                           : direction == timeline::IdleTime::Direction::kNext
                               ? tr("No gap of a GPU follows that is wide enough to be seen at this zoom. Zoom in for shorter ones.")
                               : tr("No gap of a GPU comes before that is wide enough to be seen at this zoom. Zoom in for shorter ones.");
  messages_->showAnew(sentence, MessageWeight::kNote, MessageSubject::kGaps);
}

// Shows each language under its own name, because a user who needs it may read no other.
void MainWindow::fillLanguages() {
  auto* group = new QActionGroup(this);
  const auto add = [&](const QString& name, const QString& code) {
    QAction* action = group->addAction(actions_.language->addAction(name, this, [this, code] { chooseLanguage(code); }));
    action->setCheckable(true);
    action->setChecked(settings_.language() == code);
  };
  add(tr("&As the desktop"), QString());
  for (const Language* language : languages()) add(text_of(language->name), text_of(language->code));
}

void MainWindow::chooseLanguage(const QString& code) {
  settings_.setLanguage(code);
  const Language* const wished = code.isEmpty() ? &language_of_environment() : find_language(code.toStdString());
  if (wished == &shown_language()) return messages_->settle(MessageSubject::kLanguage);
  messages_->showAnew(tr("The language changes when Lanescope starts again."), MessageWeight::kNote, MessageSubject::kLanguage);
}

void MainWindow::chooseTheme(Theme theme) {
  settings_.setTheme(theme);
  apply_theme(theme);
}

void MainWindow::chooseMemory() {
  constexpr int kLeast = 64, kMost = 1 << 20;  // MiB
  constexpr int kStep = 256;
  SegmentCache& cache = SegmentCache::of_process();
  bool chosen = false;
  const int now = static_cast<int>(std::min<std::uint64_t>(cache.use().budget >> 20, kMost));
  const int megabytes = QInputDialog::getInt(
      this, tr("Memory for events"),
      tr("Events of compacted recordings that take more than this are read from the file when they are needed.\nWhat a recording that runs has beyond "
         "this waits in a temporary file.\nMiB, for recordings that are opened from now on:"),
      now, kLeast, kMost, kStep, &chosen);
  if (!chosen) return;
  const std::uint64_t bytes = static_cast<std::uint64_t>(megabytes) << 20;
  settings_.setMemoryForEvents(bytes);
  cache.set_budget(bytes);
}

// Presets to choose from, and a line for typing.
void MainWindow::chooseEditor() {
  QStringList commands;
  for (const EditorPreset& preset : editor_presets()) commands += QString::fromLatin1(preset.command);
  const QString now = settings_.editor();
  if (!commands.contains(now)) commands.prepend(now);
  bool chosen = false;
  const QString command = QInputDialog::getItem(this, tr("Editor"), tr("The command that opens a source file: %f is the file, %l the line."), commands,
                                                static_cast<int>(commands.indexOf(now)), true, &chosen);
  if (chosen) settings_.setEditor(command.trimmed());
}

void MainWindow::openSource(const QString& recorded_path, std::uint32_t line) {
  const std::optional<SourceText> found = read_source(recorded_path.toStdString(), source_->sourceFolders());
  if (const QString problem = open_in_editor(settings_.editor(), found ? found->path : recorded_path, line); !problem.isEmpty())
    showFailure(problem, MessageSubject::kEditor);
  else
    messages_->settle(MessageSubject::kEditor);
}

void MainWindow::savePicture() {
  PictureDialog dialog(timeline_->size(), timeline_->devicePixelRatioF(), this);
  if (dialog.exec() != QDialog::Accepted) return;
  const QString path = exports_->chooseFile(tr("Save the picture of the timeline"), session_.file(), exportName(QStringLiteral("timeline")), dialog.kinds());
  if (path.isEmpty()) return;
  const Exports::Write write = picture_writer(*timeline_, idle_->idleTime(), idle_->communicationTime(), path, dialog.scale());
  if (!write) return showFailure(tr("There is not enough memory for so large a picture. Choose a smaller scale."), MessageSubject::kExport);
  writeExport(path, write);
}

void MainWindow::chooseFile() {
  const QString folder = session_.file().isEmpty() ? QString() : QFileInfo(session_.file()).absolutePath();
  const QStringList paths = choose_files(this, tr("Open a trace, or several as one"), folder, file_filters(), QFileDialog::ExistingFiles);
  if (!paths.isEmpty()) openTogether(paths);
}

void MainWindow::chooseBeside() {
  const QString folder = session_.file().isEmpty() ? QString() : QFileInfo(session_.file()).absolutePath();
  const QString path = choose_files(this, tr("Open a trace beside this one"), folder, file_filters(), QFileDialog::ExistingFile).value(0);
  if (path.isEmpty()) return;
  if (state_.trace()) docks_->raise(diff_);
  openBeside(path);
}

void MainWindow::saveAs() {
  if (state_.trace()->provenance().outline_only)
    return showFailure(tr("Only the outline of the trace is loaded so far. Save it when all of it is loaded."), MessageSubject::kExport);
  timeline::RowData rows = timeline_->shownRows();
  const std::vector<SavableTrace> traces =
      savable_traces(state_.trace(), pair(), {state_.selectedRange(), timeline_->visibleRange(), {std::move(rows.lanes), std::move(rows.counters)}});
  SaveDialog dialog(traces, this);
  if (dialog.exec() != QDialog::Accepted) return;
  const ExportSelection selection = dialog.selection();
  const std::shared_ptr<const Trace> trace = traces[dialog.chosen()].trace;
  const QString file = dialog.chosen() == 0 ? session_.file() : pair().second().path;
  const QString name = QFileInfo(file).completeBaseName() + (selection.window || selection.rows ? QStringLiteral("-part") : QStringLiteral("-copy"));
  const QString path = exports_->chooseFile(tr("Save as"), file, file.isEmpty() ? QStringLiteral("trace") : name,
                                            {{tr("Lanescope trace"), QStringLiteral(".trace")},
                                             {tr("SQLite of Nsight Systems"), QStringLiteral(".sqlite")},
                                             {tr("Chrome trace, for Perfetto"), QStringLiteral(".json")},
                                             {tr("CSV, one line an event"), QStringLiteral(".csv")}});
  if (path.isEmpty()) return;
  const bool is_whole = !selection.window && !selection.rows && format_of(path.toStdString()) == TraceFormat::kTrace;
  saved_whole_ = is_whole ? path : QString();
  const auto lacks = [trace, selection] {
    const std::uint64_t unreadable = count_unreadable(*trace, selection);
    return unreadable == 0 ? QString() : tr("It lacks %1 that can't be read any more.").arg(shown_text(timeline::format_counted(unreadable, "event")));
  };
  writeExport(
      path,
      [trace, selection](const Exports::Destination& to, const std::stop_token& stop) {
        ExportSelection part = selection;
        part.stop = stop;
        part.progress = to.progress;
        return write_trace(trace, to, part);
      },
      lacks);
}

void MainWindow::exportEvents() {
  if (const QString why = events_->whyNoExport(); !why.isEmpty()) return showFailure(why, MessageSubject::kExport);
  const Exports::Write write = events_->csvWriter();  // of what is shown now
  const bool are_families = events_->showsFamilies();
  const QString path =
      exports_->chooseFile(are_families ? tr("Export families as CSV") : tr("Export events as CSV"), session_.file(),
                           exportName(are_families ? QStringLiteral("families") : QStringLiteral("events")), {{tr("CSV"), QStringLiteral(".csv")}});
  if (path.isEmpty()) return;
  writeExport(path, write);
}

void MainWindow::saveTable(const ResultTable& table) {
  const Exports::Write write = csv_writer(table.results().table());
  QString name = table.accessibleName().toLower();
  name.replace(u' ', u'-').remove(u'/');
  const QString path = exports_->chooseFile(tr("Export the table as CSV"), session_.file(), exportName(name), {{tr("CSV"), QStringLiteral(".csv")}});
  if (path.isEmpty()) return;
  writeExport(path, write);
}

// "resnet-events": the name of the trace and what is exported.
QString MainWindow::exportName(const QString& what) const {
  const QString trace = QFileInfo(session_.file()).completeBaseName();
  return trace.isEmpty() ? what : trace + u'-' + what;
}

void MainWindow::writeExport(const QString& path, Exports::Write write, Exports::Lack lacks) {
  const std::filesystem::path to = file_path(path);
  const std::vector<std::filesystem::path> open = session_.files();
  const bool is_open = std::any_of(open.begin(), open.end(), [&](const std::filesystem::path& file) {
    std::error_code is_no_file;
    return std::filesystem::equivalent(file, to, is_no_file);
  });
  if (is_open) return showFailure(tr("%1 is a file that is open. Choose another name.").arg(path), MessageSubject::kExport);
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : open) {
    std::error_code unknown;
    if (const std::uintmax_t size = std::filesystem::file_size(file, unknown); !unknown) bytes += size;
  }
  exports_->write({to, readers_of(open), state_.trace(), bytes}, std::move(write), std::move(lacks));
}

bool MainWindow::endsExport() {
  QMessageBox box(QMessageBox::Question, tr("A file is being written"),
                  tr("%1 is not finished yet. Cancel it and close the window?").arg(QFileInfo(exports_->path()).fileName()), QMessageBox::Cancel, this);
  const QPushButton* close = box.addButton(tr("Cancel it and close"), QMessageBox::DestructiveRole);
  // When the file is complete, there is nothing to ask.
  connect(exports_, &Exports::ended, &box, &QDialog::accept);
  box.exec();
  return box.clickedButton() == close || !exports_->isWriting();
}

// For finding bubbles: shows everything that keeps a GPU busy, and the largest idle time first. If there are several GPUs, the one whose row is current, else
// the first.
void MainWindow::showLongestGaps() {
  const std::vector<timeline::RowIndex> gpus = rows_of_gpus(timeline_->rows());
  if (gpus.empty()) return messages_->show(tr("The trace has no GPU work, so it has no gaps."), MessageWeight::kNote);
  const auto chosen = std::find(gpus.begin(), gpus.end(), gpu_above(timeline_->rows(), timeline_->currentRow().toStdString()));
  const QString key = QString::fromStdString(timeline_->rows().row(chosen != gpus.end() ? *chosen : gpus.front()).key);
  state_.setFilter({});  // behind a filter, the list would look like that of the longest gaps, and not have them
  binding_->showRowEvents(key);
  events_->sortBy(EventColumn::kGapBefore, SortDirection::kDescending);
  docks_->enter(events_);
  messages_->settle(MessageSubject::kGaps);
  if (gpus.size() > 1 && chosen == gpus.end())
    messages_->show(
        tr("Listed are the gaps of %1. For those of another GPU, choose a row of it first.").arg(shown_text(timeline_->rows().row(gpus.front()).label)),
        MessageWeight::kNote, MessageSubject::kGaps);
}

void MainWindow::showFlameGraph() {
  samples_->chooseView(SamplesPanel::View::kFlameGraph);
  docks_->enter(samples_);
}

void MainWindow::showKeys() {
  KeysDialog dialog(timeline_->helpText(), shortcuts(*this), this);
  dialog.exec();
}

void MainWindow::showAbout() {
  QMessageBox::about(this, tr("About Lanescope"),
                     tr("<h3>Lanescope %1</h3><p>An open timeline profiler for CUDA programs.</p>"
                        "<p>Apache License 2.0. The viewer uses Qt Widgets (LGPL 3) and Qt Charts (GPL 3).</p>")
                         .arg(QStringLiteral(LANESCOPE_VERSION)));
}

}  // namespace lanescope::ui
