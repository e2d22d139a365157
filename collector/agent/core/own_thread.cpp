#include "agent/core/own_thread.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <initializer_list>
#include <string_view>

#include <fcntl.h>
#include <pthread.h>

#include "agent/core/loader/loader.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constinit std::atomic<long> own_threads{0};

// The text after the name; empty if the name is not there.
std::string_view value_of(std::string_view name, std::string_view status) noexcept {
  const std::size_t at = status.find(name);
  return at == std::string_view::npos ? std::string_view() : std::string_view(status.data() + at + name.size(), status.size() - at - name.size());
}

}  // namespace

int start_own_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) noexcept {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int result = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

OwnThread::OwnThread() noexcept {
  own_threads.fetch_add(1, std::memory_order_relaxed);
  add_own_thread();
  pthread_setname_np(pthread_self(), "lanescope");
  Quiet::this_thread();
}

OwnThread::~OwnThread() {
  remove_own_thread();
  own_threads.fetch_sub(1, std::memory_order_relaxed);
}

void forget_own_threads() noexcept { own_threads.store(0, std::memory_order_relaxed); }

bool has_lost_its_threads() noexcept {
  char text[4096];
  const int file = system::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const long size = system::read(file, text, sizeof(text));
  system::close(file);
  const std::string_view status(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string_view count = value_of("\nThreads:\t", status);
  long threads = 0;
  std::from_chars(count.data(), count.data() + count.size(), threads);
  return value_of("\nState:\t", status).starts_with('Z') && threads == own_threads.load(std::memory_order_relaxed) + 1;
}

}  // namespace lanescope::agent
