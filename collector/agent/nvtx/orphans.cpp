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

namespace lanescope::agent::nvtx {

// The memory that a process has when this is made, also once another program is in its place: what was looked at is what is written to. Places are
// those of ours; whole, or not at all.
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
  // As many bytes as there are, or less than one.
  long read_some(const void* place, void* into, std::size_t bytes) const noexcept { return system::read_at(file_, into, bytes, system::word(place)); }
  bool write(const void* place, const void* from, std::size_t bytes) const noexcept {
    return system::write_at(file_, from, bytes, system::word(place)) == static_cast<long>(bytes);
  }

 private:
  int file_;
};

namespace {

constexpr std::int64_t kJustNow = 2 * kSecond;            // the library's call that loaded the agent asks it within this time
constexpr std::int64_t kTookItsTime = kMillisecond / 10;  // of a set-up
constexpr unsigned int kMostOfModule = 64;

constinit std::int64_t loaded_at = 0;
constinit std::atomic<bool> has_looked{false};

constexpr std::int64_t kToBegin = 20 * kMillisecond;  // until a child that was just forked has told the kernel of its thread

// Whether a thread of the process was forking by fork() when this memory was copied, or is.
bool has_fork_under_way(const ChildMemory& copy) noexcept {
  ForkUnderWay copies[kMostForks];
  if (!copy.read(forks_under_way, static_cast<void*>(copies), sizeof(copies))) return false;
  return std::any_of(std::begin(copies), std::end(copies), [](const ForkUnderWay& fork) { return fork.thread.load(std::memory_order_relaxed) != 0; });
}

// The agent is there, and has begun anew what was under way (setup.h), or is about to: the child of a fork() looks before that returns.
bool knows_itself(const ChildMemory& child) noexcept {
  std::uint32_t generation = 0;
  if (!child.read(&process_page.generation, &generation, sizeof(generation))) return false;
  return generation != 0 || has_fork_under_way(child);
}

constexpr std::size_t kTextBytes = 4096;

// Calls visit(number) for each number in the text of a file of /proc, which stand between spaces. What does not fit into `text`, which has
// kTextBytes, is left out.
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

// Calls visit(number) for each thread of a process, whose folder in /proc this is.
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

// Of all threads of this process.
template <typename Visit>
void for_each_child(TextOfProc& room, Visit visit) noexcept {
  for_each_thread("self", room.entries, [&](long thread) {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/self/task/%ld/children", thread);
    for_each_number_in(path, room.text, visit);
  });
}

// What stands for a thread in its process's memory: there the C library has the list of locks of which the kernel knows. 0: it is not known, as in the
// child of a system call that the C library knows nothing of.
std::uintptr_t place_of_thread(long thread) noexcept {
  void* list = nullptr;
  std::size_t size = 0;
  return system::system_call(SYS_get_robust_list, thread, system::word(&list), system::word(&size)) == 0 ? reinterpret_cast<std::uintptr_t>(list) : 0;
}

// Whether the copy of this thread lives in a child, which is where this thread forked it. True where that does not come to be known.
bool has_this_thread(long child, char (&entries)[kTextBytes]) noexcept {
  const std::uintptr_t own = place_of_thread(0);
  char folder[16];
  std::snprintf(folder, sizeof(folder), "%ld", child);
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

// The segment of a loaded file in which this lies.
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
  static constexpr std::size_t kFrameBytes = 32 * 1024;  // of the callers' frames; NVTX's own has a buffer of 16 KiB where compilers do not drop it
  using Frames = std::uintptr_t[kFrameBytes / sizeof(std::uintptr_t)];
  std::size_t count;
  NvtxFunctionPointer* places[kMostFunctions];  // where the library keeps its functions
  NvtxFunctionPointer before[kMostFunctions];   // what it had there
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

// What neither NVTX nor a tool changes, and what is different in each library, is compared: it is this library, and its NVTX as it was before
// the set-up, or as that has changed it.
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

// Where this thread returns to, as far as that lies in the library's code, does not change until the set-up is through, and was not there before: one of these
// addresses leads out of what NVTX calls to load the agent. In a child it says where the thread stood when that was forked. The call of the agent
// came behind the loading.
bool Orphans::has_callers_frames(const ChildMemory& child) noexcept {
  const Code code = code_around(code_);
  const std::uintptr_t room = pthread_self() - reinterpret_cast<std::uintptr_t>(call_.frame);  // a thread's stack ends there, but for the first one's
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

// Where the agent was there already, it has noted the set-up. A thread of the child's own may be in that, at the same place as this one: only where this
// one does not live on in the child, its frames there are of before.
bool Orphans::was_forked_in_set_up(const ChildMemory& child, long process) noexcept {
  alignas(SetupNote) std::byte note[sizeof(SetupNote)];
  if (note_ != nullptr && child.read(note_, note, sizeof(note)) && std::memcmp(note, static_cast<const void*>(note_), sizeof(note)) == 0) return true;
  return has_callers_frames(child) && !has_this_thread(process, memory_->threads_of_child);
}

// Its state is looked at last: whoever has begun it since has not ended it.
bool Orphans::free(long process) noexcept {
  const ChildMemory child(process);
  if (!has_state_of_before(child) || knows_itself(child) || !was_forked_in_set_up(child, process) || !has_state_of_before(child)) return false;
  const NvtxFunctionPointer none = nullptr;
  for (std::size_t i = 0; i < memory_->count; ++i)
    if (!child.write(memory_->places[i], &none, sizeof(none))) return false;
  const std::uint32_t complete = kComplete;
  return child.write(const_cast<const std::uint32_t*>(&globals_->state), &complete, sizeof(complete));
}

std::size_t Orphans::free_all() noexcept {
  if (memory_ == nullptr || memory_->count == Memory::kMostFunctions || !may_look_for_children()) return 0;
  std::size_t freed = 0;
  for_each_child(memory_->text, [&](long child) {
    if (free(child)) ++freed;
  });
  return freed;
}

std::size_t Orphans::free_from_loading() noexcept { return monotonic_now() - loaded_at > kJustNow || has_looked.exchange(true) ? 0 : free_all(); }

std::size_t Orphans::free_from_set_up() noexcept { return monotonic_now() - begin_ < kTookItsTime ? 0 : free_all(); }

}  // namespace lanescope::agent::nvtx
