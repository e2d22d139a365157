#include "agent/core/loader/new_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <linux/futex.h>
#include <unistd.h>

#include "agent/core/clock.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr int kMostTries = 100;  // at a list that changes all the time; the next look sees the rest

std::uintptr_t place_of(const dl_phdr_info& file) noexcept { return reinterpret_cast<std::uintptr_t>(file.dlpi_phdr); }

struct Listed {
  std::size_t files = 0;
  unsigned long long loaded = 0;
  unsigned long long unloaded = 0;
};

// Taken from the first file: the counts of files loaded and unloaded are the same for each.
unsigned long long loaded_ever() noexcept {
  unsigned long long loaded = 0;
  visit_loaded_files_now(
      [](dl_phdr_info* file, std::size_t, void* own) {
        *static_cast<unsigned long long*>(own) = file->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

Listed what_is_listed() noexcept {
  Listed listed;
  visit_loaded_files_now(
      [](dl_phdr_info* file, std::size_t, void* own) {
        auto& result = *static_cast<Listed*>(own);
        ++result.files;
        result.loaded = file->dlpi_adds;
        result.unloaded = file->dlpi_subs;
        return 0;
      },
      &listed);
  return listed;
}

}  // namespace

// The kernel adds 0 to the word there.
bool is_writable(std::uintptr_t place) noexcept {
  constexpr long kAddNothing = 0x10000000;  // FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)
  std::uint32_t nobody_waits = 0;
  return system::system_call(SYS_futex, system::word(&nobody_waits), FUTEX_WAKE_OP_PRIVATE, 0, 0, static_cast<long>(place), kAddNothing) >= 0;
}

bool may_be_unfinished(const dl_phdr_info& file) noexcept {
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t begin = (file.dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t end = (file.dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
    return end > begin && is_writable(begin);
  }
  return false;
}

struct NewFiles::Look {
  NewFiles& files;
  VisitNew visit;
  void* argument;
  Listed listed;
  std::size_t first_new;  // index in the list
  Unfinished before;
  std::size_t index = 0;
};

bool NewFiles::Unfinished::contains(std::uintptr_t place) const noexcept { return std::find(places, places + count, place) != places + count; }

void NewFiles::keep_for_next_look(const dl_phdr_info& file) noexcept {
  if (unfinished_.count < std::size(unfinished_.places))
    unfinished_.places[unfinished_.count++] = place_of(file);
  else
    unfinished_.are_more = true;
}

// Stops if the list is not the one that was counted.
int NewFiles::look_at(dl_phdr_info* file, std::size_t, void* own) noexcept {
  auto& look = *static_cast<Look*>(own);
  if (look.listed.loaded != file->dlpi_adds || look.listed.unloaded != file->dlpi_subs) return 1;
  const bool is_new = look.index++ >= look.first_new || look.before.contains(place_of(*file));
  if (!is_new || file->dlpi_phnum == 0) return 0;
  if (look.visit(*file, look.argument) == Seen::kAgain && look.files.waits_for_loader_) look.files.keep_for_next_look(*file);
  return 0;
}

void NewFiles::visit_each(VisitNew visit_new, void* argument) noexcept {
  bool is_again = true;
  for (int tries = 0; is_again && tries < kMostTries; ++tries) {
    if (unfinished_.is_none() && loaded_ever() == loaded_) return;
    const Listed now = what_is_listed();
    if (now.files == 0) return;  // they can't be visited now either
    const std::size_t come = static_cast<std::size_t>(std::min<unsigned long long>(now.loaded - loaded_, now.files));
    Look look{*this, visit_new, argument, now, unfinished_.are_more ? 0 : now.files - come, unfinished_};
    const std::int64_t time = monotonic_now();
    waits_for_loader_ = come != 0 || time - unfinished_.since < patience_;
    const unsigned long long loaded_before = std::exchange(loaded_, now.loaded);
    unfinished_.count = 0;
    unfinished_.are_more = false;
    const int end = visit_loaded_files_now(look_at, &look);
    is_again = end != 0;
    if (is_again) {
      loaded_ = loaded_before;
      unfinished_ = look.before;
    } else {
      if (come != 0) unfinished_.since = time;
    }
    if (end == kNotNow) return;
  }
}

void NewFiles::forget() noexcept {
  loaded_ = 0;
  unfinished_ = {};
}

}  // namespace lanescope::agent
