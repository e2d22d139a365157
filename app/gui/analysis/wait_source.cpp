#include "analysis/wait_source.h"

#include <algorithm>
#include <utility>

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostWaits = 24;

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

WaitSource::WaitSource(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state, &SelectionState::selectedEventChanged, this, &WaitSource::compute);
  connect(&state, &SelectionState::traceChanged, this, [this] {
    set(nullptr);
    compute();
  });
}

void WaitSource::compute() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  const EventRef event = state_.selectedEvent();
  follows_ = false;
  if (!trace || !event.valid() || trace->provenance().outline_only) {
    job_.cancel();
    return set(nullptr);
  }
  if (chain_ && chain_->trace == trace) {
    const std::vector<EventRef> events = chain_->events();
    if (std::find(events.begin(), events.end(), event) != events.end()) return;
  }
  set(nullptr);
  if (!finder_ || finder_->trace != trace) finder_.reset();
  job_.start([this, trace, event, finder = finder_](const LatestJob::Context& job) mutable {
    if (!finder) finder = std::make_shared<Finder>(trace);
    const auto collective = finder->waits.collective_wait(event);
    auto chain = std::make_shared<const Chain>(Chain{trace, event, finder->waits.chain(event, kMostWaits), collective ? collective->waited : 0});
    job.deliver([this, chain, finder] {
      finder_ = finder;
      set(chain);
      if (std::exchange(follows_, false)) step();
    });
  });
}

void WaitSource::set(std::shared_ptr<const Chain> chain) {
  if (chain == chain_) return;
  chain_ = std::move(chain);
  emit changed();
  if (!chain_) emit followed({});
}

void WaitSource::follow() {
  if (job_.isRunning())
    follows_ = true;
  else
    step();
}

void WaitSource::step() {
  if (!chain_) return;
  const std::vector<EventRef> events = chain_->events();
  const auto own = std::find(events.begin(), events.end(), state_.selectedEvent());
  if (own == events.end()) return;
  if (own + 1 == events.end()) {
    const bool ends_in_code = !chain_->waits.empty() && chain_->waits.back().kind == analysis::WaitKind::kCode;
    return emit ended(ends_in_code ? tr("It waited for code of its own thread: the chain begins there.") : tr("What this waited for was not recorded."));
  }
  const EventRef next = own[1];
  emit followed(events);
  state_.reveal(next);
}

}  // namespace lanescope::ui
