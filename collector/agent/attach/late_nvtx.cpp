#include "agent/attach/late_nvtx.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <alloca.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/faults/fault_guard.h"
#include "agent/core/faults/readable.h"
#include "agent/core/loader/dynamic_section.h"
#include "agent/core/loader/loader.h"
#include "agent/core/loader/new_files.h"
#include "agent/core/loader/turn.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/nvtx/globals.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/setup.h"
#include "agent/nvtx_entry/entry.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"
#include "agent/process/held_signals.h"

extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));  // where this file begins; defined by the linker

namespace lanescope::agent::attach {
namespace {

using Address = std::uintptr_t;

struct Range {
  Address begin = 0;
  Address end = 0;
  [[nodiscard]] bool contains(Address address) const noexcept { return address >= begin && address < end; }
};

using nvtx::Globals;
using nvtx::kComplete;
using nvtx::kFresh;
using nvtx::kStarted;

constexpr std::size_t kMaximumSegments = 16;
constexpr std::size_t kGlobalsBytes = 2048;  // more than nvtxGlobals_t has in any version so far
constexpr unsigned int kMaximumTableSize = 64;
constexpr NvtxCallbackModule kModules[] = {NVTX_CB_MODULE_CORE,   NVTX_CB_MODULE_CUDA,  NVTX_CB_MODULE_OPENCL,
                                           NVTX_CB_MODULE_CUDART, NVTX_CB_MODULE_CORE2, NVTX_CB_MODULE_SYNC};
constexpr Address kPageBytes = 4096;
constexpr int kStartedPatience = 1000;           // checks of a library that another thread is initialising now
constexpr std::int64_t kPatience = kSecond / 2;  // how long a thread that is about to fork waits for other threads
constexpr std::int64_t kLook = kMillisecond / 20;

// The relevant facts about a loaded library.
struct Library {
  Address base = 0;  // what the loader adds to addresses of the file
  Address size = 0;  // end of the last segment, relative to the base
  Range code[kMaximumSegments];
  std::size_t code_count = 0;
  Range data[kMaximumSegments];  // writable and not made read-only after loading
  std::size_t data_count = 0;

  [[nodiscard]] bool has_code(Address address) const noexcept {
    return std::any_of(code, code + code_count, [&](const Range& range) { return range.contains(address); });
  }
  // True if it is an address of the file to which the loader has not added the base yet.
  [[nodiscard]] bool is_unfilled(Address address) const noexcept { return base != 0 && address != 0 && address < size; }
  // Null if there is none.
  [[nodiscard]] const Range* data_around(Address address) const noexcept {
    const Range* const found = std::find_if(data, data + data_count, [&](const Range& range) { return range.contains(address); });
    return found != data + data_count ? found : nullptr;
  }
};

template <typename Function>
Address address_of(Function* function) noexcept {
  return reinterpret_cast<Address>(function);
}

Library describe(const dl_phdr_info& information) noexcept {
  Library library;
  library.base = information.dlpi_addr;
  Range read_only;
  for (int index = 0; index < information.dlpi_phnum; ++index) {
    const ElfW(Phdr)& segment = information.dlpi_phdr[index];
    const Address begin = information.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO) read_only = {begin, begin + segment.p_memsz};
    if (segment.p_type != PT_LOAD) continue;
    library.size = std::max<Address>(library.size, segment.p_vaddr + segment.p_memsz);
    if ((segment.p_flags & PF_X) != 0 && library.code_count < kMaximumSegments) library.code[library.code_count++] = {begin, begin + segment.p_memsz};
    if ((segment.p_flags & PF_W) != 0 && library.data_count < kMaximumSegments)
      library.data[library.data_count++] = {begin, begin + segment.p_filesz};  // memory that is not in the file is zero at first
  }
  for (Range& range : library.data)
    if (range.contains(read_only.begin)) range.begin = std::min(read_only.end, range.end);
  return library;
}

// What may be anything of the program's, which may write to it at this moment: whatever is read is only compared. Thread sanitizer is not to watch the reading.
template <typename Value>
[[gnu::no_sanitize_thread]] std::remove_volatile_t<Value> peek(const Value& place) noexcept {
  return *static_cast<const volatile Value*>(&place);
}

// True if one of the pointers after the functions points back to the first function: then it is the function table.
bool points_to_itself(const Globals& globals, Address end) noexcept {
  const auto* word = reinterpret_cast<const Address*>(&globals.first_function);
  const Address limit = std::min(end, address_of(&globals) + kGlobalsBytes);
  for (; address_of(word + 1) <= limit; ++word)
    if (peek(*word) == address_of(&globals.first_function)) return true;
  return false;
}

bool looks_like_globals(const Globals& globals, const Library& library, Address end) noexcept {
  return peek(globals.callbacks.struct_size) == sizeof(NvtxExportTableCallbacks) && peek(globals.state) <= kComplete &&
         peek(globals.version.struct_size) == sizeof(NvtxExportTableVersionInfo) && peek(globals.version.version) == 3 &&
         peek(globals.version.reserved0) == 0 && library.has_code(address_of(peek(globals.callbacks.GetModuleFunctionTable))) &&
         library.has_code(address_of(peek(globals.version.SetInjectionNvtxVersion))) && points_to_itself(globals, end);
}

// The agent's file, by its own headers: those of other files may not be there any more.
const Library& own_library() noexcept {
  static constinit Library own;
  if (own.code_count != 0) return own;
  const auto place = address_of(&__ehdr_start);
  dl_phdr_info information{};
  information.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(place + __ehdr_start.e_phoff);
  information.dlpi_phnum = __ehdr_start.e_phnum;
  for (int i = 0; i < information.dlpi_phnum; ++i)
    if (const ElfW(Phdr)& part = information.dlpi_phdr[i]; part.p_type == PT_LOAD && part.p_offset == 0) information.dlpi_addr = place - part.p_vaddr;
  return own = describe(information);
}

// Calls visit(slot) for every function that the library's tables name.
template <typename Visit>
void for_each_function(const Globals& globals, const Library& library, Visit visit) noexcept {
  for (const NvtxCallbackModule module : kModules) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (globals.callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr || size > kMaximumTableSize) continue;
    for (unsigned int index = 0; index < size; ++index)
      if (table[index] != nullptr && library.data_around(address_of(table[index])) != nullptr) visit(*table[index]);
  }
}

// True if the loader, on another thread, has filled in all of NVTX's addresses here. An entry that is not filled in yet would be read as an address of the
// file, and the loader would overwrite what we write. May fault, because it calls a function of a library that is not ready.
bool is_filled_in(const Globals& globals, const Library& library) noexcept {
  bool is_whole = true;
  for (const NvtxCallbackModule module : kModules) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (globals.callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr || size > kMaximumTableSize) continue;
    for (unsigned int index = 0; index < size && is_whole; ++index)
      if (const Address slot = address_of(table[index]); slot != 0)
        is_whole = !library.is_unfilled(slot) && (library.data_around(slot) == nullptr || !library.is_unfilled(address_of(*table[index])));
  }
  return is_whole;
}

// The tables that nvtx::install() asks for; one library at a time.
constinit const Globals* current_globals = nullptr;
const void* NVTX_API export_table(std::uint32_t id) noexcept {
  if (id == NVTX_ETID_CALLBACKS) return &current_globals->callbacks;
  if (id == NVTX_ETID_VERSIONINFO) return &current_globals->version;
  return nullptr;
}

bool install(const Globals& globals) noexcept {
  current_globals = &globals;
  return nvtx::install(export_table) == nvtx::Injection::kInstalled;
}

// Does what the library's first NVTX call would do; calls in the meantime wait for it (nvtxInitOnce).
bool initialize(Globals& globals, const Library& library) noexcept {
  const bool installed = install(globals);
  for_each_function(globals, library, [&](NvtxFunctionPointer& function) {
    if (!own_library().has_code(address_of(function))) function = nullptr;  // a trampoline to the initialisation
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
  globals.state = kComplete;
  return installed;
}

// Sets NVTX up if nobody has begun to. Returns its previous state.
std::uint32_t set_up(Globals& globals, const Library& library, bool& installed) noexcept {
  current_globals = &globals;
  const nvtx::Setup setup(export_table);
  const std::uint32_t state = __sync_val_compare_and_swap(&globals.state, kFresh, kStarted);
  if (state == kFresh) installed = initialize(globals, library);
  return state;
}

void take_over(Globals& globals, const Library& library, Search extent, LateNvtx& result) noexcept {
  std::uint32_t state = kFresh;
  bool installed = false;
  for (int look = 0; look < kStartedPatience; ++look) {
    state = set_up(globals, library, installed);
    if (state != kStarted) break;
    system::yield();
  }
  if (state == kFresh) {
    if (installed) ++result.taken_over;
    return;
  }
  if (state != kComplete) return;
  bool is_free = true;
  bool is_ours = false;
  for_each_function(globals, library, [&](const NvtxFunctionPointer& function) {
    if (function == nullptr) return;
    is_free = false;
    is_ours = is_ours || own_library().has_code(address_of(function));
  });
  const bool is_taken_over = !is_ours && is_free && install(globals);
  if (is_taken_over) ++result.used_before;
  if (is_taken_over || (is_ours && extent == Search::kAll)) ++result.taken_over;
  if (!is_ours && !is_free) ++result.owned_by_other;
}

// Remembers the last answer for one page.
class ReadablePages {
 public:
  bool contain(Address address) noexcept {
    const Address page = address / kPageBytes * kPageBytes;
    if (page == page_) return is_readable_;
    page_ = page;
    return is_readable_ = is_readable(page);
  }
  // The first address after `begin` that is not readable, at most `end`. Requires: `begin` is readable.
  Address end_behind(Address begin, Address end) noexcept {
    Address page = begin / kPageBytes * kPageBytes + kPageBytes;
    while (page < end && contain(page)) page += kPageBytes;
    return std::min(page, end);
  }

 private:
  Address page_ = 0;
  bool is_readable_ = false;
};

// A loaded file, and the NVTX in it.
struct NvtxOfFile {
  static constexpr std::size_t kMost = 16;  // a file has one for each version of NVTX's headers
  Library library;
  Globals* each[kMost];
  std::size_t count = 0;
  bool is_to_come_again = false;  // the loader has not filled it in yet, or a thread, perhaps this one, is setting NVTX up
  [[nodiscard]] NewFiles::Seen seen() const noexcept { return is_to_come_again ? NewFiles::Seen::kAgain : NewFiles::Seen::kWhole; }

  // Examines the surroundings of a word that is filled in like the first function of such a structure.
  void look_at(Address word, ReadablePages& pages) noexcept {
    constexpr Address kFunction = offsetof(Globals, callbacks) + offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable);
    const Address begin = word - kFunction;
    const Range* const range = library.data_around(begin);
    if (range == nullptr || begin % alignof(Globals) != 0 || begin + sizeof(Globals) > range->end) return;
    if (!pages.contain(begin) || !pages.contain(word)) return;
    auto& globals = *reinterpret_cast<Globals*>(begin);
    if (peek(globals.callbacks.struct_size) != sizeof(NvtxExportTableCallbacks)) return;
    const Address end = pages.end_behind(word, std::min(range->end, begin + kGlobalsBytes));
    if (begin + sizeof(Globals) > end || !looks_like_globals(globals, library, end)) return;
    if (count < kMost && std::find(each, each + count, &globals) == each + count) each[count++] = &globals;
  }
};

// What the loader does with a file.
enum class Loader { kIsDone, kMayGoOn };

// Looks where the loader has filled in addresses, as it has in each such structure: a library's data may be gigabytes that nobody has touched. A program that
// is linked to a fixed address, which is rare, has the addresses from its file: all its data is examined.
void find_nvtx(const dl_phdr_info& information, Loader loader, NvtxOfFile& nvtx) noexcept {
  nvtx.library = describe(information);
  ReadablePages pages;
  const auto look_at = [&](Address word) { nvtx.look_at(word, pages); };
  if (information.dlpi_addr != 0) {
    for_each_filled_word(dynamic_section_of(information), look_at);
    nvtx.is_to_come_again = loader == Loader::kMayGoOn && nvtx.count == 0;
    return;
  }
  for (std::size_t i = 0; i < nvtx.library.data_count; ++i) {
    const Range& range = nvtx.library.data[i];
    for (Address word = (range.begin + sizeof(Address) - 1) / sizeof(Address) * sizeof(Address); word < range.end; word += sizeof(Address)) look_at(word);
  }
}

constinit NewFiles new_libraries;

// Leaves structures that the loader is still working on for a later look.
void leave_to_loader(NvtxOfFile& nvtx, Loader loader) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nvtx.count; ++i) {
    bool is_whole = false;
    if (loader == Loader::kIsDone && run_guarded([&] { is_whole = is_filled_in(*nvtx.each[i], nvtx.library); }) == Guarded::kFaulted) is_whole = false;
    if (is_whole) nvtx.each[kept++] = nvtx.each[i];
  }
  nvtx.is_to_come_again = nvtx.is_to_come_again || kept < nvtx.count;
  nvtx.count = kept;
}

// The file may have been shortened since it was loaded. The loader's lock, which is held here, is released after a fault as well.
Guarded find_nvtx_guarded(const dl_phdr_info& information, NvtxOfFile& nvtx) noexcept {
  if (!is_whole(information)) return Guarded::kFaulted;
  Loader loader = Loader::kIsDone;
  const Guarded found = run_guarded([&] {
    if (may_be_unfinished(information)) loader = Loader::kMayGoOn;
    find_nvtx(information, loader, nvtx);
  });
  // A file that stays unfinished is so for another reason than the loader's work.
  if (found != Guarded::kFaulted) leave_to_loader(nvtx, new_libraries.waits_for_loader() ? loader : Loader::kIsDone);
  return found;
}

constinit Turn::Holder searcher{0};

// ---- Before a fork -----------------------------------------------------------------------------------------------------------------

// Null if the C library is older than 2.32, which does not have this variable.
constinit const char* is_single_threaded = nullptr;
constinit bool is_awaited_by_nvtx = false;

// Libraries whose NVTX other threads are setting up; the program may unload some as soon as that is done. They are found once, and all threads that fork in the
// meantime wait for them.
class AwaitedLibraries {
 public:
  void add(const dl_phdr_info& file, const Globals& globals) noexcept {
    give_up_ = monotonic_now() + kPatience;
    if (count_ < kMost) each_[count_++] = {file.dlpi_phdr, &globals.state};
  }
  [[nodiscard]] bool is_given_up() const noexcept { return monotonic_now() >= give_up_; }
  // No library is unloaded during the look, because the loader's lock is held.
  [[nodiscard]] bool is_any_being_set_up() const noexcept {
    if (count_ == 0) return false;
    Search search{*this, false};
    visit_loaded_files_now(look_at, &search);
    return search.is_found;
  }

 private:
  static constexpr std::size_t kMost = 16;
  struct Awaited {
    const ElfW(Phdr) * file = nullptr;  // identified by its program headers
    const volatile std::uint32_t* state = nullptr;
  };
  struct Search {
    const AwaitedLibraries& libraries;
    bool is_found;
  };

  // Another file, of another size, may lie there by now.
  static int look_at(dl_phdr_info* file, std::size_t, void* own) noexcept {
    auto& search = *static_cast<Search*>(own);
    const auto is_at_it = [file](const Awaited& one) {
      return one.file == file->dlpi_phdr && is_readable(reinterpret_cast<Address>(one.state)) && *one.state == kStarted;
    };
    search.is_found = std::any_of(search.libraries.each_, search.libraries.each_ + search.libraries.count_, is_at_it);
    return search.is_found ? 1 : 0;
  }

  Awaited each_[kMost] = {};
  std::size_t count_ = 0;
  std::int64_t give_up_ = 0;
};
constinit AwaitedLibraries found_awaited;  // belongs to the thread that has the turn

// Returns the libraries whose NVTX other threads, or this one in an outer call, are setting up.
AwaitedLibraries set_up_fresh() noexcept {
  const Turn turn(searcher);
  if (!turn) return {};
  if (found_awaited.is_given_up()) found_awaited = {};
  bool has_joined = false;  // or never will
  bool is_to_join = true;
  while (is_to_join) {
    is_to_join = false;
    // The loader's lock must not be held while waiting for the session.
    new_libraries.visit([&](const dl_phdr_info& information) {
      NvtxOfFile nvtx;
      if (find_nvtx_guarded(information, nvtx) == Guarded::kFaulted) return NewFiles::Seen::kWhole;
      for (std::size_t i = 0; i < nvtx.count; ++i) {
        Globals& globals = *nvtx.each[i];
        if (globals.state == kComplete) continue;
        if (!has_joined) {
          is_to_join = true;
          return NewFiles::Seen::kAgain;
        }
        bool installed = false;
        if (set_up(globals, nvtx.library, installed) == kStarted) found_awaited.add(information, globals);
      }
      return nvtx.seen();
    });
    if (is_to_join) join_recording();
    has_joined = true;
  }
  return found_awaited;
}

void set_all_up() noexcept {
  const Quiet quiet;
  const AwaitedLibraries awaited = set_up_fresh();
  while (awaited.is_any_being_set_up() && !awaited.is_given_up()) system::sleep(kLook);
}

void set_up_before_fork() noexcept {
  if (is_single_threaded == nullptr || *is_single_threaded == 0) set_all_up();
}

std::string_view file_name(const char* path) noexcept {
  if (path == nullptr) return {};
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

}  // namespace

LateNvtx take_over_nvtx(Search extent) noexcept {
  LateNvtx result;
  const Turn turn(searcher);
  if (!turn) return result;
  if (extent == Search::kAll) new_libraries.forget();
  new_libraries.visit([&](const dl_phdr_info& information) {
    NvtxOfFile nvtx;
    if (find_nvtx_guarded(information, nvtx) == Guarded::kFaulted) ++result.unreadable;
    for (std::size_t i = 0; i < nvtx.count; ++i) {
      take_over(*nvtx.each[i], nvtx.library, extent, result);
      nvtx.is_to_come_again = nvtx.is_to_come_again || nvtx.each[i]->state == kStarted;
    }
    return nvtx.seen();
  });
  return result;
}

void end_set_up(NvtxGetExportTableFunc_t get_export_table) noexcept {
  Globals* const globals = nvtx::globals_of(get_export_table);
  if (globals == nullptr || globals->state != kStarted) return;
  for (const NvtxCallbackModule module : kModules) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (globals->callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr || size > kMaximumTableSize) continue;
    for (unsigned int index = 0; index < size; ++index)
      if (table[index] != nullptr && !own_library().has_code(address_of(*table[index]))) *table[index] = nullptr;  // a trampoline to the initialisation
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  globals->state = kComplete;
}

void forget_search() noexcept {
  searcher.store(0, std::memory_order_relaxed);
  found_awaited = {};
}

void set_nvtx_up_before_forks() noexcept {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&set_nvtx_up_before_forks), &self) == 0) return;
  const char* const injection = getenv("NVTX_INJECTION64_PATH");
  if (injection == nullptr || (file_name(injection) != file_name(self.dli_fname) && file_name(injection) != kNvtxEntryFile)) return;
  is_single_threaded = static_cast<const char*>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
  on_fork_child(forget_search);
  is_awaited_by_nvtx = true;
  before_forking(set_up_before_fork);
  watch_forks();
}

void load_nvtx_entry() noexcept {
  const char* const entry = getenv("NVTX_INJECTION64_PATH");
  if (!is_awaited_by_nvtx || !may_do_all() || entry == nullptr || *entry != '/' || file_name(entry) != kNvtxEntryFile) return;
  const std::size_t folder = std::strlen(entry) - kNvtxEntryFile.size();
  auto* const agent = static_cast<char*>(alloca(folder + sizeof(kAgentFile)));
  std::memcpy(agent, entry, folder);
  std::memcpy(agent + folder, kAgentFile, sizeof(kAgentFile));
  if (load_file(agent, RTLD_LAZY | RTLD_NOLOAD) != nullptr) load_file(entry, RTLD_LAZY);
}

void set_nvtx_up() noexcept {
  if (is_awaited_by_nvtx) set_all_up();
}

void set_fresh_nvtx_up() noexcept {
  if (!is_awaited_by_nvtx || !may_look_at_loaded_files()) return;
  if (may_join() && !is_own_process()) return;  // the child of a vfork
  const Quiet quiet;
  const HeldSignals held;  // a handler's fork or first NVTX call would find this thread's turn taken
  set_up_fresh();
}

}  // namespace lanescope::agent::attach
