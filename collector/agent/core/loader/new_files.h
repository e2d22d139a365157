// The loaded files that one who looks at them again and again has not seen whole yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace lanescope::agent {

// Whether the program may write there. A system call, which changes nothing.
bool is_writable(std::uintptr_t place) noexcept;

// Whether the loader may still be at work on the file, on another thread: what is to be read-only behind that is not yet. A system call; reads of the
// file what may not be there any more (faults/fault_guard.h).
bool may_be_unfinished(const dl_phdr_info& file) noexcept;

// The loader lists files in the order in which they came: whatever has gone meanwhile, the last ones are the new ones. One thread at a time.
class NewFiles {
 public:
  // kAgain: it was not finished, and comes with the next look, too, while unfinished ones are waited for.
  enum class Seen { kWhole, kAgain };

  // Calls visit(information) for each; for none, and so again with the next look, where they can't be visited now (visit_loaded_files_now()). The loader's lock
  // is held there. Where no file came or went since the last time, that costs a look at the first.
  template <typename Visit>
  void visit(Visit visit) noexcept {
    visit_each([](const dl_phdr_info& file, void* own) { return (*static_cast<Visit*>(own))(file); }, &visit);
  }

  // Whether unfinished files are waited for: for ten seconds after a file came, for then it is not the loader who keeps them so. As of the last look.
  [[nodiscard]] bool waits_for_loader() const noexcept { return waits_for_loader_; }

  // All are new again.
  void forget() noexcept;

 private:
  using VisitNew = Seen (*)(const dl_phdr_info&, void*);
  struct Look;

  // Those that did not get whole; of more than these, all files come again.
  struct Unfinished {
    std::uintptr_t places[64];  // of their program headers
    std::size_t count;
    std::int64_t since;  // when a file came last
    [[nodiscard]] bool contains(std::uintptr_t place) const noexcept;
  };

  void visit_each(VisitNew visit, void* argument) noexcept;
  static int look_at(dl_phdr_info* file, std::size_t size, void* look) noexcept;
  void keep_for_next_look(const dl_phdr_info& file) noexcept;

  unsigned long long loaded_ = 0;  // files ever, as the loader counts, that were there with the last look
  Unfinished unfinished_{};
  bool waits_for_loader_ = true;
};

}  // namespace lanescope::agent
