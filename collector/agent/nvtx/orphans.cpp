#include "agent/nvtx/orphans.h"

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/process/forks.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::int64_t kJustNow = 2 * kSecond;            // the library's call that loaded the agent asks it within this time
constexpr std::int64_t kTookItsTime = kMillisecond / 10;  // of a set-up
constexpr unsigned int kMostOfModule = 64;

constinit std::int64_t loaded_at = 0;
constinit std::atomic<bool> has_looked{false};

// The same place of the child's as of ours. Whole, or not at all.
bool read(long child, const void* place, void* into, std::size_t bytes) noexcept {
  const iovec here{into, bytes};
  const iovec there{const_cast<void*>(place), bytes};
  return system::system_call(SYS_process_vm_readv, child, system::word(&here), 1, system::word(&there), 1, 0) == static_cast<long>(bytes);
}
bool write(long child, const void* place, const void* from, std::size_t bytes) noexcept {
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{const_cast<void*>(place), bytes};
  return system::system_call(SYS_process_vm_writev, child, system::word(&here), 1, system::word(&there), 1, 0) == static_cast<long>(bytes);
}

// The agent is there, and has begun anew what was under way (setup.h).
bool knows_itself(long child) noexcept {
  std::uint32_t generation = 0;
  return read(child, &process_page.generation, &generation, sizeof(generation)) && generation != 0;
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

// Of all threads of this process.
template <typename Visit>
void for_each_child(TextOfProc& room, Visit visit) noexcept {
  const int folder = system::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  for (long size = 0; (size = system::system_call(SYS_getdents64, folder, system::word(room.entries), kTextBytes)) > 0;) {
    for (long at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const Entry*>(room.entries + at);
      at += entry.bytes;
      char path[64];
      const int length = std::snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry.name);
      if (entry.name[0] != '.' && length > 0 && static_cast<std::size_t>(length) < sizeof(path)) for_each_number_in(path, room.text, visit);
    }
  }
  system::close(folder);
}

}  // namespace

void note_loading() noexcept { loaded_at = monotonic_now(); }

struct Orphans::Memory {
  static constexpr std::size_t kMostFunctions = 128;
  std::size_t count;
  NvtxFunctionPointer* places[kMostFunctions];  // where the library keeps its functions
  NvtxFunctionPointer before[kMostFunctions];   // what it had there
  TextOfProc text;
};

Orphans::Orphans(NvtxGetExportTableFunc_t get_export_table) noexcept : globals_(globals_of(get_export_table)), begin_(monotonic_now()) {
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
bool Orphans::free(long child) noexcept {
  Globals theirs;
  if (!read(child, globals_, &theirs, sizeof(theirs)) || theirs.state != kStarted || knows_itself(child)) return false;
  if (std::memcmp(&theirs.callbacks, &globals_->callbacks, sizeof(theirs.callbacks)) != 0 ||
      std::memcmp(&theirs.version, &globals_->version, sizeof(theirs.version)) != 0)
    return false;
  for (std::size_t i = 0; i < memory_->count; ++i) {
    NvtxFunctionPointer function = nullptr;
    NvtxFunctionPointer* const place = memory_->places[i];
    if (!read(child, place, &function, sizeof(function)) || (function != memory_->before[i] && function != *place)) return false;
  }
  const NvtxFunctionPointer none = nullptr;
  for (std::size_t i = 0; i < memory_->count; ++i)
    if (!write(child, memory_->places[i], &none, sizeof(none))) return false;
  const std::uint32_t complete = kComplete;
  return write(child, const_cast<const std::uint32_t*>(&globals_->state), &complete, sizeof(complete));
}

std::size_t Orphans::free_all() noexcept {
  if (memory_ == nullptr || memory_->count == Memory::kMostFunctions) return 0;
  std::size_t freed = 0;
  for_each_child(memory_->text, [&](long child) {
    if (free(child)) ++freed;
  });
  return freed;
}

std::size_t Orphans::free_from_loading() noexcept { return monotonic_now() - loaded_at > kJustNow || has_looked.exchange(true) ? 0 : free_all(); }

std::size_t Orphans::free_from_set_up() noexcept { return monotonic_now() - begin_ < kTookItsTime ? 0 : free_all(); }

}  // namespace lanescope::agent::nvtx
