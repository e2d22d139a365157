#include "model/events/event_folds.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/events/name_family.h"

namespace lanescope {
namespace {

constexpr std::size_t kEventsBetweenLooks = 4096;  // between checks of the stop token

// Numbers of families; each name is examined once.
class FamilyNumbers {
 public:
  explicit FamilyNumbers(const Trace& trace) : trace_(trace), of_name_(trace.name_count(), kNone) {}

  std::uint32_t operator()(NameId name) {
    std::uint32_t& number = of_name_[name];
    if (number != kNone) return number;
    const auto [place, is_new] = numbers_.try_emplace(name_family(trace_.name(name)), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&place->first);
    return number = place->second;
  }
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return *texts_[number]; }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> of_name_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;  // keys of numbers_, whose addresses are stable
};

enum class Kept { kAllEvents, kFirstEvents };

class Folds {
 public:
  Folds(const EventValues& values, Kept kept) : values_(values), trace_(values.trace()), numbers_(trace_), kept_(kept) {}

  void add(EventRef ref) {
    const Event event = trace_.event(ref);
    const EventKind kind = event_kind(trace_, ref);
    EventFold& fold = of(kind, numbers_(listed_name(trace_, ref)), event.start);
    if (kept_ == Kept::kAllEvents || fold.count == 0) fold.events.push_back(ref);
    ++fold.count;
    fold.start = std::min(fold.start, event.start);
    fold.duration += values_.duration(ref);
    fold.bytes += static_cast<std::uint64_t>(values_.number(ref, EventColumn::kBytes).value_or(0));
  }

  [[nodiscard]] std::vector<EventFold> ordered(EventColumn column, SortDirection direction) && {
    if (column == EventColumn::kDuration)
      order_by(direction, &EventFold::duration);
    else if (column == EventColumn::kBytes)
      order_by(direction, &EventFold::bytes);
    else if (column == EventColumn::kName)
      order_by(direction, &EventFold::family);
    else if (column == EventColumn::kStart || kept_ == Kept::kFirstEvents)
      order_by(direction, &EventFold::start);
    return std::move(folds_);
  }

 private:
  EventFold& of(EventKind kind, std::uint32_t family, Nanoseconds start) {
    std::vector<std::size_t>& positions = positions_[static_cast<std::size_t>(kind)];
    if (positions.size() <= family) positions.resize(family + std::size_t{1}, kNoFold);
    if (positions[family] == kNoFold) {
      positions[family] = folds_.size();
      folds_.push_back({.kind = kind, .family = numbers_.text(family), .start = start});
    }
    return folds_[positions[family]];
  }

  template <typename Value>
  void order_by(SortDirection direction, Value EventFold::*value) {
    std::stable_sort(folds_.begin(), folds_.end(), [=](const EventFold& a, const EventFold& b) {
      return direction == SortDirection::kAscending ? a.*value < b.*value : b.*value < a.*value;
    });
  }

  static constexpr std::size_t kNoFold = static_cast<std::size_t>(-1);
  const EventValues& values_;
  const Trace& trace_;
  FamilyNumbers numbers_;
  Kept kept_;
  std::array<std::vector<std::size_t>, kEventKindCount> positions_;  // by kind, then by family
  std::vector<EventFold> folds_;
};

}  // namespace

std::vector<EventFold> fold_events(const EventValues& values, std::span<const EventRef> order, EventColumn column, SortDirection direction,
                                   const std::stop_token& stop) {
  Folds folds(values, Kept::kAllEvents);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kEventsBetweenLooks == 0 && stop.stop_requested()) return {};
    folds.add(order[i]);
  }
  return std::move(folds).ordered(column, direction);
}

std::vector<EventFold> fold_stream(const EventValues& values, const EventStream& events, EventColumn column, SortDirection direction,
                                   const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop) {
  Folds folds(values, Kept::kFirstEvents);
  std::uint64_t seen = 0;
  const auto add = [&](std::span<const EventRef> some) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (i % kEventsBetweenLooks == 0 && stop.stop_requested()) return false;
      folds.add(some[i]);
    }
    seen += some.size();
    if (progress) progress(seen);
    return true;
  };
  events.visit(add, stop);
  if (stop.stop_requested()) return {};
  return std::move(folds).ordered(column, direction);
}

}  // namespace lanescope
