#include "agent/osrt/trace.h"

#include <cerrno>

#include <dlfcn.h>

#include "agent/channel/thread_writer.h"
#include "agent/core/call_chain.h"
#include "agent/core/loader/loader.h"
#include "agent/osrt/later_functions.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"

namespace lanescope::agent::osrt {

constinit std::atomic<bool> is_active{false};
constinit std::atomic<Redirected (*)(Recorded)> redirect{nullptr};
constinit std::atomic<void (*)()> redirect_process{nullptr};
constinit std::atomic<void (*)()> redirect_loading{nullptr};
constinit std::atomic<void (*)()> look_at_new_files{nullptr};
constinit Turn::Holder redirecting{0};

namespace {

constexpr std::uint32_t kSampleOfSystemCall = 2;  // proto::SAMPLE_OS_CALL

constinit std::atomic<std::int64_t> threshold{1'000};  // ns; the session's value once it is known

bool is_of_this_library(const void* address) noexcept {
  Dl_info here{};
  Dl_info there{};
  return address != nullptr && dladdr(reinterpret_cast<const void*>(&is_preloaded), &here) != 0 && dladdr(address, &there) != 0 &&
         here.dli_fbase == there.dli_fbase;
}

[[gnu::noinline]] void write_chain(ThreadWriter& writer, std::int64_t start, std::int64_t duration) noexcept {
  const Quiet quiet;
  const CallChain chain;
  channel::Record record{};
  record.type = channel::RecordType::kCallChain;
  record.category = kSampleOfSystemCall;
  record.time = start;
  record.id = static_cast<std::uint64_t>(duration);
  writer.write(record, chain.text());
}

}  // namespace

// By a unique name, because the program may also stand before the C library, as a program that contains a sanitizer's runtime does.
bool is_preloaded() noexcept {
  static const bool is_first = [] {
    void* program = load_file(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    return program != nullptr && is_of_this_library(dlsym(program, "lanescope_agent_attach"));
  }();
  return is_first;
}

void* Function::find() noexcept {
  void* found = version != nullptr ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = stand_in_for(name);
  is_found.store(is_found_in_c_library(name, version), std::memory_order_relaxed);
  next.store(found, std::memory_order_release);
  return found;
}

void watch_process_calls() noexcept {
  const auto look = [] {
    if (auto* const now = redirect_process.load(std::memory_order_acquire); now != nullptr && may_look_at_loaded_files()) now();
  };
  on_fork_child([] { redirecting.store(0, std::memory_order_relaxed); });
  look();
  before_forking(look);
}

std::int64_t note(const char* name, std::int64_t start) noexcept {
  const std::int64_t end = monotonic_now();
  const std::int64_t duration = end - start;
  if (duration < threshold.load(std::memory_order_relaxed)) return end;
  const int saved_errno = errno;
  {
    ThreadWriter writer;
    if (writer) {
      const channel::Settings& settings = writer.settings();
      const std::int64_t wanted = settings.os_runtime_threshold_ns.load(std::memory_order_relaxed);
      threshold.store(wanted, std::memory_order_relaxed);
      const bool is_recorded = settings.recording.load(std::memory_order_relaxed) != 0 && settings.trace_os_runtime.load(std::memory_order_relaxed) != 0;
      if (is_recorded && duration >= wanted) {
        channel::Record record{};
        record.type = channel::RecordType::kOsRuntimeCall;
        record.time = writer.event_time(start);
        record.id = static_cast<std::uint64_t>(duration);
        writer.write(record, name);
        const std::int64_t long_call = settings.os_runtime_backtrace_ns.load(std::memory_order_relaxed);
        if (long_call != 0 && duration >= long_call && can_take_call_chains()) write_chain(writer, record.time, duration);
      }
    }
  }
  errno = saved_errno;
  return end;
}

}  // namespace lanescope::agent::osrt
