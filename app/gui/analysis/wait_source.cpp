#include "analysis/wait_source.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/place.h"
#include "model/trace/domains/python_lock.h"
#include "timeline/core/navigation.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostWaits = 24;
constexpr std::size_t kMostDrawn = 20'000;  // parts of a step's way that are looked through whenever the timeline is painted

// Waits for Python's lock are events that waited.
bool is_step(const Trace& trace, EventRef event) {
  const TrackKey& key = trace.track_of(event.lane).key;
  return key.kind == TrackKind::kNvtxRanges || (key.kind == TrackKind::kNvtxProcessRanges && !is_of_python_lock(trace, key));
}

}  // namespace

struct WaitSource::Finder {
  explicit Finder(std::shared_ptr<const Trace> of) : trace(std::move(of)), waits(*trace) {}
  std::shared_ptr<const Trace> trace;
  analysis::WaitFinder waits;
};

std::vector<EventRef> WaitSource::Chain::events() const {
  std::vector<EventRef> events{event};
  for (const analysis::Wait& wait : waits)
    if (wait.event.valid()) events.push_back(wait.event);
  return events;
}

std::vector<timeline::PathPlace> WaitSource::Chain::places() const {
  std::vector<timeline::PathPlace> places;
  for (const EventRef each : events()) places.push_back(timeline::whole_place(*trace, each));
  return places;
}

std::vector<timeline::PathPlace> WaitSource::StepPath::places() const {
  // Code of one NVTX range between its calls has many parts, and the path comes by each of them. Operations and calls are seen whole.
  const auto is_code = [this](const analysis::PathPart& part) { return is_step(*trace, part.event); };
  std::map<EventRef, Nanoseconds> longest;
  for (const analysis::PathPart& part : path.parts) longest[part.event] = std::max(longest[part.event], part.range.length());
  std::vector<analysis::PathPart> drawn;
  for (const analysis::PathPart& part : path.parts)
    if (part.event.valid() && part.event != step && (is_code(part) || part.range.length() == longest[part.event])) drawn.push_back(part);
  if (drawn.size() > kMostDrawn) {
    const auto longer = [](const analysis::PathPart& a, const analysis::PathPart& b) { return a.range.length() > b.range.length(); };
    std::nth_element(drawn.begin(), drawn.begin() + kMostDrawn, drawn.end(), longer);
    drawn.resize(kMostDrawn);
    std::sort(drawn.begin(), drawn.end(), [](const analysis::PathPart& a, const analysis::PathPart& b) { return a.range.begin < b.range.begin; });
  }
  std::vector<timeline::PathPlace> places;
  for (auto part = drawn.rbegin(); part != drawn.rend(); ++part)
    if (is_code(*part))
      places.push_back({part->event, part->range});
    else if (places.empty() || places.back().event != part->event)
      places.push_back(timeline::whole_place(*trace, part->event));
  return places;
}

WaitSource::WaitSource(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state, &SelectionState::selectedEventChanged, this, &WaitSource::compute);
  grown_.after(job_);
  connect(&grown_, &PacedUpdate::due, this, &WaitSource::renew);
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return grown_.request();
    grown_.cancel();
    leaveStepPath();
    set(nullptr);
    compute();
  });
  connect(&state, &SelectionState::selectedRangeChanged, this, &WaitSource::leaveStepPathOfOthers);
  connect(&state, &SelectionState::selectedGapChanged, this, &WaitSource::leaveStepPathOfOthers);
  connect(&state, &SelectionState::selectedGapChanged, this, &WaitSource::compute);
}

EventRef WaitSource::subject() const {
  const std::optional<timeline::Selection::Gap>& gap = state_.selection().gap();
  if (state_.trace() && gap && state_.selection().latestTime() == gap->range) return operation_behind(*state_.trace(), gap->range, gap->gpu);
  return state_.selection().latestTime() ? EventRef{} : state_.selectedEvent();
}

void WaitSource::renew() {
  if (!step_path_ || !state_.trace()) return compute();
  const EventRef step = state_.inTrace(step_path_->step, *step_path_->trace);
  if (!step.valid()) return step_path_->step.valid() ? leaveStepPath() : findStepPath({}, step_path_->time, Why::kGrown);
  const Event event = state_.trace()->event(step);
  findStepPath(step, {event.start, event.end()}, Why::kGrown);
}

void WaitSource::compute() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  const EventRef event = subject();
  follows_ = false;
  leaveStepPathOfOthers();
  if (!trace || !event.valid() || trace->provenance().outline_only) {
    job_.cancel();
    return set(nullptr);
  }
  const bool is_on_chain = isOnChain(event);
  if (is_on_chain && chain_->trace == trace) return;
  if (!is_on_chain) set(nullptr);
  const EventRef of_chain = is_on_chain ? state_.inTrace(chain_->event, *chain_->trace) : EventRef{};
  const EventRef first = of_chain.valid() ? of_chain : event;
  if (!finder_ || finder_->trace != trace) finder_.reset();
  job_.start([this, trace, first, finder = finder_](const LatestJob::Context& job) mutable {
    if (!finder) finder = std::make_shared<Finder>(trace);
    const auto collective = finder->waits.collective_wait(first);
    auto chain = std::make_shared<const Chain>(Chain{trace, first, finder->waits.chain(first, kMostWaits), collective ? collective->waited : 0});
    job.deliver([this, chain, finder] {
      finder_ = finder;
      set(chain);
      if (std::exchange(follows_, false)) return step();
      if (is_followed_) emit followed(chain->places());
    });
  });
}

void WaitSource::set(std::shared_ptr<const Chain> chain) {
  if (chain == chain_) return;
  chain_ = std::move(chain);
  if (!chain_) is_followed_ = false;
  emit changed();
  if (!chain_ && !step_path_) emit followed({});
}

// The chain may be of an earlier state of the trace.
bool WaitSource::isOnChain(EventRef event) const {
  if (!chain_ || !state_.trace()) return false;
  const std::vector<EventRef> events = chain_->events();
  return std::find(events.begin(), events.end(), timeline::find_again(*state_.trace(), event, *chain_->trace)) != events.end();
}

bool WaitSource::isOnStepPath(EventRef event) const {
  if (!event.valid() || !step_path_ || !state_.trace()) return false;
  const EventRef known = timeline::find_again(*state_.trace(), event, *step_path_->trace);
  if (!known.valid()) return false;
  const auto is_it = [known](const analysis::PathPart& part) { return part.event == known; };
  return known == step_path_->step || std::any_of(step_path_->path.parts.begin(), step_path_->path.parts.end(), is_it);
}

// The path stays while its step, or an event on it, is what was selected last.
void WaitSource::leaveStepPathOfOthers() {
  if (!step_path_) return;
  const std::optional<TimeRange> time = state_.selection().latestTime();
  const bool is_its_step = time && !step_path_->step.valid() && *time == step_path_->time;
  if (!is_its_step && (time || !isOnStepPath(state_.selectedEvent()))) leaveStepPath();
}

void WaitSource::leaveStepPath() {
  if (!std::exchange(step_path_, nullptr)) return;
  emit changed();
  emit followed({});
}

void WaitSource::findStepPath(EventRef step, TimeRange time, Why why) {
  set(nullptr);
  job_.start([this, trace = state_.trace(), step, time, why](const LatestJob::Context& job) {
    auto found = std::make_shared<StepPath>(StepPath{trace, step, time, {}, {}});
    found->path = step.valid() ? analysis::critical_path(*trace, step, job.stop()) : analysis::critical_path(*trace, time, job.stop());
    if (job.stop().stop_requested()) return;
    found->sums = analysis::path_sums(*trace, found->path);
    job.deliver([this, found, why] {
      if (found->path.parts.empty()) leaveStepPath();
      if (found->path.parts.empty() && why == Why::kAsked) emit ended(tr("Nothing was recorded in it that a way back could begin with."));
      if (found->path.parts.empty()) return;
      step_path_ = found;
      emit changed();
      emit followed(found->places());
    });
  });
}

void WaitSource::follow() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const std::optional<TimeRange> time = state_.selection().latestTime();
  const EventRef event = subject();
  if (!trace || trace->provenance().outline_only) return;
  if (time && !event.valid()) return findStepPath({}, *time, Why::kAsked);
  if (event.valid() && is_step(*trace, event)) return findStepPath(event, {trace->event(event).start, trace->event(event).end()}, Why::kAsked);
  if (chain_ && chain_->trace != trace) compute();
  if (job_.isRunning())
    follows_ = true;
  else
    step();
}

void WaitSource::step() {
  if (!chain_) return;
  const std::vector<EventRef> events = chain_->events();
  const auto own = std::find(events.begin(), events.end(), subject());
  if (own == events.end()) return;
  if (own + 1 == events.end()) {
    const bool ends_in_code = !chain_->waits.empty() && chain_->waits.back().kind == analysis::WaitKind::kCode;
    return emit ended(ends_in_code ? tr("It waited for code of its own thread: the chain begins there.") : tr("What this waited for was not recorded."));
  }
  const EventRef next = own[1];
  step_path_ = nullptr;
  is_followed_ = true;
  emit followed(chain_->places());
  state_.reveal(next);
}

}  // namespace lanescope::ui
