#include "collective_waits.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "model/trace/combining/parts.h"

namespace lanescope::analysis {
namespace {

constexpr Nanoseconds kEndsDiffer = 50'000;      // of the kernels of one collective
constexpr std::uint64_t kKernelsOfStretch = 16;  // of a lane, on average: data that is looked up in them stays in the processor's cache

bool is_collective_name(std::string_view name) noexcept { return is_communication_name(name) && !is_send_or_receive_name(name); }

// A kernel that may be that of the last rank: shorter kernels come first, and of equal ones the first in the trace.
struct Candidate {
  Nanoseconds duration = std::numeric_limits<Nanoseconds>::max();
  std::uint32_t order = 0;  // in the trace, among those of its name
  std::uint32_t rank = kNone;
  [[nodiscard]] bool is_before(const Candidate& other) const noexcept { return std::tie(duration, order) < std::tie(other.duration, other.order); }
};

// The first of some candidates of any rank, and the first one of another rank: so for every rank the first candidate of another rank is known.
class FirstOfTwoRanks {
 public:
  void add(const Candidate& candidate) noexcept {
    if (candidate.is_before(first_)) {
      if (candidate.rank != first_.rank) second_ = first_;
      first_ = candidate;
    } else if (candidate.rank != first_.rank && candidate.is_before(second_)) {
      second_ = candidate;
    }
  }
  [[nodiscard]] const Candidate& of_another(std::uint32_t rank) const noexcept { return first_.rank == rank ? second_ : first_; }

 private:
  Candidate first_, second_;
};

// Candidates by a position; the first one below a position can be asked for. Each step is O(log positions).
class Prefixes {
 public:
  explicit Prefixes(std::size_t positions) : nodes_(positions + 1) {}
  void add(std::size_t position, const Candidate& candidate) noexcept {
    for (std::size_t i = position + 1; i < nodes_.size(); i += i & -i) nodes_[i].add(candidate);
  }
  [[nodiscard]] Candidate first_below(std::size_t position, std::uint32_t of_other_than) const noexcept {
    Candidate first;
    for (std::size_t i = position; i > 0; i -= i & -i)
      if (const Candidate& each = nodes_[i].of_another(of_other_than); each.is_before(first)) first = each;
    return first;
  }

 private:
  std::vector<FirstOfTwoRanks> nodes_;
};

}  // namespace

struct CollectiveWaits::Kernel {
  EventRef event;
  TimeRange time;
  std::uint32_t rank;
  std::uint32_t company;
  std::uint32_t order;  // in the trace, among those of its name

  [[nodiscard]] Nanoseconds reach() const noexcept { return std::max(time.end, time.begin + 1); }  // a kernel of length 0 is at its start
};

CollectiveWaits::CollectiveWaits(const Trace& trace) : trace_(trace), is_collective_(trace, is_collective_name) {
  find_companies();
  std::map<std::pair<ProcessId, GpuId>, std::uint32_t> ranks;
  std::uint64_t kernels = 0;
  for (TrackId id = 0; id < trace.tracks().size(); ++id) {
    const Track& track = trace.tracks()[id];
    if (track.key.kind != TrackKind::kKernels) continue;
    const auto rank = ranks.try_emplace({track.key.process, track.key.gpu}, static_cast<std::uint32_t>(ranks.size())).first->second;
    const TracePart* const part = part_of(trace, id);
    const std::uint32_t company = part == nullptr || company_of_part_.empty() ? static_cast<std::uint32_t>(together_.size() - 1)
                                                                              : company_of_part_[static_cast<std::size_t>(part - trace.parts().data())];
    for (const LaneId lane : track.lanes) {
      if (trace.lane(lane).size() == 0) continue;
      const TimeRange extent = trace.lane(lane).extent();
      extent_ = lanes_.empty() ? extent : TimeRange{std::min(extent_.begin, extent.begin), std::max(extent_.end, extent.end)};
      lanes_.push_back({lane, rank, company});
      kernels += trace.lane(lane).size();
    }
  }
  if (ranks.size() < 2) return;  // nothing waits
  const std::uint64_t stretches = 1 + kernels / (kKernelsOfStretch * lanes_.size());
  stretch_ = 1 + static_cast<Nanoseconds>(static_cast<std::uint64_t>(extent_.length()) / stretches);
  stretches_.resize(1 + static_cast<std::size_t>(extent_.length() / stretch_));
}

// Parts that ran together with the same others form a company. The last company is for tracks that belong to no part, which ran together with all.
void CollectiveWaits::find_companies() {
  const std::vector<TracePart>& parts = trace_.parts();
  std::map<std::vector<bool>, std::uint32_t> companies;
  std::vector<std::size_t> first_of_company;
  if (parts.size() > 1)
    for (const TracePart& part : parts) {
      std::vector<bool> others;
      for (const TracePart& other : parts) others.push_back(ran_together(part, other, parts.front()));
      const auto [company, is_new] = companies.try_emplace(std::move(others), static_cast<std::uint32_t>(companies.size()));
      if (is_new) first_of_company.push_back(company_of_part_.size());
      company_of_part_.push_back(company->second);
    }
  together_.assign(companies.size() + 1, std::vector<bool>(companies.size() + 1, true));
  for (const auto& [others, company] : companies)
    for (std::size_t other = 0; other < first_of_company.size(); ++other) together_[company][other] = others[first_of_company[other]];
}

std::optional<EventRef> CollectiveWaits::last_of(EventRef kernel) {
  const Nanoseconds end = trace_.lane(kernel.lane).end(kernel.index);
  if (stretches_.empty() || end < extent_.begin || end > extent_.end) return std::nullopt;
  const auto number = static_cast<std::size_t>((end - extent_.begin) / stretch_);
  std::optional<Waits>& waits = stretches_[number];
  if (!waits) waits = waits_in(stretch(number));
  const auto found = std::lower_bound(waits->begin(), waits->end(), kernel, [](const Waiting& wait, EventRef event) { return wait.kernel < event; });
  return found != waits->end() && found->kernel == kernel ? std::optional(found->last) : std::nullopt;
}

void CollectiveWaits::for_each(const std::function<void(const Waiting&)>& visit, const std::stop_token& stop) const {
  for (std::size_t number = 0; number < stretches_.size() && !stop.stop_requested(); ++number)
    for (const Waiting& wait : waits_in(stretch(number))) visit(wait);
}

// The last stretch ends after all ends.
TimeRange CollectiveWaits::stretch(std::size_t number) const noexcept {
  const Nanoseconds begin = extent_.begin + static_cast<Nanoseconds>(number) * stretch_;
  return {begin, begin + std::min(stretch_, extent_.end + 1 - begin)};
}

CollectiveWaits::Waits CollectiveWaits::waits_in(TimeRange ends) const {
  std::map<NameId, std::vector<Kernel>> by_name;
  for (const Rank& rank : lanes_) {
    const Lane& lane = trace_.lane(rank.lane);
    const auto [first, last] = lane.overlapping({ends.begin - kEndsDiffer, ends.end + kEndsDiffer});
    for (EventIndex i = first; i < last; ++i)
      if (const NameId name = lane.name(i); is_collective_(name)) {
        std::vector<Kernel>& kernels = by_name[name];
        kernels.push_back({{rank.lane, i}, {lane.start(i), lane.end(i)}, rank.number, rank.company, static_cast<std::uint32_t>(kernels.size())});
      }
  }
  Waits waits;
  for (auto& [name, kernels] : by_name) match(kernels, ends, waits);
  std::sort(waits.begin(), waits.end());
  return waits;
}

// A kernel's collective consists of the kernels that reach into the time around its end. (They end then, give or take the length of the shorter of the
// two: a kernel that ends later than that is no shorter, and nothing waited for it.) They are added by their starts, and looked up by how far they
// reach.
void CollectiveWaits::match(std::vector<Kernel>& kernels, TimeRange ends, Waits& waits) const {
  std::vector<EventRef> events;  // by order
  std::vector<Nanoseconds> reaches;
  std::vector<std::uint32_t> companies;
  for (const Kernel& kernel : kernels) {
    events.push_back(kernel.event);
    reaches.push_back(kernel.reach());
    companies.push_back(kernel.company);
  }
  std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.time.begin < b.time.begin; });
  std::vector<const Kernel*> by_end;
  for (const Kernel& kernel : kernels)
    if (kernel.time.end >= ends.begin && kernel.time.end < ends.end) by_end.push_back(&kernel);
  std::sort(by_end.begin(), by_end.end(), [](const Kernel* a, const Kernel* b) { return a->time.end < b->time.end; });
  std::sort(reaches.begin(), reaches.end(), std::greater());
  const auto reaching_past = [&](Nanoseconds t) {  // number of kernels that reach past t
    return static_cast<std::size_t>(std::lower_bound(reaches.begin(), reaches.end(), t, std::greater()) - reaches.begin());
  };
  std::sort(companies.begin(), companies.end());
  companies.erase(std::unique(companies.begin(), companies.end()), companies.end());
  for (const std::uint32_t company : companies) {
    Prefixes taken(reaches.size());
    auto next = kernels.begin();
    for (const Kernel* const kernel : by_end) {
      if (kernel->company != company) continue;
      for (; next != kernels.end() && next->time.begin < kernel->time.end + kEndsDiffer; ++next)
        if (together_[company][next->company]) taken.add(reaching_past(next->reach()), {next->time.length(), next->order, next->rank});
      const Candidate last = taken.first_below(reaching_past(kernel->time.end - kEndsDiffer), kernel->rank);
      if (last.rank != kNone && last.duration < kernel->time.length())
        waits.push_back({kernel->event, events[last.order], kernel->time.length() - last.duration});
    }
  }
}

}  // namespace lanescope::analysis
