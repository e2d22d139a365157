#include "records/code_naming.h"

#include <chrono>
#include <csignal>
#include <utility>

namespace lanescope::session {
namespace {

constexpr std::chrono::seconds kLimit{10};  // for the code of one process

}  // namespace

CodeNaming::~CodeNaming() {
  if (!thread_.joinable()) return;
  gives_up_ = true;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CodeNaming::add(std::uint32_t instance, const std::shared_ptr<cpu::Backtraces>& backtraces) {
  std::unique_ptr<cpu::NameSearch> search = backtraces->begin_search();
  if (!search) return;
  gives_up_ = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({instance, backtraces, std::move(search)});
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
}

void CodeNaming::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (is_over_) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    is_searching_ = true;
    lock.unlock();
    const auto limit = std::chrono::steady_clock::now() + kLimit;
    task.search->run([&] { return !gives_up_ && std::chrono::steady_clock::now() < limit; });
    lock.lock();
    is_searching_ = false;
    done_.push_back(std::move(task));
  }
}

void CodeNaming::write_found() {
  std::deque<Task> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Task& task : done) {
    const proto::Symbols names = task.backtraces->names(*task.search);
    if (names.locations_size() > 0) log_.write({proto::FRAME_SYMBOLS, task.instance, proto::SOURCE_BACKTRACES, 0}, names);
  }
}

bool CodeNaming::is_busy() const {
  const std::lock_guard lock(mutex_);
  return is_searching_ || !waiting_.empty();
}

void CodeNaming::give_up() { gives_up_ = true; }

}  // namespace lanescope::session
