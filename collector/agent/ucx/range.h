// Calls of UCX as NVTX ranges of the domain "UCX", with the bytes and the tag of messages as their data.
//
// Calls that UCX makes itself inside of a call, and calls in callbacks that it calls in the meantime, are left out.
#pragma once

#include <atomic>
#include <cstdint>

#include <nvtx3/nvToolsExt.h>

namespace lanescope::agent::ucx {

// The content of a register: a pointer, a number of any size, an enumeration. UCX passes nothing else, so no header of it is needed, and one library serves all
// its versions: structures that are read through pointers have had the same layout since the interface exists (1.10).
using Word = std::uintptr_t;

// Category of a range.
enum class Kind : std::uint32_t { kMessage = 1, kMemory, kWait, kOther };

enum class Data : std::uint8_t { kNone, kBytes, kTaggedBytes };
struct Facts {
  Data has = Data::kNone;
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
};

struct Entry {
  const char* name;
  Kind kind;
  std::atomic<void*> found{nullptr};
  std::atomic<nvtxStringHandle_t> text{nullptr};

  // The library's own function; null if it has none of that name.
  [[nodiscard]] void* next() noexcept;
};

class Range {
 public:
  Range(Entry& entry, const Facts& facts) noexcept;
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool open_ = false;
};

// Bytes of the elements of a datatype, or of the datatype that the parameters of a request name; generic datatypes count as 0.
[[nodiscard]] std::uint64_t bytes_of(Word buffer, Word count, Word datatype) noexcept;
[[nodiscard]] std::uint64_t requested_bytes(Word buffer, Word count, Word parameters) noexcept;

inline Facts no_facts() noexcept { return {}; }
inline Facts sized(std::uint64_t bytes) noexcept { return {Data::kBytes, bytes, 0}; }
inline Facts tagged(std::uint64_t bytes, Word tag) noexcept { return {Data::kTaggedBytes, bytes, tag}; }

inline constexpr Word kUnsupported = static_cast<Word>(-22);  // UCS_ERR_UNSUPPORTED, also in the form of a pointer

// A call of ours, with the library's call in it.
template <typename... Words>
Word record(Entry& entry, const Facts& facts, Words... words) noexcept {
  void* const next = entry.next();
  if (next == nullptr) return kUnsupported;
  const Range range(entry, facts);
  return reinterpret_cast<Word (*)(Words...)>(next)(words...);
}

}  // namespace lanescope::agent::ucx
