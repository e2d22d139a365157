#include "agent/nvtx/orphans.h"

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/uio.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/nvtx/globals.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::int64_t kJustNow = 2 * kSecond;  // the library's call that loaded the agent asks it within this time
constexpr std::size_t kMostSlots = 512;
constexpr unsigned int kMostOfModule = 64;

constinit std::int64_t loaded_at = 0;
constinit std::atomic<bool> has_looked{false};

// The places where a library keeps its functions.
struct Slots {
  iovec each[kMostSlots];
  std::size_t count = 0;

  explicit Slots(const NvtxExportTableCallbacks& callbacks) noexcept {
    for (const NvtxCallbackModule module : {NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CUDA, NVTX_CB_MODULE_OPENCL, NVTX_CB_MODULE_CUDART,
                                            NVTX_CB_MODULE_CORE2, NVTX_CB_MODULE_SYNC}) {
      NvtxFunctionTable table = nullptr;
      unsigned int size = 0;
      if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr || size > kMostOfModule) continue;
      for (unsigned int i = 0; i < size && count < kMostSlots; ++i)
        if (table[i] != nullptr) each[count++] = {table[i], sizeof(NvtxFunctionPointer)};
    }
  }
};

enum class Direction { kRead, kWrite };

// The same places of the child's as of ours. Whole, or not at all.
bool transfer(Direction direction, long child, void* ours, std::size_t bytes, const iovec* theirs, std::size_t count) noexcept {
  const iovec here{ours, bytes};
  const long number = direction == Direction::kRead ? SYS_process_vm_readv : SYS_process_vm_writev;
  return system::system_call(number, child, system::word(&here), 1, system::word(theirs), static_cast<long>(count), 0) == static_cast<long>(bytes);
}

// What neither NVTX nor a tool changes, and what is different in each library, is compared: it is this library, and its NVTX as it was.
bool free_orphan(long child, const Globals& ours, const Slots& slots) noexcept {
  Globals theirs;
  const iovec globals{const_cast<Globals*>(&ours), sizeof(Globals)};
  if (!transfer(Direction::kRead, child, &theirs, sizeof(theirs), &globals, 1) || theirs.state != kStarted) return false;
  if (std::memcmp(&theirs.callbacks, &ours.callbacks, sizeof(ours.callbacks)) != 0 ||
      std::memcmp(&theirs.version, &ours.version, sizeof(ours.version)) != 0)
    return false;
  NvtxFunctionPointer functions[kMostSlots];
  const std::size_t bytes = slots.count * sizeof(NvtxFunctionPointer);
  if (!transfer(Direction::kRead, child, functions, bytes, slots.each, slots.count)) return false;
  for (std::size_t i = 0; i < slots.count; ++i)
    if (functions[i] != *static_cast<NvtxFunctionPointer*>(slots.each[i].iov_base)) return false;
  std::memset(functions, 0, bytes);
  std::uint32_t complete = kComplete;
  const iovec state{const_cast<std::uint32_t*>(&ours.state), sizeof(complete)};
  return transfer(Direction::kWrite, child, functions, bytes, slots.each, slots.count) &&
         transfer(Direction::kWrite, child, &complete, sizeof(complete), &state, 1);
}

// Calls visit(number) for each number in the text of a file of /proc, which stand between spaces. What does not fit is left out.
template <typename Visit>
void for_each_number_in(const char* path, Visit visit) noexcept {
  char text[4096];
  const int file = system::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const long length = system::read(file, text, sizeof(text));
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

// Of all threads of this process.
template <typename Visit>
void for_each_child(Visit visit) noexcept {
  struct Entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
  };
  const int folder = system::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(Entry) char entries[4096];
  for (long size = 0; (size = system::system_call(SYS_getdents64, folder, system::word(entries), sizeof(entries))) > 0;) {
    for (long at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
      at += entry.bytes;
      char path[64];
      const int length = std::snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry.name);
      if (entry.name[0] != '.' && length > 0 && static_cast<std::size_t>(length) < sizeof(path)) for_each_number_in(path, visit);
    }
  }
  system::close(folder);
}

}  // namespace

void note_loading() noexcept { loaded_at = monotonic_now(); }

std::size_t free_orphans(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (monotonic_now() - loaded_at > kJustNow || has_looked.exchange(true)) return 0;
  const Globals* const globals = globals_of(get_export_table);
  if (globals == nullptr) return 0;
  const Slots slots(globals->callbacks);
  std::size_t freed = 0;
  for_each_child([&](long child) {
    if (free_orphan(child, *globals, slots)) ++freed;
  });
  return freed;
}

}  // namespace lanescope::agent::nvtx
