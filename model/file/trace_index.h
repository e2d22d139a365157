// The index of a finished file: the positions of its frames. Internal to model/file.
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
  std::uint64_t begin = 0;     // position of the first index frame; 0 if there is no sound index
  [[nodiscard]] bool is_sound() const noexcept { return begin != 0; }
};

// Reads the bytes at a position into `into`. Returns false if the file does not have that many bytes there.
using ReadAt = std::function<bool(std::uint64_t position, std::span<std::byte> into)>;

// Reads the index of a file of `size` bytes. The index is not sound, and the result is empty, if the trailer is missing, an index frame is damaged, or the
// entries are not consecutive frames from the file's header to the index. O(index).
[[nodiscard]] TraceIndex read_index(std::uint64_t size, const ReadAt& read_at);

// The end of a file whose frames end at `position`: index frames, one after another, and the trailer.
[[nodiscard]] std::vector<std::byte> index_and_trailer(std::span<const TraceIndex::Entry> entries, std::uint64_t position);

}  // namespace lanescope
