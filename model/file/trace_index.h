// The index of a finished file: where its frames lie. Internal to model/file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/file/trace_file.h"

namespace lanescope {

struct TraceIndex {
  using Entry = IndexedFrame;
  std::vector<Entry> entries;  // of all frames, in the order of the file
  std::uint64_t begin = 0;     // position of the first index frame; 0 where there is no sound index
  [[nodiscard]] bool is_sound() const noexcept { return begin != 0; }
};

// Fills `into` with what lies at a position; false where the file does not have that many bytes there.
using ReadAt = std::function<bool(std::uint64_t position, std::span<std::byte> into)>;

// The index of a file of `size` bytes. Not sound where the trailer is missing, an index frame is damaged, or entries are not those of frames
// that follow each other from the file's header to the index: then it has no entries. O(index).
[[nodiscard]] TraceIndex read_index(std::uint64_t size, const ReadAt& read_at);

// Index frames, back to back, and the trailer: what a file ends with whose frames end at `position`.
[[nodiscard]] std::vector<std::byte> index_and_trailer(std::span<const TraceIndex::Entry> entries, std::uint64_t position);

}  // namespace lanescope
