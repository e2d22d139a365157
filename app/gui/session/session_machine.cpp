#include "session/session_machine.h"

#include <utility>

namespace lanescope::ui {

namespace effect = session_effect;

std::vector<SessionEffect> SessionMachine::handle(const SessionEvent& event) {
  effects_.clear();
  std::visit([this](const auto& each) { on(each); }, event);
  return std::exchange(effects_, {});
}

Ticket SessionMachine::start(Source source) { return {source, awaited(source) = ++last_generation_}; }

void SessionMachine::show(Ticket from, TraceChange change) {
  shown_ = from;
  effects_.emplace_back(effect::Show{from, change});
}

// ---- What the user asks for --------------------------------------------------------------------------------------------------------

void SessionMachine::on(const session_event::Wished& event) {
  if (state_ != SessionState::kRecording) return begin(event.wish);
  const bool asked_before = next_ && next_->kind == WishKind::kClose && event.wish.kind == WishKind::kClose;
  if (asked_before)
    stopRecording();
  else
    effects_.emplace_back(effect::Ask{event.wish});
}

void SessionMachine::on(const session_event::Answered& event) {
  using session_event::Answer;
  if (event.answer == Answer::kNot) return;
  if (event.answer == Answer::kElsewhere) return effects_.emplace_back(effect::BeginElsewhere{event.wish}), void();
  // A program is started before the running recording is let go, so that nothing is lost if it cannot be started.
  const bool is_recording = event.wish.kind == WishKind::kLaunch || event.wish.kind == WishKind::kAttach || event.wish.kind == WishKind::kRecordElsewhere;
  if (state_ != SessionState::kRecording || is_recording) return begin(event.wish);  // it may have ended while the question was open
  next_ = event.wish;
  if (stopping_ == Stopping::kNo) stopRecording();  // if it is stopping already, the rest of its data is waited for
}

void SessionMachine::stopRecording() {
  stopping_ = Stopping::kAsked;
  effects_.emplace_back(effect::StopRecording{});
}

void SessionMachine::begin(const Wish& wish) {
  switch (wish.kind) {
    case WishKind::kOpen:
      read(Source::kFile, wish.path, wish.further);
      queued_second_ = wish.beside;
      return;
    case WishKind::kOpenBeside:
      if (state_ == SessionState::kLoading || state_ == SessionState::kEnded)
        queued_second_ = wish.path;
      else
        read(shown_.generation != 0 ? Source::kSecondFile : Source::kFile, wish.path);
      return;
    case WishKind::kLaunch:
    case WishKind::kAttach:
    case WishKind::kRecordElsewhere:
    case WishKind::kClose:
      effects_.emplace_back(effect::Begin{wish});
  }
}

void SessionMachine::read(Source source, const QString& path, const QStringList& further) {
  if (source == Source::kFile) giveUpFiles();
  effects_.emplace_back(effect::Read{start(source), path, further});
  state_ = source == Source::kFile ? SessionState::kLoading : SessionState::kComparing;
}

void SessionMachine::giveUpFiles() {
  queued_second_.clear();
  for (const Source source : {Source::kFile, Source::kSecondFile})
    if (std::exchange(awaited(source), 0) != 0) effects_.emplace_back(effect::AbandonReading{source});
}

void SessionMachine::closePair() {
  if (std::exchange(awaited(Source::kPair), 0) != 0) effects_.emplace_back(effect::ClosePair{});
}

void SessionMachine::on(const session_event::SecondClosed&) {
  if (!isPairOpen()) return;
  awaited(Source::kPair) = 0;
  shown_ = first_of_pair_;
  effects_.emplace_back(effect::ShowFirst{});
  if (state_ == SessionState::kComparing && !awaits(Source::kSecondFile)) state_ = SessionState::kIdle;
}

void SessionMachine::on(const session_event::LoadingCancelled&) {
  queued_second_.clear();
  for (const Source source : {Source::kFile, Source::kSecondFile})
    if (awaits(source)) effects_.emplace_back(effect::CancelReading{source});
}

void SessionMachine::on(const session_event::StopWished&) {
  if (state_ == SessionState::kRecording) stopRecording();
}

void SessionMachine::on(const session_event::RecordingBegan&) {
  if (awaits(Source::kRecording)) effects_.emplace_back(effect::LetGo{});
  next_.reset();
  stopping_ = Stopping::kNo;
  giveUpFiles();
  closePair();
  shown_ = {};
  effects_.emplace_back(effect::Follow{start(Source::kRecording)});
  state_ = SessionState::kRecording;
}

// ---- What arrives ------------------------------------------------------------------------------------------------------------------

void SessionMachine::on(const session_event::PartArrived& event) {
  if (!isAwaited(event.from) || event.from.source != Source::kFile || state_ != SessionState::kLoading) return;
  if (shown_ == event.from) return effects_.emplace_back(effect::MakeReady{event.from}), void();
  closePair();
  show(event.from, TraceChange::kOther);
}

void SessionMachine::on(const session_event::FileArrived& event) {
  if (!isAwaited(event.from)) return;
  if (event.from.source == Source::kSecondFile) {
    endReading(Source::kSecondFile);
    if (!isPairOpen()) first_of_pair_ = shown_;
    effects_.emplace_back(effect::OpenPair{start(Source::kPair)});
    state_ = SessionState::kComparing;
    return effects_.emplace_back(effect::SayOpened{event.from}), void();
  }
  const bool continues = shown_ == event.from || (state_ == SessionState::kEnded && shown_.source == Source::kRecording);
  closePair();
  show(event.from, continues ? TraceChange::kSnapshot : TraceChange::kOther);
  endReading(Source::kFile);
  effects_.emplace_back(effect::SayOpened{event.from});
  if (!queued_second_.isEmpty()) read(Source::kSecondFile, std::exchange(queued_second_, {}));
}

void SessionMachine::endReading(Source source) {
  awaited(source) = 0;
  state_ = isPairOpen() ? SessionState::kComparing : SessionState::kIdle;
}

void SessionMachine::on(const session_event::FileFailed& event) {
  if (!isAwaited(event.from)) return;
  queued_second_.clear();
  endReading(event.from.source);
  effects_.emplace_back(effect::SayFailed{event.from, event.sentence});
}

void SessionMachine::on(const session_event::FileCancelled& event) {
  if (!isAwaited(event.from)) return;
  queued_second_.clear();
  endReading(event.from.source);
  if (shown_ == event.from) effects_.emplace_back(effect::SayPartIsShown{});
}

void SessionMachine::on(const session_event::SnapshotArrived& event) {
  if (!isAwaited(event.from)) return;
  if (shown_ == event.from)
    effects_.emplace_back(effect::MakeReady{event.from});
  else
    show(event.from, TraceChange::kOther);
}

void SessionMachine::on(const session_event::SnapshotReady& event) {
  const bool is_newest = isAwaited(event.from) || state_ == SessionState::kEnded;
  if (shown_ == event.from && is_newest) show(event.from, TraceChange::kSnapshot);
}

void SessionMachine::on(const session_event::RecordingEnded& event) {
  if (!isAwaited(event.from)) return;
  awaited(Source::kRecording) = 0;
  stopping_ = Stopping::kNo;
  state_ = SessionState::kIdle;
  const std::optional<Wish> next = std::exchange(next_, std::nullopt);
  const bool leaves_it = next && next->kind != WishKind::kOpenBeside;
  if (!leaves_it && !event.file.isEmpty()) {
    effects_.emplace_back(effect::Read{start(Source::kFile), event.file, event.further});
    state_ = SessionState::kEnded;
  }
  if (next) begin(*next);
}

void SessionMachine::on(const session_event::PairArrived& event) {
  if (isAwaited(event.from)) show(event.from, event.change);
}

}  // namespace lanescope::ui
