#include "agent/core/loader/new_files.h"

#include <algorithm>

#include <linux/futex.h>
#include <unistd.h>

#include "agent/core/clock.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::int64_t kUnfinishedAtMost = 10 * kSecond;

// Whether the program may write there: asked of the kernel, which adds nothing to what lies there.
bool is_writable(std::uintptr_t place) noexcept {
  constexpr long kAddNothing = 0x10000000;  // FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)
  std::uint32_t nobody_waits = 0;
  return system::system_call(SYS_futex, system::word(&nobody_waits), FUTEX_WAKE_OP_PRIVATE, 0, 0, static_cast<long>(place), kAddNothing) >= 0;
}

std::uintptr_t place_of(const dl_phdr_info& file) noexcept { return reinterpret_cast<std::uintptr_t>(file.dlpi_phdr); }

}  // namespace

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
  bool found_unfinished = false;
};

bool NewFiles::has_seen(const dl_phdr_info& file) const noexcept { return std::find(seen_, seen_ + seen_count_, place_of(file)) != seen_ + seen_count_; }

void NewFiles::visit_each(VisitNew visit_new, void* argument) noexcept {
  dl_phdr_info first{};
  visit_loaded_files(
      [](dl_phdr_info* file, std::size_t, void* copy) {
        *static_cast<dl_phdr_info*>(copy) = *file;
        return 1;
      },
      &first);
  if (first.dlpi_adds == loaded_ && first.dlpi_subs == unloaded_ && unfinished_since_ == 0) return;
  if (first.dlpi_subs != unloaded_) seen_count_ = 0;  // another may lie where one that was unloaded did
  loaded_ = first.dlpi_adds;
  unloaded_ = first.dlpi_subs;
  const std::int64_t now = monotonic_now();
  waits_for_loader_ = unfinished_since_ == 0 || now - unfinished_since_ < kUnfinishedAtMost;
  Look look{*this, visit_new, argument};
  visit_loaded_files(
      [](dl_phdr_info* file, std::size_t, void* own) {
        auto& [files, look_at, data, found_unfinished] = *static_cast<Look*>(own);
        if (file->dlpi_phnum == 0 || files.has_seen(*file)) return 0;
        if (look_at(*file, data) == Seen::kAgain && files.waits_for_loader_)
          found_unfinished = true;
        else if (files.seen_count_ < kRemembered)
          files.seen_[files.seen_count_++] = place_of(*file);
        return 0;
      },
      &look);
  if (!look.found_unfinished)
    unfinished_since_ = 0;
  else if (unfinished_since_ == 0)
    unfinished_since_ = now;
}

void NewFiles::forget() noexcept {
  seen_count_ = 0;
  loaded_ = unloaded_ = 0;
  unfinished_since_ = 0;
}

}  // namespace lanescope::agent
