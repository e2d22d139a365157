#include "session/session_controller.h"

#include <algorithm>
#include <utility>

#include <QFileInfo>

#include "base/files/file_path.h"
#include "base/text/condition_text.h"
#include "base/text/diagnostic_text.h"
#include "base/text/problem_text.h"
#include "model/import/open_trace.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {

namespace effect = session_effect;
namespace event = session_event;

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

RecordingFacts facts_of(const LiveRecording& recording) {
  return {.path = recording.path(),
          .pid = recording.pid(),
          .target = recording.wasAttachedTo() ? Target::kRunning : Target::kLaunched,
          .program_at_end = recording.programAtEnd()};
}

}  // namespace

SessionController::SessionController(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connectLoader(first_);
  connectLoader(second_);
  connect(&pair_, &TracePair::combined, this, [this](const TracePointer& trace, TraceChange change) { run(event::PairArrived{pair_ticket_, change}, trace); });
  connect(&pair_, &TracePair::sidesChanged, this, [this] {
    if (pair_.isOpen()) setFiles({pair_.first().path});
  });
}

SessionController::~SessionController() = default;

void SessionController::connectLoader(TraceLoader& loader) {
  connect(&loader, &TraceLoader::progressed, this, &SessionController::progressed);
  connect(&loader, &TraceLoader::partlyLoaded, this, [this](Ticket from, const TracePointer& trace) { run(event::PartArrived{from}, trace); });
  connect(&loader, &TraceLoader::loaded, this, [this](Ticket from, const TracePointer& trace) { run(event::FileArrived{from}, trace); });
  connect(&loader, &TraceLoader::cancelled, this, [this](Ticket from) { run(event::FileCancelled{from}); });
  connect(&loader, &TraceLoader::failed, this, [this](Ticket from, const QString& sentence) { run(event::FileFailed{from, sentence}); });
}

void SessionController::wish(const Wish& wish) { run(event::Wished{wish}); }
void SessionController::answer(const Wish& wish, event::Answer answer) { run(event::Answered{wish, answer}); }
void SessionController::closeSecond() { run(event::SecondClosed{}); }
void SessionController::cancelLoading() { run(event::LoadingCancelled{}); }
void SessionController::stop() { run(event::StopWished{}); }

bool SessionController::isSettled() const {
  return !isReading() && !machine_.awaits(Source::kRecording) && !machine_.hasQueuedSecond() && let_go_.empty() && !pair_.isCombining();
}

void SessionController::showReady(const TracePointer& trace) { run(event::SnapshotReady{ready_ticket_}, trace); }

// ---- Recordings --------------------------------------------------------------------------------------------------------------------

QString SessionController::launch(const LaunchSettings& settings) {
  LiveRecording::Started started = LiveRecording::launch(settings);
  if (!started) return shown_text(problem_message(started.error().text));
  follow(std::move(*started));
  return {};
}

QString SessionController::launchElsewhere(const RemoteSettings& settings) {
  LiveRecording::Started started = LiveRecording::launchElsewhere(settings);
  if (!started) return QString::fromStdString(started.error().text);
  follow(std::move(*started));
  return {};
}

void SessionController::attach(const AttachSettings& settings, std::function<void(const QString& problem)> done) {
  LiveRecording::attach(settings, attach_job_, [this, done = std::move(done)](LiveRecording::Started started) {
    const QString problem = started ? QString() : shown_text(problem_message(started.error().text));
    if (started) follow(std::move(*started));
    done(problem);
  });
}

void SessionController::follow(std::unique_ptr<LiveRecording> recording) {
  begun_ = std::move(recording);
  run(event::RecordingBegan{});
}

void SessionController::connectRecording(LiveRecording& recording, Ticket ticket) {
  connect(&recording, &LiveRecording::grown, this, [this, ticket](const TracePointer& trace) { run(event::SnapshotArrived{ticket}, trace); });
  connect(&recording, &LiveRecording::progressed, this, &SessionController::recordingProgressed);
  connect(&recording, &LiveRecording::programOutlivesStop, this, &SessionController::programOutlivesStop);
  connect(&recording, &LiveRecording::message, this, [this](const QString& sentence) { say(shown_text(diagnostic_message(sentence.toStdString()))); });
  connect(&recording, &LiveRecording::ended, this, [this, ticket](const session::RecordingOutcome& outcome, const TracePointer& whole) {
    const RecordingFacts facts = facts_of(*recording_);
    const QStringList further = recording_->further();
    recording_->setParent(this);
    recording_.release()->deleteLater();  // it is still executing until this returns
    const bool is_alone = is_shown_alone(outcome, facts, whole.get());
    run(event::RecordingEnded{ticket, is_alone ? QString() : facts.path, further});
    if (is_alone && outcome.failure) emit shownAlone(shown_text(diagnostic_message(outcome.failure->text)));
    for (const Notice& message : end_messages(outcome, facts, whole.get())) emit said(message);
    emit recordingEnded();
  });
}

// The recording ends by itself without being drawn; then a message tells where it is.
void SessionController::letGo() {
  if (!recording_) return;
  LiveRecording* recording = recording_.get();
  recording->disconnect(this);
  connect(recording, &LiveRecording::message, this, [this](const QString& sentence) { say(shown_text(diagnostic_message(sentence.toStdString()))); });
  connect(recording, &LiveRecording::ended, this, [this, recording](const session::RecordingOutcome& outcome, const TracePointer& whole) {
    const RecordingFacts facts = facts_of(*recording);
    if (!facts.path.isEmpty() && !outcome.failure) say(tr("The previous recording is complete: %1").arg(facts.path));
    for (const Notice& message : end_messages(outcome, facts, whole.get())) emit said(message);
    const auto found = std::find_if(let_go_.begin(), let_go_.end(), [&](const auto& each) { return each.get() == recording; });
    found->release()->deleteLater();
    let_go_.erase(found);
    emit completed();
  });
  let_go_.push_back(std::move(recording_));
  if (!recording->isStopping()) recording->stop();
}

// ---- What is shown -----------------------------------------------------------------------------------------------------------------

// Events that occur while an event is being carried out are queued.
void SessionController::run(const SessionEvent& event, TracePointer trace) {
  events_.emplace_back(event, std::move(trace));
  if (events_.size() > 1) return;
  while (!events_.empty()) {
    for (const SessionEffect& effect : machine_.handle(events_.front().first)) carryOut(effect, events_.front().second);
    events_.pop_front();
  }
  emit changed();
}

QString SessionController::recordedFile() const { return recording_ ? recording_->path() : QString(); }

void SessionController::setFiles(const QStringList& paths) {
  if (paths == files_) return;
  files_ = paths;
  emit fileChanged();
}

std::vector<std::filesystem::path> SessionController::files() const {
  std::vector<std::filesystem::path> named;
  for (const QString& path : files_)
    if (!path.isEmpty()) named.push_back(file_path(path));
  if (pair_.isOpen()) named.push_back(file_path(pair_.second().path));
  // A folder that can no longer be read has no files that anybody could write to.
  const Result<std::vector<std::filesystem::path>> files = trace_files(named);
  return files ? *files : named;
}

Wish SessionController::sameAgain() const { return {WishKind::kOpen, file(), files_.mid(1), pair_.isOpen() ? pair_.second().path : QString()}; }

void SessionController::carryOut(const SessionEffect& effect, const TracePointer& trace) {
  std::visit(
      Overloaded{[this](const effect::Ask& ask) { emit asked(ask.wish); }, [this](const effect::Begin& begin) { emit begun(begin.wish); },
                 [this](const effect::BeginElsewhere& begin) { emit begunElsewhere(begin.wish); },
                 [this](const effect::Read& read) {
                   if (machine_.state() != SessionState::kEnded) emit somethingBegan();
                   pathsOf(read.as.source) = QStringList(read.path) + read.further;
                   const bool of_several = state_.trace() && !state_.trace()->parts().empty() && !pair_.isOpen();
                   if (read.as.source == Source::kSecondFile && of_several)
                     return run(event::FileFailed{read.as, tr("Several traces are open as one, which can't be compared. Compare two of them, or folders of "
                                                              "traces with lanescope diff.")});
                   emit loading(read.path);
                   loaderOf(read.as.source).load(pathsOf(read.as.source), read.as);
                 },
                 [this](const effect::CancelReading& cancel) { loaderOf(cancel.source).cancel(); },
                 [this](const effect::AbandonReading& abandon) { loaderOf(abandon.source).abandon(); },
                 [this](const effect::Follow& follow) {
                   emit somethingBegan();
                   recording_ = std::move(begun_);
                   connectRecording(*recording_, follow.as);
                   state_.setTrace(nullptr, TraceChange::kOther);
                   setFiles({recording_->path()});
                   emit recordingBegan();
                 },
                 [this](const effect::LetGo&) { letGo(); },
                 [this](const effect::StopRecording&) {
                   if (recording_) recording_->stop();
                 },
                 [this, &trace](const effect::Show& show) {
                   state_.setTrace(trace, show.change);
                   switch (show.from.source) {
                     case Source::kFile:
                       setFiles(first_paths_);
                       break;
                     case Source::kRecording:
                       if (recording_) setFiles({recording_->path()});
                       break;
                     case Source::kPair:
                       if (show.change == TraceChange::kOther) emit swapped();
                       break;
                     case Source::kSecondFile:
                       break;
                   }
                 },
                 [this, &trace](const effect::MakeReady& ready) {
                   ready_ticket_ = ready.from;
                   emit toBeMadeReady(trace);
                 },
                 [this, &trace](const effect::OpenPair& open) {
                   const TracePair::Side first = pair_.isOpen() ? pair_.first() : TracePair::Side{state_.trace(), file()};
                   pair_ticket_ = open.as;
                   pair_.open(first, {trace, second_paths_.value(0)});
                 },
                 [this](const effect::ClosePair&) { pair_.close(); },
                 [this](const effect::ShowFirst&) {
                   const TracePair::Side first = pair_.first();
                   pair_.close();
                   state_.setTrace(first.trace, TraceChange::kSnapshot);
                   files_ = {first.path};
                   emit fileChanged();  // also if it is the same file, because it is shown alone now
                 },
                 [this, &trace](const effect::SayOpened& whole) {
                   if (!trace->provenance().condition.empty()) say(shown_text(condition_message(trace->provenance().condition)));
                   whole.as.source == Source::kFile ? emit opened(first_paths_.value(0)) : emit openedBeside(second_paths_.value(0));
                 },
                 [this](const effect::SayFailed& failure) { emit failed(failure.sentence, pathsOf(failure.from.source).value(0)); },
                 [this](const effect::SayPartIsShown&) { say(tr("Loading was cancelled: a part of the trace is shown.")); }},
      effect);
}

}  // namespace lanescope::ui
