#include "collector/python/sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>

#include "collector/channel/clock.h"
#include "program.h"

namespace lanescope::python {
namespace {

using channel::monotonic_now;

constexpr std::int64_t kOldest = 100'000'000;  // most ns between a reading and a sample that is joined with it
constexpr int kPriority = -10;                 // a nice value
constexpr std::int64_t kShare = 5;             // at most a fifth of one processor is used

}  // namespace

class Sampler::State {
 public:
  explicit State(std::uint32_t frequency) : period_(1'000'000'000 / std::max<std::uint32_t>(frequency, 1)) {
    thread_ = std::thread([this] { loop(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void watch(pid_t process) {
    const std::lock_guard lock(mutex_);
    if (const auto [entry, inserted] = programs_.try_emplace(process); inserted)
      entry->second = std::make_shared<Program>(process);
    else
      look_anew_.push_back(entry->second);
    has_new_ = true;
    changed_.notify_all();
  }
  void forget(pid_t process) {
    const std::lock_guard lock(mutex_);
    programs_.erase(process);
  }
  void start() {
    const std::lock_guard lock(mutex_);
    is_sampling_ = true;
    changed_.notify_all();
  }
  void pause() {
    const std::lock_guard lock(mutex_);
    is_sampling_ = false;
  }
  [[nodiscard]] std::shared_ptr<const Program> find(pid_t process) const {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(process);
    return found == programs_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Counts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  [[nodiscard]] std::vector<std::string> take_refusals() {
    const std::lock_guard lock(mutex_);
    return std::exchange(refusals_, {});
  }

 private:
  using Programs = std::vector<std::shared_ptr<Program>>;

  void loop() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    // If all processors are busy, a reading that waits for one happens after programs have lost theirs; a higher priority avoids that. Not every user
    // may set it.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kPriority);
    std::int64_t next = 0;
    for (Programs programs; wait(next, programs); programs.clear()) {
      const std::int64_t begin = monotonic_now();
      const std::int64_t used_before = channel::clock_now(CLOCK_THREAD_CPUTIME_ID);
      for (const std::shared_ptr<Program>& program : programs) read(*program);
      const std::int64_t used = channel::clock_now(CLOCK_THREAD_CPUTIME_ID) - used_before;
      next = begin + std::max(period_, used * kShare);
      const bool has_interpreter = std::any_of(programs.begin(), programs.end(), [](const std::shared_ptr<Program>& program) { return program->is_read(); });
      if (has_interpreter) continue;
      // There is nothing to read, so waking up a thousand times a second would be useless.
      std::int64_t look = begin + 1'000'000'000;
      for (const std::shared_ptr<Program>& program : programs) look = std::min(look, program->next_look());
      next = std::max(next, look);
    }
  }

  // Waits until `next`, or until there is something new; returns false when everything ends.
  bool wait(std::int64_t next, Programs& programs) {
    std::unique_lock lock(mutex_);
    const std::chrono::steady_clock::time_point then{std::chrono::nanoseconds(next)};
    while (!is_ended_) {
      for (const std::shared_ptr<Program>& program : look_anew_) program->look_anew();
      look_anew_.clear();
      if (is_sampling_ && !programs_.empty() && (has_new_ || monotonic_now() >= next)) break;
      if (is_sampling_ && !programs_.empty())
        changed_.wait_until(lock, then);
      else
        changed_.wait(lock);
    }
    has_new_ = false;
    for (const auto& [process, program] : programs_) programs.push_back(program);
    return !is_ended_;
  }

  void read(Program& program) {
    const std::uint64_t readings_before = program.readings();
    const std::uint64_t torn_before = program.torn();
    std::optional<std::string> sentence = program.read(monotonic_now(), finder_, functions_);
    const std::lock_guard lock(mutex_);
    if (sentence) refusals_.push_back(std::move(*sentence));
    counts_.programs += readings_before == 0 && program.readings() > 0 ? 1 : 0;
    counts_.readings += program.readings() - readings_before;
    counts_.torn += program.torn() > torn_before ? program.torn() - torn_before : 0;
  }

  std::int64_t period_;
  InterpreterFinder finder_;
  FunctionTable functions_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<pid_t, std::shared_ptr<Program>> programs_;
  Programs look_anew_;
  bool has_new_ = false;  // there are programs that have not been looked at
  bool is_sampling_ = false;
  bool is_ended_ = false;
  Counts counts_;
  std::vector<std::string> refusals_;
  std::thread thread_;
};

Sampler::Sampler(std::uint32_t frequency) : state_(std::make_unique<State>(frequency)) {}
Sampler::~Sampler() = default;

void Sampler::watch(pid_t process) { state_->watch(process); }
void Sampler::forget(pid_t process) { state_->forget(process); }
void Sampler::start() { state_->start(); }
void Sampler::pause() { state_->pause(); }

std::shared_ptr<const Stack> Sampler::at(pid_t process, std::uint32_t thread, std::int64_t time, const RanAt& ran_at) const {
  const std::shared_ptr<const Program> program = state_->find(process);
  return program ? program->at(thread, time, kOldest, ran_at) : nullptr;
}

std::shared_ptr<const Stack> Sampler::within(pid_t process, std::uint32_t thread, std::int64_t from, std::int64_t until) const {
  const std::shared_ptr<const Program> program = state_->find(process);
  return program ? program->within(thread, from, until) : nullptr;
}

bool Sampler::is_loop(pid_t process, std::uint64_t address) const {
  const std::shared_ptr<const Program> program = state_->find(process);
  return program && program->is_loop(address);
}

Sampler::Counts Sampler::counts() const { return state_->counts(); }
std::vector<std::string> Sampler::take_refusals() { return state_->take_refusals(); }

}  // namespace lanescope::python
