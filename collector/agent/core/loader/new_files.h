// The loaded files that a repeated observer has not seen whole yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

#include "agent/core/clock.h"

namespace lanescope::agent {

// True if the program may write there. A system call, which changes nothing.
bool is_writable(std::uintptr_t place) noexcept;

// True if the loader may still be working on the file, on another thread: memory that it will make read-only is still writable. A system call; reads memory of
// the file that may be gone (faults/fault_guard.h).
bool may_be_unfinished(const dl_phdr_info& file) noexcept;

// The loader lists files in the order in which they came, so the last ones are the new ones, whatever was unloaded since. One thread at a time.
class NewFiles {
 public:
  // kAgain: the file was not finished; it is visited again at the next look, while unfinished files are waited for.
  enum class Seen { kWhole, kAgain };

  // Unfinished files are waited for so long (ns) after a file came: then it is not the loader who keeps them so.
  constexpr explicit NewFiles(std::int64_t patience = 10 * kSecond) noexcept : patience_(patience) {}

  // Calls visit(information) for each; for none, and so again with the next look, where they can't be visited now (visit_loaded_files_now()). The loader's lock
  // is held there. Where no file came or went since the last time, that costs a look at the first.
  template <typename Visit>
  void visit(Visit visit) noexcept {
    visit_each([](const dl_phdr_info& file, void* own) { return (*static_cast<Visit*>(own))(file); }, &visit);
  }

  // Whether unfinished files are waited for. As of the last look.
  [[nodiscard]] bool waits_for_loader() const noexcept { return waits_for_loader_; }

  // Makes all files new again.
  void forget() noexcept;

 private:
  using VisitNew = Seen (*)(const dl_phdr_info&, void*);
  struct Look;

  // Those that did not get whole.
  struct Unfinished {
    std::uintptr_t places[64];  // addresses of their program headers
    std::size_t count;
    bool are_more;       // than these: all files come again
    std::int64_t since;  // when a file came last
    [[nodiscard]] bool is_none() const noexcept { return count == 0 && !are_more; }
    [[nodiscard]] bool contains(std::uintptr_t place) const noexcept;
  };

  void visit_each(VisitNew visit, void* argument) noexcept;
  static int look_at(dl_phdr_info* file, std::size_t size, void* look) noexcept;
  void keep_for_next_look(const dl_phdr_info& file) noexcept;

  std::int64_t patience_;
  unsigned long long loaded_ = 0;  // files ever, as the loader counts, that were there with the last look
  Unfinished unfinished_{};
  bool waits_for_loader_ = true;
};

}  // namespace lanescope::agent
