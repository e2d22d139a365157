#include "event_merge.h"

#include <algorithm>

namespace lanescope {

Event EventRun::Part::front() const noexcept {
  if (!segment) return events[at];
  const auto i = static_cast<EventIndex>(at);
  return {segment->start(i), segment->duration(i), segment->name(i), segment->correlation(i), segment->detail(i)};
}

void EventRun::add(std::vector<Event> events) {
  if (!events.empty()) parts_.push_back({std::move(events), nullptr, 0});
}

void EventRun::add(std::shared_ptr<const LaneSegment> segment, EventIndex from) {
  if (from < segment->size()) parts_.push_back({{}, std::move(segment), from});
}

template <typename IsWanted>
void EventRun::take(std::vector<Event>& taken, std::size_t size, IsWanted is_wanted) {
  while (!empty() && taken.size() < size) {
    Part& part = parts_[part_];
    for (; part.at < part.size() && taken.size() < size; ++part.at) {
      const Event event = part.front();
      if (!is_wanted(event)) return;
      taken.push_back(event);
    }
    if (part.at < part.size()) return;
    part = {};
    ++part_;
  }
}

void merge(std::vector<EventRun> runs, const std::function<void(std::span<const Event>)>& visit) {
  constexpr std::size_t kAtOnce = 4'096;
  struct Head {
    Event event;
    std::size_t run;
    [[nodiscard]] bool is_behind(const Event& other, std::size_t other_run) const noexcept {
      if (outer_first(other, event)) return true;
      return !outer_first(event, other) && other_run < run;
    }
  };
  const auto comes_later = [](const Head& a, const Head& b) { return a.is_behind(b.event, b.run); };
  std::vector<Head> heads;  // a heap with the first event on top
  for (std::size_t run = 0; run < runs.size(); ++run)
    if (!runs[run].empty()) heads.push_back({runs[run].front(), run});
  std::make_heap(heads.begin(), heads.end(), comes_later);
  std::vector<Event> taken;
  const auto hand_over = [&] {
    if (!taken.empty()) visit(taken);
    taken.clear();
  };
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end(), comes_later);
    const std::size_t first = heads.back().run;
    heads.pop_back();
    const Head* const next = heads.empty() ? nullptr : &heads.front();
    const auto comes_before_next = [&](const Event& event) { return next == nullptr || next->is_behind(event, first); };
    EventRun& run = runs[first];
    while (!run.empty() && comes_before_next(run.front())) {
      run.take(taken, kAtOnce, comes_before_next);
      if (taken.size() == kAtOnce) hand_over();
    }
    if (run.empty()) continue;
    heads.push_back({run.front(), first});
    std::push_heap(heads.begin(), heads.end(), comes_later);
  }
  hand_over();
}

}  // namespace lanescope
