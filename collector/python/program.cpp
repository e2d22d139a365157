#include "program.h"

#include <algorithm>
#include <cerrno>

#include "collector/attach/process_text.h"
#include "collector/channel/clock.h"
#include "collector/python/sampler.h"

namespace lanescope::python {
namespace {

constexpr std::int64_t kFirstInterval = 5'000'000;     // ns between looks for an interpreter, at first: new programs load it soon
constexpr std::int64_t kLastInterval = 1'000'000'000;  // ... and later
constexpr std::int64_t kKept = 10'000'000'000;         // ns for which readings are kept
constexpr std::size_t kMostBytes = 64u << 20;          // of readings kept for one program: fewer seconds if stacks are many and deep
constexpr std::uint64_t kSenselessReadings = 200;      // this many invalid stacks before the first valid one mean that the layout is another one

}  // namespace

std::string Program::refusal(const std::string& why) const {
  const std::string name = attach::process_stat("/proc/" + std::to_string(process_)).name;
  return "Python functions of process " + std::to_string(process_) + (name.empty() ? "" : " (" + name + ")") + " are not named: " + why + ".";
}

void Program::look_anew() {
  next_look_ = 0;
  between_looks_ = 0;
  has_refused_ = false;
  if (reader_) torn_ += reader_->torn();
  reader_.reset();
}

std::optional<std::string> Program::read(std::int64_t now, InterpreterFinder& finder, FunctionTable& functions) {
  if (!reader_ && now < next_look_) return std::nullopt;
  if (!reader_) {
    std::optional<std::string> sentence = look(now, finder, functions);
    if (!reader_) return sentence;
  }
  return read_threads(now);
}

std::optional<std::string> Program::look(std::int64_t now, InterpreterFinder& finder, FunctionTable& functions) {
  between_looks_ = std::clamp(2 * between_looks_, kFirstInterval, kLastInterval);
  next_look_ = now + between_looks_;
  InterpreterSearch search = finder.find(process_, memory_);
  if (search.found) {
    reader_ = std::make_unique<StackReader>(memory_, search.found->layout, search.found->runtime, functions);
    has_read_ = false;
    const std::lock_guard lock(mutex_);
    loop_ = std::move(search.found->loop);
    return std::nullopt;
  }
  if (search.refusal.empty() || has_refused_) return std::nullopt;
  has_refused_ = true;
  return refusal(search.refusal + "; " + kSupportedVersions + " can be read");
}

void Program::lose_interpreter(std::int64_t now) {
  torn_ += reader_->torn();
  reader_.reset();
  next_look_ = now + std::max(between_looks_, kFirstInterval);
}

std::optional<std::string> Program::read_threads(std::int64_t now) {
  const StackReader::Outcome outcome = reader_->read(threads_);
  if (outcome == StackReader::Outcome::kUnreadable) {
    lose_interpreter(now);  // the process is ending, or has become another program
    if (memory_.last_error() != EPERM || has_refused_) return std::nullopt;
    has_refused_ = true;
    return refusal(
        "its memory is not open to this user. Record as root or, for programs of your own, change it: sudo sysctl "
        "kernel.yama.ptrace_scope=0");
  }
  if (outcome == StackReader::Outcome::kNoThreads) return std::nullopt;
  ++readings_;
  has_read_ = has_read_ || std::any_of(threads_.begin(), threads_.end(), [](const ThreadStack& each) { return !each.stack.empty(); });
  if (!has_read_ && reader_->nonsense() >= kSenselessReadings) {
    const unsigned minor = reader_->layout().minor;
    reader_.reset();  // what was dropped were not stacks
    next_look_ = now + kLastInterval;
    if (has_refused_) return std::nullopt;
    has_refused_ = true;
    return refusal("what is in its memory is not what CPython 3." + std::to_string(minor) + " usually has there");
  }
  between_looks_ = 0;
  keep((now + channel::monotonic_now()) / 2);
  return std::nullopt;
}

void Program::keep(std::int64_t time) {
  std::vector<std::uint32_t> numbers;
  if (reader_->layout().thread_number_is_native) {
    for (const ThreadStack& thread : threads_) numbers.push_back(numbers_.of_native(thread.thread));
  } else {
    std::vector<std::uint64_t> pthreads;
    for (const ThreadStack& thread : threads_) pthreads.push_back(thread.thread);
    numbers = numbers_.of_pthreads(pthreads);
  }
  const std::lock_guard lock(mutex_);
  for (auto& [thread, readings] : by_thread_)
    if (std::find(numbers.begin(), numbers.end(), thread) == numbers.end()) readings.interrupt();
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (numbers[i] != 0) by_thread_[numbers[i]].add(time, threads_[i].stack);
  std::size_t bytes = 0;
  for (std::int64_t kept = kKept; kept > 0; kept = bytes > kMostBytes ? kept / 2 : 0) {
    bytes = 0;
    for (auto& [thread, readings] : by_thread_) {
      readings.forget_before(time - kept);
      bytes += readings.bytes();
    }
  }
  std::erase_if(by_thread_, [](const auto& entry) { return entry.second.bytes() == 0; });
}

std::shared_ptr<const Stack> Program::at(std::uint32_t thread, std::int64_t time, std::int64_t distance,
                                         const std::function<bool(std::int64_t time)>& counts) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_thread_.find(thread);
  return found == by_thread_.end() ? nullptr : found->second.at(time, distance, counts);
}

std::shared_ptr<const Stack> Program::within(std::uint32_t thread, std::int64_t from, std::int64_t until) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_thread_.find(thread);
  return found == by_thread_.end() ? nullptr : found->second.within(from, until);
}

bool Program::is_loop(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(loop_.begin(), loop_.end(), [&](const AddressRange& range) { return range.contains(address); });
}

}  // namespace lanescope::python
