#include "values/evaluation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "processor_share.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kPage = 4096;  // bytes of an image that are kept or dropped together
constexpr std::size_t kUnit = 128;   // samples that a thread takes at once: some milliseconds of work

std::size_t page_size(std::size_t page, std::size_t image) { return std::min(kPage, image - page * kPage); }

// Packs the pages that differ from `fresh`: their number, their indices, then the pages. Makes the image fresh again.
void take_differences(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::vector<std::byte>& packed) {
  std::vector<std::uint32_t> pages{0};
  for (std::size_t page = 0; page * kPage < image.size(); ++page)
    if (std::memcmp(fresh.data() + page * kPage, image.data() + page * kPage, page_size(page, image.size())) != 0)
      pages.push_back(static_cast<std::uint32_t>(page));
  pages.front() = static_cast<std::uint32_t>(pages.size() - 1);
  const auto numbers = std::as_bytes(std::span(pages));
  packed.assign(numbers.begin(), numbers.end());
  for (std::size_t i = 1; i < pages.size(); ++i) {
    const std::span<std::uint8_t> page = image.subspan(pages[i] * kPage, page_size(pages[i], image.size()));
    const auto bytes = std::as_bytes(page);
    packed.insert(packed.end(), bytes.begin(), bytes.end());
    std::memcpy(page.data(), fresh.data() + pages[i] * kPage, page.size());
  }
}

}  // namespace

Evaluation::Evaluation(Work work)
    : work_(std::move(work)), can_return_(can_return_from_left_over()), queue_(work_.limits), thread_([this] { run_on_leftovers(); }) {}

Evaluation::~Evaluation() {
  finish();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Evaluation::add(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::vector<SampleTime> times) {
  take_differences(fresh, image, packed_);
  if (times.empty()) return;
  std::unique_lock lock = acquire();
  while (!queue_.put(packed_)) {
    if (is_done()) {  // the piece alone exceeds the limit: it is processed in place
      current_ = {fresh, std::move(times), OwnedImage()};
      waiting_ += current_.times.size();
      piece_ = std::move(packed_);
      state_ = State::kLoading;
      load(lock);
      return hurry(lock, [this] { return is_done(); });
    }
    const std::size_t before = blocks_.size();
    hurry(lock, [this, before] { return blocks_.size() < before || is_done(); });
  }
  waiting_ += times.size();
  blocks_.push_back({fresh, std::move(times), OwnedImage()});
  lock.unlock();
  changed_.notify_all();
}

void Evaluation::await_image() {
  std::unique_lock lock = acquire();
  hurry(lock, [this] { return !has_image_; });
}

void Evaluation::add(OwnedImage image, std::vector<SampleTime> times) {
  if (times.empty()) return;
  std::unique_lock lock = acquire();
  has_image_ = true;
  waiting_ += times.size();
  blocks_.push_back({{}, std::move(times), std::move(image)});
  lock.unlock();
  changed_.notify_all();
}

void Evaluation::finish() {
  std::unique_lock lock = acquire();
  hurry(lock, [this] { return is_done(); });
}

std::unique_lock<std::mutex> Evaluation::acquire() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) return lock;
  const pid_t holder = can_return_ ? left_over_thread_.load() : 0;
  if (holder != 0) set_share(holder, ProcessorShare::kUsual);
  lock.lock();
  if (holder != 0) set_share(holder, ProcessorShare::kLeftOver);
  return lock;
}

void Evaluation::run_on_leftovers() {
  std::unique_lock lock(mutex_);
  left_over_thread_ = this_thread();
  if (!hurries_) set_share(left_over_thread_, ProcessorShare::kLeftOver);
  while (!ends_) {
    changed_.wait(lock, [this] { return ends_ || has_work(); });
    if (!ends_) work(lock, 0);
    // A thread that can't get a usual share again would delay those in a hurry, who take over all work that it has not begun.
    if (hurries_ && !can_return_) changed_.wait(lock, [this] { return ends_ || !hurries_; });
  }
}

bool Evaluation::has_work() const noexcept {
  switch (state_) {
    case State::kNone:
      return !blocks_.empty();
    case State::kEvaluating:
      return next_ < current_.times.size() || pending_ == 0;
    case State::kLoading:
    case State::kTaking:
      return false;  // another thread has it
  }
  return false;
}

// Does one step. Requires: has_work().
void Evaluation::work(std::unique_lock<std::mutex>& lock, std::size_t thread) {
  if (state_ == State::kNone) {
    current_ = std::move(blocks_.front());
    blocks_.pop_front();
    state_ = State::kLoading;
    if (current_.image.size == 0 && !queue_.take(piece_)) piece_.clear();  // its values stay unknown
    return load(lock);
  }
  if (next_ < current_.times.size()) return evaluate_unit(lock, thread);
  hand_on(lock);
}

void Evaluation::load(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  changed_.notify_all();  // a place in the queue is free
  const bool is_known = current_.image.size > 0 || restore_image();
  values_.assign(current_.times.size() * work_.metrics, std::numeric_limits<double>::quiet_NaN());
  lock.lock();
  next_ = is_known ? 0 : current_.times.size();
  understood_ = is_known;
  state_ = State::kEvaluating;
  changed_.notify_all();
}

bool Evaluation::restore_image() {
  const std::span<const std::uint8_t> fresh = current_.fresh;
  if (image_fresh_.data() != fresh.data()) {
    image_.assign(fresh.begin(), fresh.end());
    image_fresh_ = fresh;
    applied_.clear();
  }
  for (const std::uint32_t page : applied_) std::memcpy(image_.data() + page * kPage, fresh.data() + page * kPage, page_size(page, image_.size()));
  applied_.clear();
  if (piece_.size() < sizeof(std::uint32_t)) return false;
  std::uint32_t count = 0;
  std::memcpy(&count, piece_.data(), sizeof(count));
  applied_.resize(count);
  std::memcpy(applied_.data(), piece_.data() + sizeof(count), count * sizeof(std::uint32_t));
  const std::byte* bytes = piece_.data() + (count + 1) * sizeof(std::uint32_t);
  for (const std::uint32_t page : applied_) {
    const std::size_t size = page_size(page, image_.size());
    std::memcpy(image_.data() + page * kPage, bytes, size);
    bytes += size;
  }
  return true;
}

void Evaluation::evaluate_unit(std::unique_lock<std::mutex>& lock, std::size_t thread) {
  const std::size_t begin = next_;
  const std::size_t end = std::min(begin + kUnit, current_.times.size());
  next_ = end;
  ++pending_;
  lock.unlock();
  const auto values = std::span(values_).subspan(begin * work_.metrics, (end - begin) * work_.metrics);
  const std::span<const std::uint8_t> image = current_.image.size > 0 ? current_.image.bytes() : std::span<const std::uint8_t>(image_);
  const bool understood = work_.evaluate(thread, image, std::span(current_.times).subspan(begin, end - begin), values);
  lock.lock();
  --pending_;
  understood_ = understood_ && understood;
  changed_.notify_all();
}

void Evaluation::hand_on(std::unique_lock<std::mutex>& lock) {
  state_ = State::kTaking;
  lock.unlock();
  work_.take(current_.times, values_, understood_);
  const bool had_image = current_.image.size > 0;
  current_.image = OwnedImage();
  lock.lock();
  if (had_image) has_image_ = false;
  waiting_ -= current_.times.size();
  state_ = State::kNone;
  changed_.notify_all();
}

void Evaluation::hurry(std::unique_lock<std::mutex>& lock, const std::function<bool()>& reached) {
  if (reached()) return;
  hurries_ = true;
  if (can_return_ && left_over_thread_ != 0) set_share(left_over_thread_, ProcessorShare::kUsual);
  const auto help = [this, &reached](std::unique_lock<std::mutex>& held, std::size_t thread) {
    while (!reached()) {
      changed_.wait(held, [&] { return reached() || has_work(); });
      if (!reached()) work(held, thread);
    }
    changed_.notify_all();
  };
  std::vector<std::thread> others;
  for (std::size_t thread = 2; thread < work_.threads; ++thread)
    others.emplace_back([this, &help, thread] {
      set_share(this_thread(), ProcessorShare::kUsual);  // it starts with the share of the thread that created it
      std::unique_lock held(mutex_);
      help(held, thread);
    });
  help(lock, 1);
  lock.unlock();
  for (std::thread& other : others) other.join();
  lock.lock();
  hurries_ = false;
  if (can_return_ && left_over_thread_ != 0) set_share(left_over_thread_, ProcessorShare::kLeftOver);
  changed_.notify_all();
}

}  // namespace lanescope::gpu_metrics
