#include "gpu_iterations.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "../own_rules.h"
#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "ranks/rank_work.h"
#include "threads/call_class.h"

namespace lanescope::analysis {

std::optional<std::size_t> Iterations::at(Nanoseconds t) const noexcept {
  const auto found = std::upper_bound(all.begin(), all.end(), t, [](Nanoseconds time, const Iteration& candidate) { return time < candidate.time.end; });
  if (found == all.end() || found->time.begin > t) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

Nanoseconds Iterations::length(std::size_t iteration) const {
  Nanoseconds longest = 0;  // all GPUs are idle for one and the same reading
  for (const auto& [gpu, of_gpu] : gpus)
    if (!of_gpu.reading.empty()) longest = std::max(longest, of_gpu.reading[iteration]);
  return all[iteration].time.length() - longest;
}

namespace {

// Begins and ends of the iterations of those that use a GPU, in order of time, so that what the GPU does is gone through once for all of them: each takes what
// sums have grown by between the two. O(log processes) each.
class IterationEnds {
 public:
  enum class End : std::uint8_t { kBegin, kEnd };

  explicit IterationEnds(std::span<OfProcess* const> users) : users_(users), next_(users.size()) {
    for (std::size_t user = 0; user < users.size(); ++user) push(user);
  }

  // Calls visit(user, iteration, end, time) for each that is not behind t, and was not visited before.
  template <typename Visit>
  void until(Nanoseconds t, Visit visit) {
    while (!heap_.empty() && heap_.front().first <= t) {
      const auto [time, user] = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      const std::size_t number = next_[user]++;
      visit(user, number / 2, number % 2 == 0 ? End::kBegin : End::kEnd, time);
      push(user);
    }
  }

 private:
  void push(std::size_t user) {
    const std::vector<Iteration>& all = users_[user]->iterations.all;
    const std::size_t number = next_[user];
    if (number / 2 == all.size()) return;
    const TimeRange& time = all[number / 2].time;
    heap_.emplace_back(number % 2 == 0 ? time.begin : time.end, user);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::span<OfProcess* const> users_;
  std::vector<std::size_t> next_;                          // of each user: twice the iteration, and one more for its end
  std::vector<std::pair<Nanoseconds, std::size_t>> heap_;  // the earliest on top
};

// Adds a time, or takes it off, where iterations lie in it.
void add_within(TimeRange time, Nanoseconds sign, std::vector<Nanoseconds>& times, const Iterations& iterations) {
  const std::vector<Iteration>& all = iterations.all;
  auto iteration = std::upper_bound(all.begin(), all.end(), time.begin, [](Nanoseconds t, const Iteration& candidate) { return t < candidate.time.end; });
  for (; iteration != all.end() && iteration->time.begin < time.end; ++iteration)
    iterations.add(times, static_cast<std::size_t>(iteration - all.begin()), sign * time.intersected(iteration->time).length());
}

const KernelWait* find_wait(std::span<const KernelWait> waits, EventRef kernel) {
  const auto found = std::lower_bound(waits.begin(), waits.end(), kernel, [](const KernelWait& wait, EventRef one) { return wait.kernel < one; });
  return found != waits.end() && found->kernel == kernel ? &*found : nullptr;
}

// What a GPU did. All of it is first given to the iterations in whose time it was done; what the process of an iteration enqueued is then moved to the one that
// did.
class WorkOfGpu {
 public:
  WorkOfGpu(const RuleContext& context, std::span<const KernelWait> waits, GpuId gpu, std::span<const TrackId> tracks, std::span<OfProcess* const> users)
      : context_(context),
        waits_(waits),
        gpu_(gpu),
        users_(users),
        communicates_(context.trace, is_communication_name),
        beside_(context.trace, tracks, communicates_, ComputedTime::Copies::kCount),
        ends_(users),
        at_begin_(users.size()) {
    for (std::size_t user = 0; user < users.size(); ++user) {
      of_process_[users[user]->series->process].push_back(user);
      first_ = std::min(first_, users[user]->iterations.all.front().time.begin);
    }
    busy_until_ = first_;
  }

  // Requires: in order of start.
  void add(const GpuOperation& operation) {
    if (operation.range.begin < first_) {
      busy_until_ = std::max(busy_until_, operation.range.end);
      return;
    }
    if (!std::exchange(has_begun_, true)) busy_.add({first_, busy_until_});
    visit_ends(operation.range.begin);
    busy_.add(operation.range);
    const bool is_communication = operation.kind == TrackKind::kKernels && communicates_(operation.name);
    Nanoseconds& until = is_communication ? covered_by_communication_ : covered_;
    const TimeRange further{std::max(operation.range.begin, until), operation.range.end};
    if (further.end <= further.begin) return;
    until = further.end;
    Done done{operation.range.begin, further, 0, 0, nullptr};
    if (is_communication) {
      const Nanoseconds alone = further.length() - beside_.within(further);
      done.wait = find_wait(waits_, operation.event);
      done.waited = done.wait == nullptr ? 0 : std::min(alone, done.wait->exposed);
      done.communicated = alone - done.waited;
      communicated_ += done.communicated;
      waited_ += done.waited;
    } else {
      work_.add(further);
    }
    if (const auto own = of_process_.find(operation.process); own != of_process_.end()) move(operation, is_communication, done, own->second);
  }
  // Behind the last.
  void finish() {
    if (!std::exchange(has_begun_, true)) busy_.add({first_, busy_until_});
    visit_ends(GpuOperations::kEver.end);
  }

 private:
  // Of an operation, as far as nothing of its kind ran before.
  struct Done {
    Nanoseconds begin = 0;
    TimeRange further;
    Nanoseconds communicated = 0;  // of communication
    Nanoseconds waited = 0;
    const KernelWait* wait = nullptr;
  };
  struct Sums {
    Nanoseconds busy = 0, work = 0, communicated = 0, waited = 0;
  };

  void visit_ends(Nanoseconds t) {
    ends_.until(t, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds time) {
      const Sums now{busy_.before(time), work_.before(time), communicated_, waited_};
      if (end == IterationEnds::End::kBegin) {
        at_begin_[user] = now;
        return;
      }
      const Sums& before = at_begin_[user];
      const Iterations& iterations = users_[user]->iterations;
      Iterations::OfGpu& of_gpu = of(user);
      iterations.add(of_gpu.busy, iteration, now.busy - before.busy);
      iterations.add(of_gpu.components[kWork], iteration, now.work - before.work);
      iterations.add(of_gpu.components[kCommunicating], iteration, now.communicated - before.communicated);
      iterations.add(of_gpu.components[kWaiting], iteration, now.waited - before.waited);
    });
  }

  // An operation of the process of these users, to the iteration that enqueued it.
  void move(const GpuOperation& operation, bool is_communication, const Done& done, const std::vector<std::size_t>& users) {
    const EventRef launch = context_.launches().find(operation.process, operation.correlation, done.begin);
    const Nanoseconds enqueued = launch.valid() ? context_.trace.lane(launch.lane).start(launch.index) : done.begin;
    for (const std::size_t user : users) {
      Iterations& iterations = users_[user]->iterations;
      Iterations::OfGpu& of_gpu = of(user);
      const std::optional<std::size_t> into = iterations.at(enqueued);
      if (is_communication) {
        if (done.waited > 0 && into) iterations.origins.push_back({*into, done.wait->origin, done.waited});
        if (!launch.valid()) continue;
        if (const std::optional<std::size_t> from = iterations.at(done.begin)) {
          iterations.add(of_gpu.components[kCommunicating], *from, -done.communicated);
          iterations.add(of_gpu.components[kWaiting], *from, -done.waited);
        }
        if (!into) continue;
        iterations.add(of_gpu.components[kCommunicating], *into, done.communicated);
        iterations.add(of_gpu.components[kWaiting], *into, done.waited);
      } else if (launch.valid()) {
        add_within(done.further, -1, of_gpu.components[kWork], iterations);
        if (into) iterations.add(of_gpu.components[kWork], *into, done.further.length());
      }
    }
  }

  [[nodiscard]] Iterations::OfGpu& of(std::size_t user) { return users_[user]->iterations.gpus[gpu_]; }

  const RuleContext& context_;
  std::span<const KernelWait> waits_;
  GpuId gpu_;
  std::span<OfProcess* const> users_;
  NameMemo<bool> communicates_;
  ComputedTime beside_;
  std::map<ProcessId, std::vector<std::size_t>> of_process_;
  IterationEnds ends_;
  std::vector<Sums> at_begin_;                    // of the iteration of each user that began last
  Nanoseconds first_ = GpuOperations::kEver.end;  // when the first iteration begins
  Nanoseconds busy_until_ = first_;               // with what began before
  bool has_begun_ = false;
  CoveredTime busy_, work_;                                                                 // by all; by what does not communicate
  Nanoseconds covered_ = GpuOperations::kEver.begin, covered_by_communication_ = covered_;  // until then; what runs at once counts once
  Nanoseconds communicated_ = 0, waited_ = 0;
};

// What all GPUs that are used did.
class WorkOfGpus : public OperationVisitor {
 public:
  using Users = std::map<GpuId, std::vector<OfProcess*>>;
  // All must outlive it.
  WorkOfGpus(const RuleContext& context, std::span<const KernelWait> waits, const Users& users)
      : context_(context), waits_(waits), users_(users), tracks_(context.trace) {}

  void begin(GpuId gpu) override {
    if (const auto of_gpu = users_.find(gpu); of_gpu != users_.end()) work_.emplace(context_, waits_, gpu, tracks_.of(gpu), of_gpu->second);
  }
  void visit(std::span<const GpuOperation> operations) override {
    if (!work_) return;
    for (const GpuOperation& operation : operations) work_->add(operation);
  }
  void end() override {
    if (work_) work_->finish();
    work_.reset();
  }

 private:
  const RuleContext& context_;
  std::span<const KernelWait> waits_;
  const Users& users_;
  GpuTracks tracks_;
  std::optional<WorkOfGpu> work_;  // of the GPU that is gone through, where it is used
};

// Why a GPU was idle: its gaps come in order of time.
class IdleOfGpu {
 public:
  IdleOfGpu(GpuId gpu, Overhead overhead, std::span<OfProcess* const> users)
      : gpu_(gpu), overhead_(overhead), users_(users), ends_(users), at_begin_(users.size()) {}

  void add(const IdlePart& part) {
    const bool reads = part.cause == IdleCause::kOverhead && overhead_ == Overhead::kReadsCounters;
    const std::size_t kind = reads ? kReading : static_cast<std::size_t>(part.cause);
    visit_ends(part.range.begin);
    // Sums at the end of an iteration have as much of the part as lies before it.
    const Sums before = sums_;
    ends_.until(part.range.end, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds time) {
      sums_.times[kind] = before.times[kind] + (time - part.range.begin);
      sums_.all = before.all + (time - part.range.begin);
      visit(user, iteration, end);
    });
    sums_.times[kind] = before.times[kind] + part.range.length();
    sums_.all = before.all + part.range.length();
  }
  void finish() { visit_ends(GpuOperations::kEver.end); }

 private:
  static constexpr std::size_t kReading = kIdleCauses;
  struct Sums {
    std::array<Nanoseconds, kIdleCauses + 1> times{};
    Nanoseconds all = 0;
  };

  void visit_ends(Nanoseconds t) {
    ends_.until(t, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds) { visit(user, iteration, end); });
  }
  void visit(std::size_t user, std::size_t iteration, IterationEnds::End end) {
    Sums& before = at_begin_[user];
    if (end == IterationEnds::End::kBegin) {
      if (before.all != sums_.all) before = sums_;
      return;
    }
    if (before.all == sums_.all) return;
    const Iterations& iterations = users_[user]->iterations;
    Iterations::OfGpu& of_gpu = users_[user]->iterations.gpus[gpu_];
    for (std::size_t i = 0; i < kIdleCauses; ++i) iterations.add(of_gpu.components[i], iteration, sums_.times[i] - before.times[i]);
    iterations.add(of_gpu.reading, iteration, sums_.times[kReading] - before.times[kReading]);
  }

  GpuId gpu_;
  Overhead overhead_;
  std::span<OfProcess* const> users_;
  IterationEnds ends_;
  std::vector<Sums> at_begin_;  // of the iteration of each user that began last
  Sums sums_;
};

}  // namespace

void add_what_gpus_did(const RuleContext& context, std::span<const KernelWait> waits, const std::map<ProcessId, std::vector<GpuId>>& gpus, Overhead overhead,
                       std::span<OfProcess> processes) {
  WorkOfGpus::Users users;
  for (OfProcess& process : processes)
    if (const auto of_process = gpus.find(process.series->process); of_process != gpus.end())
      for (const GpuId gpu : of_process->second) {
        process.iterations.gpus[gpu];
        users[gpu].push_back(&process);
      }
  if (users.empty()) return;
  WorkOfGpus work(context, waits, users);
  OperationVisitor* const beside = &work;
  std::optional<IdleOfGpu> idle;
  std::optional<GpuId> last;
  visit_idle(context, 1,
             [&](const IdleGap& gap, std::span<const IdlePart> parts) {
               const auto of_gpu = users.find(gap.gpu);
               if (of_gpu == users.end()) return;
               if (last != gap.gpu) {
                 if (idle) idle->finish();
                 idle.emplace(gap.gpu, overhead, of_gpu->second);
                 last = gap.gpu;
               }
               for (const IdlePart& part : parts) idle->add(part);
             },
             {&beside, 1});
  if (idle) idle->finish();
}

}  // namespace lanescope::analysis
