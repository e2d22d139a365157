#include "gpu_iterations.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "own_rules.h"
#include "ranks/rank_work.h"
#include "threads/call_class.h"

namespace lanescope::analysis {

std::optional<std::size_t> Iterations::at(Nanoseconds t) const noexcept {
  const auto found = std::upper_bound(all.begin(), all.end(), t, [](Nanoseconds time, const Iteration& candidate) { return time < candidate.time.end; });
  if (found == all.end() || found->time.begin > t) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

Nanoseconds Iterations::length(std::size_t iteration) const {
  Nanoseconds longest = 0;  // all GPUs are idle for the same reading
  for (const auto& [gpu, of_gpu] : gpus)
    if (!of_gpu.reading.empty()) longest = std::max(longest, of_gpu.reading[iteration]);
  return all[iteration].time.length() - longest;
}

namespace {

// Starts and ends of the iterations of the processes that use a GPU, in order of time. So the operations of the GPU are visited once for all processes:
// each takes the growth of the sums between the two. O(log processes) each.
class IterationEnds {
 public:
  enum class End : std::uint8_t { kBegin, kEnd };

  explicit IterationEnds(std::span<OfProcess* const> users) : users_(users), next_(users.size()) {
    for (std::size_t user = 0; user < users.size(); ++user) push(user);
  }

  // Calls visit(user, iteration, end, time) for each that is not after t, and was not visited before.
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
  std::vector<std::size_t> next_;                          // of each user: twice the iteration, plus one for its end
  std::vector<std::pair<Nanoseconds, std::size_t>> heap_;  // a heap with the earliest on top
};

// Adds or subtracts the parts of a time that lie in iterations.
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

// What a GPU did. Work for a process is first added to the iterations in whose time it was done, and then moved to the iteration that enqueued it.
class WorkOfGpu {
 public:
  WorkOfGpu(const RuleContext& context, std::span<const KernelWait> waits, GpuId gpu, const GpuTracks& tracks, std::span<OfProcess* const> users)
      : context_(context), waits_(waits), gpu_(gpu), users_(users), communicates_(context.trace, is_communication_name), ends_(users), at_begin_(users.size()) {
    for (std::size_t user = 0; user < users.size(); ++user) {
      const ProcessId process = users[user]->series->process;
      Owner& owner = owners_.try_emplace(process, context.trace, tracks.of(gpu, process), communicates_).first->second;
      owner.users.push_back(user);
      owner_of_user_.push_back(&owner);
      first_ = std::min(first_, users[user]->iterations.all.front().time.begin);
    }
  }

  // Requires: in order of start.
  void add(const GpuOperation& operation) {
    visit_ends(operation.range.begin);
    const TimeRange since_first{std::max(operation.range.begin, first_), std::max(operation.range.end, first_)};
    busy_.add(since_first);
    const auto found = owners_.find(operation.process);
    if (found == owners_.end()) return;
    Owner& owner = found->second;
    owner.busy.add(since_first);
    if (operation.range.begin < first_) return;
    const bool is_communication = operation.kind == TrackKind::kKernels && communicates_(operation.name);
    Nanoseconds& until = is_communication ? owner.covered_by_communication : owner.covered;
    const TimeRange further{std::max(operation.range.begin, until), operation.range.end};
    if (further.end <= further.begin) return;
    until = further.end;
    Done done{operation.range.begin, further, 0, 0, nullptr};
    if (is_communication) {
      const Nanoseconds alone = further.length() - owner.beside.within(further);
      done.wait = find_wait(waits_, operation.event);
      done.waited = done.wait == nullptr ? 0 : std::min(alone, done.wait->exposed);
      done.communicated = alone - done.waited;
      owner.communicated += done.communicated;
      owner.waited += done.waited;
    } else {
      owner.work.add(further);
    }
    move(operation, is_communication, done, owner.users);
  }
  // Called after the last operation.
  void finish() { visit_ends(GpuOperations::kEver.end); }

 private:
  // A process whose iterations are examined, and what the GPU did for it.
  struct Owner {
    Owner(const Trace& trace, std::span<const TrackId> tracks, NameMemo<bool>& communicates)
        : beside(trace, tracks, communicates, ComputedTime::Copies::kCount) {}
    std::vector<std::size_t> users;
    ComputedTime beside;
    CoveredTime busy, work;                                                                // by all operations; by those that do not communicate
    Nanoseconds covered = GpuOperations::kEver.begin, covered_by_communication = covered;  // covered until these times; concurrent work counts once
    Nanoseconds communicated = 0, waited = 0;
  };
  // The part of an operation before which nothing of its kind and process ran.
  struct Done {
    Nanoseconds begin = 0;
    TimeRange further;
    Nanoseconds communicated = 0;  // for communication
    Nanoseconds waited = 0;
    const KernelWait* wait = nullptr;
  };
  struct Sums {
    Nanoseconds of_all = 0, busy = 0, work = 0, communicated = 0, waited = 0;
  };

  void visit_ends(Nanoseconds t) {
    ends_.until(t, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds time) {
      const Owner& owner = *owner_of_user_[user];
      const Sums now{busy_.before(time), owner.busy.before(time), owner.work.before(time), owner.communicated, owner.waited};
      if (end == IterationEnds::End::kBegin) {
        at_begin_[user] = now;
        return;
      }
      const Sums& before = at_begin_[user];
      const Iterations& iterations = users_[user]->iterations;
      Iterations::OfGpu& of_gpu = of(user);
      iterations.add(of_gpu.busy, iteration, now.busy - before.busy);
      iterations.add(of_gpu.components[kOthers], iteration, (now.of_all - before.of_all) - (now.busy - before.busy));
      iterations.add(of_gpu.components[kWork], iteration, now.work - before.work);
      iterations.add(of_gpu.components[kCommunicating], iteration, now.communicated - before.communicated);
      iterations.add(of_gpu.components[kWaiting], iteration, now.waited - before.waited);
    });
  }

  // Moves an operation of the process of these users to the iteration that enqueued it.
  void move(const GpuOperation& operation, bool is_communication, const Done& done, const std::vector<std::size_t>& users) {
    const EventRef launch = context_.launches().find(operation.process, operation.correlation, done.begin);
    const Nanoseconds enqueued = launch.valid() ? context_.trace.lane(launch.lane).start(launch.index) : done.begin;
    for (const std::size_t user : users) {
      Iterations& iterations = users_[user]->iterations;
      Iterations::OfGpu& of_gpu = of(user);
      const std::optional<std::size_t> into = iterations.at(enqueued);
      if (is_communication) {
        if (done.waited > 0 && into && done.wait->origin != kNone) iterations.origins.push_back({*into, done.wait->origin, done.waited});
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
  std::map<ProcessId, Owner> owners_;
  std::vector<const Owner*> owner_of_user_;
  IterationEnds ends_;
  std::vector<Sums> at_begin_;                    // of the last iteration that started, for each user
  Nanoseconds first_ = GpuOperations::kEver.end;  // start of the first iteration
  CoveredTime busy_;                              // by all processes, since first_
};

// What all used GPUs did.
class WorkOfGpus : public OperationVisitor {
 public:
  using Users = std::map<GpuId, std::vector<OfProcess*>>;
  // All arguments must outlive it.
  WorkOfGpus(const RuleContext& context, std::span<const KernelWait> waits, const Users& users)
      : context_(context), waits_(waits), users_(users), tracks_(context.trace) {}

  void begin(GpuId gpu) override {
    if (const auto of_gpu = users_.find(gpu); of_gpu != users_.end()) work_.emplace(context_, waits_, gpu, tracks_, of_gpu->second);
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
  std::optional<WorkOfGpu> work_;  // of the current GPU, if it is used
};

enum class Overhead : std::uint8_t {
  kDiffers,       // counts as a cause of idle time like all others
  kReadsCounters  // is time that was asked for
};

// Why a GPU was idle: its gaps come in order of time, while another thread adds up what it did.
class IdleOfGpu {
 public:
  IdleOfGpu(const Trace& trace, GpuId gpu, Overhead overhead, std::span<OfProcess* const> users)
      : trace_(trace), gpu_(gpu), overhead_(overhead), users_(users), ends_(users), at_begin_(users.size()) {
    for (std::size_t user = 0; user < users.size(); ++user) {
      Owner& owner = owners_[users[user]->series->process];
      owner.users.push_back(user);
      owner_of_user_.push_back(&owner);
    }
  }

  // Adds a part of a gap in front of work of a process.
  void add(const IdleGap& gap, const IdlePart& part) {
    Nanoseconds nobody = 0;
    const auto found = owners_.find(trace_.track_of(gap.next.lane).key.process);
    Owner* const owner = found == owners_.end() ? nullptr : &found->second;
    const bool reads = part.cause == IdleCause::kOverhead && overhead_ == Overhead::kReadsCounters;
    Nanoseconds& of_all = reads ? reading_ : idle_;
    Nanoseconds& of_owner = reads || owner == nullptr ? nobody : owner->times[static_cast<std::size_t>(part.cause)];
    visit_ends(part.range.begin);
    // At the end of an iteration, the sums include the part up to that time.
    const Nanoseconds all_before = of_all, owner_before = of_owner;
    const auto add_until = [&](Nanoseconds time) {
      of_all = all_before + (time - part.range.begin);
      of_owner = owner_before + (time - part.range.begin);
    };
    ends_.until(part.range.end, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds time) {
      add_until(time);
      visit(user, iteration, end);
    });
    add_until(part.range.end);
    if (owner != nullptr && waits_on_gpu(gap, part)) lay_to_queue(gap, part, *owner);
  }
  void finish() { visit_ends(GpuOperations::kEver.end); }

 private:
  // A process whose iterations are examined, and how long the GPU was idle in front of its work, by cause.
  struct Owner {
    std::vector<std::size_t> users;
    std::array<Nanoseconds, kIdleCauses> times{};
  };
  struct Sums {
    std::array<Nanoseconds, kIdleCauses> times{};
    Nanoseconds idle = 0, reading = 0;
  };

  void visit_ends(Nanoseconds t) {
    ends_.until(t, [&](std::size_t user, std::size_t iteration, IterationEnds::End end, Nanoseconds) { visit(user, iteration, end); });
  }
  void visit(std::size_t user, std::size_t iteration, IterationEnds::End end) {
    Sums& before = at_begin_[user];
    if (before.idle == idle_ && before.reading == reading_) return;
    const Owner& owner = *owner_of_user_[user];
    if (end == IterationEnds::End::kBegin) {
      before = {owner.times, idle_, reading_};
      return;
    }
    const Iterations& iterations = users_[user]->iterations;
    Iterations::OfGpu& of_gpu = users_[user]->iterations.gpus[gpu_];
    Nanoseconds of_others = idle_ - before.idle;
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      iterations.add(of_gpu.components[i], iteration, owner.times[i] - before.times[i]);
      of_others -= owner.times[i] - before.times[i];
    }
    iterations.add(of_gpu.components[kIdleForOthers], iteration, of_others);
    iterations.add(of_gpu.reading, iteration, reading_ - before.reading);
  }

  // True if the operation at the end of the gap had been enqueued and waited for other work.
  [[nodiscard]] bool waits_on_gpu(const IdleGap& gap, const IdlePart& part) const {
    if (part.cause != IdleCause::kDependency && part.cause != IdleCause::kCommunication) return false;
    return gap.launch.valid() && gap.launch_time.end <= part.range.begin;
  }
  // Moves the part to `held` in the iterations that did not enqueue the operation.
  void lay_to_queue(const IdleGap& gap, const IdlePart& part, const Owner& owner) {
    const Nanoseconds enqueued = gap.launch_time.begin;
    for (const std::size_t user : owner.users) {
      const Iterations& iterations = users_[user]->iterations;
      Iterations::OfGpu& of_gpu = users_[user]->iterations.gpus[gpu_];
      const std::optional<std::size_t> own = iterations.at(enqueued);
      const TimeRange time = own ? TimeRange{std::max(part.range.begin, iterations.all[*own].time.end), part.range.end} : part.range;
      if (time.end <= time.begin) continue;
      add_within(time, -1, of_gpu.components[static_cast<std::size_t>(part.cause)], iterations);
      add_within(time, 1, of_gpu.held, iterations);
    }
  }

  const Trace& trace_;
  GpuId gpu_;
  Overhead overhead_;
  std::span<OfProcess* const> users_;
  std::map<ProcessId, Owner> owners_;
  std::vector<const Owner*> owner_of_user_;
  IterationEnds ends_;
  std::vector<Sums> at_begin_;          // of the last iteration that started, for each user
  Nanoseconds idle_ = 0, reading_ = 0;  // of all processes
};

}  // namespace

void add_what_gpus_did(const RuleContext& context, std::span<const KernelWait> waits, const std::map<ProcessId, std::vector<GpuId>>& gpus,
                       const std::set<GpuId>& with_readings, std::span<OfProcess> processes) {
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
                 const Overhead overhead = with_readings.contains(gap.gpu) ? Overhead::kReadsCounters : Overhead::kDiffers;
                 idle.emplace(context.trace, gap.gpu, overhead, of_gpu->second);
                 last = gap.gpu;
               }
               for (const IdlePart& part : parts) idle->add(gap, part);
             },
             {&beside, 1});
  if (idle) idle->finish();
}

}  // namespace lanescope::analysis
