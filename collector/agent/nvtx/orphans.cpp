#include "agent/nvtx/orphans.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "agent/core/clock.h"
#include "agent/core/forks_under_way.h"
#include "agent/core/loader/dynamic_section.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent::nvtx {

// The memory that a process has when this is made, even if the process runs another program later: what was examined is what is written to. Addresses are those
// of our own process. Reads and writes are complete or fail.
class ChildMemory {
 public:
  explicit ChildMemory(long process) noexcept {
    char path[40];
    std::snprintf(path, sizeof(path), "/proc/%ld/mem", process);
    file_ = system::open(path, O_RDWR | O_CLOEXEC);
  }
  ~ChildMemory() {
    if (file_ >= 0) system::close(file_);
  }
  ChildMemory(const ChildMemory&) = delete;
  ChildMemory& operator=(const ChildMemory&) = delete;

  bool read(const void* place, void* into, std::size_t bytes) const noexcept { return read_some(place, into, bytes) == static_cast<long>(bytes); }
  // Reads as many bytes as there are; less than one if none.
  long read_some(const void* place, void* into, std::size_t bytes) const noexcept { return system::read_at(file_, into, bytes, system::word(place)); }
  bool write(const void* place, const void* from, std::size_t bytes) const noexcept {
    return system::write_at(file_, from, bytes, system::word(place)) == static_cast<long>(bytes);
  }

 private:
  int file_;
};

namespace {

constexpr std::int64_t kJustNow = 2 * kSecond;            // the library's call that loaded the agent reaches it within this time
constexpr std::int64_t kTookItsTime = kMillisecond / 10;  // of a set-up
constexpr unsigned int kMostOfModule = 64;

constinit std::int64_t loaded_at = 0;
constinit std::atomic<bool> has_looked{false};

constexpr std::int64_t kToBegin = 20 * kMillisecond;  // until a child that was just forked has told the kernel about its thread

// True if a thread of the process was forking by fork() when this memory was copied, or is now.
bool has_fork_under_way(const ChildMemory& copy) noexcept {
  ForkUnderWay copies[kMostForks];
  if (!copy.read(forks_under_way, static_cast<void*>(copies), sizeof(copies))) return false;
  return std::any_of(std::begin(copies), std::end(copies), [](const ForkUnderWay& fork) { return fork.thread.load(std::memory_order_relaxed) != 0; });
}

// True if the set-up was noted when the child was forked, even if the child has removed the note. A child that was forked before the agent came may have loaded
// its own agent, or anything else, at the same address.
bool was_noted(const ChildMemory& child, const SetupNote* note) noexcept {
  alignas(SetupNote) std::byte copy[sizeof(SetupNote)];
  std::int64_t loaded = 0;
  if (!child.read(&loaded_at, &loaded, sizeof(loaded)) || loaded != loaded_at) return false;
  if (note == nullptr || !child.read(note, copy, sizeof(copy))) return true;
  const auto& theirs = *reinterpret_cast<const SetupNote*>(copy);
  return theirs.thread.load(std::memory_order_relaxed) == note->thread.load(std::memory_order_relaxed) &&
         theirs.process.load(std::memory_order_relaxed) == note->process.load(std::memory_order_relaxed);
}

// True if it has begun the noted set-up anew (setup.h), or is about to: the child of a fork() looks before that returns.
bool knows_itself(const ChildMemory& child, const SetupNote* note) noexcept {
  if (!was_noted(child, note)) return false;
  std::uint32_t generation = 0;
  if (!child.read(&process_page.generation, &generation, sizeof(generation))) return false;
  return generation != 0 || has_fork_under_way(child);
}

constexpr std::size_t kTextBytes = 4096;

// Calls visit(number) for each number in the text of a file of /proc; numbers are separated by spaces. Text beyond the kTextBytes of `text` is left out.
template <typename Visit>
void for_each_number_in(const char* path, char* text, Visit visit) noexcept {
  const int file = system::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const long length = system::read(file, text, kTextBytes);
  system::close(file);
  const char* const end = text + (length > 0 ? length : 0);
  for (const char* at = text; at < end; ++at) {
    long number = 0;
    const auto [behind, problem] = std::from_chars(at, end, number);
    if (problem != std::errc()) continue;
    visit(number);
    at = behind;
  }
}

struct Entry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};
struct TextOfProc {
  alignas(Entry) char entries[kTextBytes];
  char text[kTextBytes];
};

// Calls visit(number) for each thread of a process; `process` is the name of its folder in /proc.
template <typename Visit>
void for_each_thread(const char* process, char (&entries)[kTextBytes], Visit visit) noexcept {
  char path[40];
  std::snprintf(path, sizeof(path), "/proc/%s/task", process);
  const int folder = system::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  for (long size = 0; (size = system::system_call(SYS_getdents64, folder, system::word(entries), kTextBytes)) > 0;) {
    for (long at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
      at += entry.bytes;
      long number = 0;
      const char* const end = entry.name + std::strlen(entry.name);
      if (std::from_chars(entry.name, end, number).ec == std::errc()) visit(number);
    }
  }
  system::close(folder);
}

// Calls visit(child, thread) for each child of each thread of this process: the thread that forked it, or that inherited it from a thread that has ended.
template <typename Visit>
void for_each_child(TextOfProc& room, Visit visit) noexcept {
  for_each_thread("self", room.entries, [&](long thread) {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/self/task/%ld/children", thread);
    for_each_number_in(path, room.text, [&](long child) { visit(child, thread); });
  });
}

// A value that identifies a thread in its process's memory: the address at which the C library keeps the list of locks that the kernel knows. 0: unknown, as in
// the child of a system call that bypassed the C library.
std::uintptr_t place_of_thread(long thread) noexcept {
  void* list = nullptr;
  std::size_t size = 0;
  return system::system_call(SYS_get_robust_list, thread, system::word(&list), system::word(&size)) == 0 ? reinterpret_cast<std::uintptr_t>(list) : 0;
}

// True if a child has only the thread with which it began.
bool has_first_thread_alone(const char* child, char (&entries)[kTextBytes]) noexcept {
  std::size_t threads = 0;
  for_each_thread(child, entries, [&](long) { ++threads; });
  return threads == 1;
}

// True if a child contains the copy of this thread, as it does if this thread forked it, or a thread of its own at the same address; also if that can't be
// found out. `parent`: the thread whose child it is. A child of another thread began with a copy of that thread, or of one that has ended.
bool has_this_thread(long child, long parent, char (&entries)[kTextBytes]) noexcept {
  const std::uintptr_t own = place_of_thread(0);
  char folder[16];
  std::snprintf(folder, sizeof(folder), "%ld", child);
  if (parent != static_cast<long>(this_thread_id()) && has_first_thread_alone(folder, entries)) return false;
  bool is_known = false;
  bool lives = false;
  for (const std::int64_t give_up = monotonic_now() + kToBegin; own != 0 && !is_known && !lives && monotonic_now() < give_up; system::yield()) {
    std::size_t threads = 0;
    std::size_t known = 0;
    for_each_thread(folder, entries, [&](long thread) {
      const std::uintptr_t place = place_of_thread(thread);
      lives = lives || place == own;
      known += place != 0 ? 1 : 0;
      ++threads;
    });
    is_known = known != 0 && known == threads;
  }
  return lives || !is_known;
}

struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// The segment of a loaded file that contains this address.
Code code_around(const void* function) noexcept {
  struct Search {
    std::uintptr_t address;
    Code found;
  } search{reinterpret_cast<std::uintptr_t>(function), {}};
  visit_loaded_files_now(
      [](dl_phdr_info* file, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (!has_headers(*file)) return 0;
        for (int i = 0; i < file->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = file->dlpi_phdr[i];
          const std::uintptr_t begin = file->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || wanted.address < begin || wanted.address >= begin + segment.p_memsz) continue;
          wanted.found = {begin, begin + segment.p_memsz};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace

void note_loading() noexcept { loaded_at = monotonic_now(); }

struct Orphans::Memory {
  static constexpr std::size_t kMostFunctions = 128;
  static constexpr std::size_t kFrameBytes = 32 * 1024;  // of the callers' frames; NVTX's own has a buffer of 16 KiB unless compilers remove it
  using Frames = std::uintptr_t[kFrameBytes / sizeof(std::uintptr_t)];
  std::size_t count;
  NvtxFunctionPointer* places[kMostFunctions];  // where the library keeps its functions
  NvtxFunctionPointer before[kMostFunctions];   // the previous values there
  TextOfProc text;
  char threads_of_child[kTextBytes];
  Frames own;
  Frames theirs;
};

Orphans::Orphans(NvtxGetExportTableFunc_t get_export_table, const Setup& setup, AgentCall call) noexcept
    : globals_(globals_of(get_export_table)),
      note_(setup.noted()),
      code_(reinterpret_cast<const void*>(get_export_table)),
      call_(call),
      begin_(monotonic_now()) {
  if (globals_ == nullptr) return;
  memory_ = static_cast<Memory*>(system::map(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (memory_ == nullptr) return;
  for (const NvtxCallbackModule module :
       {NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CUDA, NVTX_CB_MODULE_OPENCL, NVTX_CB_MODULE_CUDART, NVTX_CB_MODULE_CORE2, NVTX_CB_MODULE_SYNC}) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (globals_->callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr || size > kMostOfModule) continue;
    for (unsigned int i = 0; i < size && memory_->count < Memory::kMostFunctions; ++i) {
      if (table[i] == nullptr) continue;
      memory_->places[memory_->count] = table[i];
      memory_->before[memory_->count++] = *table[i];
    }
  }
}

Orphans::~Orphans() {
  if (memory_ != nullptr) system::unmap(memory_, sizeof(Memory));
}

// Compares data that neither NVTX nor a tool changes and that differs in each library: equal data means that it is this library, with its NVTX as before the
// set-up, or as the set-up has changed it.
bool Orphans::has_state_of_before(const ChildMemory& child) const noexcept {
  Globals theirs;
  if (!child.read(globals_, &theirs, sizeof(theirs)) || theirs.state != kStarted) return false;
  if (std::memcmp(&theirs.callbacks, &globals_->callbacks, sizeof(theirs.callbacks)) != 0 ||
      std::memcmp(&theirs.version, &globals_->version, sizeof(theirs.version)) != 0)
    return false;
  for (std::size_t i = 0; i < memory_->count; ++i) {
    NvtxFunctionPointer function = nullptr;
    NvtxFunctionPointer* const place = memory_->places[i];
    if (!child.read(place, &function, sizeof(function)) || (function != memory_->before[i] && function != *place)) return false;
  }
  return true;
}

// The return addresses of this thread that lie in the library's code do not change until the set-up is done, and were not there before: one of them leads out
// of NVTX's calls that load the agent. In a child they show where the thread was at the fork. The agent was called after it was loaded.
bool Orphans::has_callers_frames(const ChildMemory& child) noexcept {
  const Code code = code_around(code_);
  const std::uintptr_t room = pthread_self() - reinterpret_cast<std::uintptr_t>(call_.frame);  // a thread's stack ends there, except the first thread's
  const ChildMemory self(process_page.process.load(std::memory_order_relaxed));
  const long bytes = self.read_some(call_.frame, memory_->own, std::min<std::uintptr_t>(room, sizeof(memory_->own)));
  if (bytes <= 0 || !child.read(call_.frame, memory_->theirs, static_cast<std::size_t>(bytes))) return false;
  bool is_called_from_library = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(memory_->own[0]); ++i) {
    const std::uintptr_t address = memory_->own[i];
    if (address < code.begin || address >= code.end || address == reinterpret_cast<std::uintptr_t>(call_.returns_to)) continue;
    if (memory_->theirs[i] != address) return false;
    is_called_from_library = true;
  }
  return is_called_from_library;
}

// If the agent was there already, it has noted the set-up. A thread of the child's own may be in a set-up, at the same address as this one. Only if this thread
// does not live on in the child are its frames there left from before the fork.
bool Orphans::was_forked_in_set_up(const ChildMemory& child, Child numbers) noexcept {
  alignas(SetupNote) std::byte note[sizeof(SetupNote)];
  if (note_ != nullptr && child.read(note_, note, sizeof(note)) && std::memcmp(note, static_cast<const void*>(note_), sizeof(note)) == 0) return true;
  return has_callers_frames(child) && !has_this_thread(numbers.process, numbers.parent, memory_->threads_of_child);
}

// Checks the child's state last: a thread that has begun the set-up since has not ended it.
bool Orphans::free(Child numbers) noexcept {
  const ChildMemory child(numbers.process);
  if (!has_state_of_before(child) || knows_itself(child, note_) || !was_forked_in_set_up(child, numbers) || !has_state_of_before(child)) return false;
  const NvtxFunctionPointer none = nullptr;
  for (std::size_t i = 0; i < memory_->count; ++i)
    if (!child.write(memory_->places[i], &none, sizeof(none))) return false;
  const std::uint32_t complete = kComplete;
  return child.write(const_cast<const std::uint32_t*>(&globals_->state), &complete, sizeof(complete));
}

std::size_t Orphans::free_all() noexcept {
  if (memory_ == nullptr || memory_->count == Memory::kMostFunctions || !may_look_for_children()) return 0;
  std::size_t freed = 0;
  for_each_child(memory_->text, [&](long child, long parent) {
    if (free({child, parent})) ++freed;
  });
  return freed;
}

std::size_t Orphans::free_from_loading() noexcept { return monotonic_now() - loaded_at > kJustNow || has_looked.exchange(true) ? 0 : free_all(); }

std::size_t Orphans::free_from_set_up() noexcept { return monotonic_now() - begin_ < kTookItsTime ? 0 : free_all(); }

}  // namespace lanescope::agent::nvtx
