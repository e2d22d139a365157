#include "agent/python_lock/python_lock.h"

#include <cerrno>
#include <cstdio>
#include <string_view>

#include <dlfcn.h>

#include "agent/channel/thread_writer.h"
#include "agent/core/loader/loaded_file.h"
#include "agent/core/loader/loader.h"
#include "agent/core/quiet.h"
#include "agent/nvtx/names.h"
#include "agent/process/forks.h"
#include "agent/python_lock/lock_place.h"
#include "agent/python_lock/locks.h"

namespace lanescope::agent::python_lock {

constinit std::atomic<bool> is_watched{false};
constinit std::atomic<bool> is_awaited{false};

namespace {

using channel::RecordType;

// The same names as in model/trace/domains/python_lock.h.
constexpr std::string_view kDomain = "Python GIL";
constexpr std::string_view kHolding = "holds the GIL";
constexpr std::string_view kWaiting = "waits for the GIL";
// Similar to the colours of running and of runnable threads.
constexpr std::uint32_t kHoldingColor = 0xff6fae6f;
constexpr std::uint32_t kWaitingColor = 0xffe0a050;

struct Interpreter {
  const void* runtime = nullptr;
  LockPlace place;
  Locks locks;
  std::atomic<const nvtx::Domain*> domain{nullptr};
};
constinit Interpreter interpreter;

// The state of the calling thread, and whether the session was told.
struct Stand {
  std::uint32_t generation = 0;  // generation of the process in which that was
  bool waits = false;
  std::uint64_t open = 0;  // id of the range that was begun; 0: none
  std::uint32_t ranges = 0;
};
constinit thread_local Stand stand;

// An id that no other range of the process has: the program's own count from 1.
std::uint64_t next_id(std::uint32_t thread) noexcept {
  constexpr std::uint64_t kOurs = std::uint64_t{1} << 63;
  return kOurs | std::uint64_t{thread} << 32 | ++stand.ranges;
}

// Ends the range that is open on this thread, and begins the next one if it has a name. `whose`: the interpreter's number.
[[gnu::noinline]] void tell(std::string_view next, std::int64_t whose = 0) noexcept {
  const int saved_errno = errno;
  {
    const Quiet quiet;
    const std::uint32_t generation = process_generation();
    if (stand.generation != generation) stand.open = 0;  // told to the parent's or another session
    stand.generation = generation;
    const nvtx::Domain* domain = interpreter.domain.load(std::memory_order_acquire);
    if (domain == nullptr) {
      nvtx::prepare_names();
      if (join_recording()) interpreter.domain.store(domain = nvtx::domain_named(kDomain), std::memory_order_release);
    }
    ThreadWriter writer;
    const bool is_recorded = writer && domain != nullptr && writer.settings().recording.load(std::memory_order_relaxed) != 0 &&
                             writer.settings().trace_python_lock.load(std::memory_order_relaxed) != 0;
    if (is_recorded) {
      channel::Record record{};
      record.time = writer.now();
      record.domain = domain->id;
      if (stand.open != 0) {
        record.type = RecordType::kRangeEnd;
        record.id = stand.open;
        writer.write(record, {});
      }
      stand.open = next.empty() ? 0 : next_id(writer.state().own.thread_id);
      if (stand.open != 0) {
        record.type = RecordType::kRangeStart;
        record.id = stand.open;
        record.color = next == kHolding ? kHoldingColor : kWaitingColor;
        char text[64];
        if (whose != 0) {
          const int length =
              std::snprintf(text, sizeof(text), "%.*s of interpreter %lld", static_cast<int>(next.size()), next.data(), static_cast<long long>(whose));
          next = {text, static_cast<std::size_t>(length)};
        }
        writer.write(record, next);
      }
    } else {
      stand.open = 0;
    }
  }
  errno = saved_errno;
}

// libpython, if it was loaded privately, only for its loader. From here on its variables may be read at any time, so it must stay loaded even if the program
// closes it. If it is visible to others, the look-up alone keeps it loaded.
class Library {
 public:
  Library() noexcept {
    const LoadedFile file =
        find_loaded_file([](const char* file_name) { return std::string_view(file_name).starts_with("libpython3"); }, visit_loaded_files_now);
    if (*file.path != '\0') handle_ = load_file(file.path, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* symbol(const char* name) const noexcept {
    void* found = dlsym(RTLD_DEFAULT, name);
    return found != nullptr || handle_ == nullptr ? found : dlsym(handle_, name);
  }
  void stays() noexcept { handle_ = nullptr; }

 private:
  void* handle_ = nullptr;
};

void tell_obstacle() noexcept {
  if (!join_recording()) return;
  if (interpreter.place.is_optional)
    report(Component::kOsRuntime, ComponentState::kRecording, Severity::kInformation,
           "This Python is a free-threaded build: its threads hold no GIL, but while they load extensions, unless PYTHON_GIL=1 or an "
           "extension switches it on.");
  else
    report(Component::kOsRuntime, ComponentState::kVersionMismatch, Severity::kWarning,
           "Who holds Python's GIL is not recorded: that is known of CPython 3.9 to 3.15.");
}

}  // namespace

void look_for_interpreter() noexcept {
  if (interpreter.runtime != nullptr) return;
  const Quiet quiet;
  Library library;
  const void* runtime = library.symbol("_PyRuntime");
  is_awaited.store(runtime == nullptr, std::memory_order_relaxed);
  if (runtime == nullptr) {
    dlerror();  // the program must not see this error
    return;
  }
  const auto get_version = reinterpret_cast<const char* (*)()>(library.symbol("Py_GetVersion"));
  interpreter.runtime = runtime;
  const bool is_known = find_lock_place(runtime, get_version != nullptr ? get_version() : nullptr, interpreter.place);
  if (is_known) {
    interpreter.locks.begin(runtime, interpreter.place);
    library.stays();
  }
  if (!is_known || interpreter.place.is_optional) tell_obstacle();
  is_watched.store(is_known, std::memory_order_release);
}

void before_signal(const void* condition) noexcept {
  const LockPart lock = interpreter.locks.find(condition);
  if (lock.part == Part::kSwitched) {
    stand.waits = false;
    tell(kHolding, lock.interpreter);
  } else if (lock.part == Part::kCondition) {
    tell({});
  }
}

void before_wait(const void* condition) noexcept {
  if (stand.waits) return;
  const LockPart lock = interpreter.locks.find(condition);
  if (lock.part == Part::kNone) return;
  stand.waits = true;
  tell(kWaiting, lock.interpreter);
}

// A wait is shown until this thread has the lock or, as here, another one has it: whether this thread wants it back at once is not known yet.
void after_wait(const void* condition) noexcept {
  if (!stand.waits || interpreter.locks.find(condition).part != Part::kSwitched) return;
  stand.waits = false;
  tell({});
}

void end_of_process() noexcept {
  // The child of a vfork ends on its parent's thread.
  if (is_watched.load(std::memory_order_relaxed) && stand.open != 0 && is_own_process()) tell({});
}

}  // namespace lanescope::agent::python_lock
