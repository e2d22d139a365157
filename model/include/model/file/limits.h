// Limits for reading .trace files. All limits on input are defined here; docs/file-format.md documents them for those who write files.
//
// The size of a file does not bound its content: 64 MiB of zeros compress to 6 KB, and an event of a few bits takes 20 bytes in a lane. So each frame has
// limits of its own, and the sum of all frames is limited by the size of the file. Recordings stay far below these limits: they take 2.7 to 5.2 bytes for each
// event. Writers stay within them: TraceFileWriter adds padding to frames that are denser.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/file/frame.h"

namespace lanescope::limits {

// Limits of a frame.
inline constexpr std::size_t kWrittenPayloadBytes = 8u << 20;  // writers end a frame before its payload grows beyond this
static_assert(kWrittenPayloadBytes <= kMaximumPayloadBytes);
inline constexpr std::uint64_t kDecodedFrameBytes = 192u << 20;  // memory for the parsed message of a payload

// Limits of columns: the rows of a chunk, which is also the length of a column, and the numbers in all columns of a chunk.
inline constexpr std::uint64_t kChunkRows = 65'536;
inline constexpr std::uint64_t kChunkNumbers = 8u << 20;

// Limits of values: bytes of a text, which is cut if it is longer, and calls of a chain, counted from the outermost. Deeper calls count for the deepest call
// that is kept. The trace says how many values were cut. These limits apply to files of all formats.
inline constexpr std::size_t kTextBytes = 64u << 10;
inline constexpr std::uint32_t kCallDepth = 1'024;

// Bytes of a mangled name, and of its demangled form. A longer mangled name is shown unchanged; a longer demangled form is cut.
inline constexpr std::size_t kMangledBytes = 16u << 10;
inline constexpr std::size_t kDemangledBytes = 32u << 10;

// Limits of a whole file. The part behind the frame that exceeds one of them is not read, and the trace says so. Each limit grows with the file's size, so
// that a file with enough padding may contain any frame.
struct FileBudget {
  std::uint64_t unpacked = 0;  // bytes of payloads once decompressed
  std::uint64_t entries = 0;   // texts, and entries of other tables
  std::uint64_t events = 0;    // on lanes; operations on a trace take time for each
  std::uint64_t memory = 0;    // bytes of memory for the trace
  std::uint64_t searched = 0;  // bytes that are searched for the next frame behind damage
};
inline constexpr std::uint64_t kEventMemory = 24;  // bytes for one event of a lane, with its index
// A smaller file has the limits of a file of this size: they are small enough for every file, and small recordings may be dense.
inline constexpr std::uint64_t kSmallFileBytes = 10'000'000;
inline constexpr std::uint64_t kUnpackedOfByte = 32, kBytesOfEntry = 4, kEventsOfTenBytes = 7, kMemoryOfByte = 48;
[[nodiscard]] constexpr FileBudget budget_of(std::uint64_t file_bytes) noexcept {
  constexpr std::uint64_t kMiB = 1u << 20;
  const std::uint64_t bytes = file_bytes > kSmallFileBytes ? file_bytes : kSmallFileBytes;
  return {.unpacked = kUnpackedOfByte * bytes,
          .entries = bytes / kBytesOfEntry,
          .events = bytes * kEventsOfTenBytes / 10,
          .memory = kMemoryOfByte * bytes,
          .searched = 64 * kMiB + 8 * file_bytes};
}
// The smallest file size that allows this content.
[[nodiscard]] constexpr std::uint64_t size_for(const FileBudget& wanted) noexcept {
  const std::uint64_t sizes[] = {(wanted.unpacked + kUnpackedOfByte - 1) / kUnpackedOfByte, wanted.entries * kBytesOfEntry,
                                 (wanted.events * 10 + kEventsOfTenBytes - 1) / kEventsOfTenBytes, (wanted.memory + kMemoryOfByte - 1) / kMemoryOfByte};
  std::uint64_t most = 0;
  for (const std::uint64_t size : sizes) most = size > most ? size : most;
  return most > kSmallFileBytes ? most : 0;
}

// Limit for the size of a compacted file. Segments of many events are smaller than the frames that they are made from; segments of one event are a hundred
// times larger.
inline constexpr std::uint64_t kCompactedOfByte = 4;
[[nodiscard]] constexpr std::uint64_t compacted_bytes_of(std::uint64_t file_bytes) noexcept {
  return kCompactedOfByte * (file_bytes > kSmallFileBytes ? file_bytes : kSmallFileBytes);
}

// Limit for the decompressed index. An entry is smaller than its frame, except for heads of segments whose events are all alike: such a head takes 2 KB, and
// its frame almost nothing. The limit for events bounds the number of these heads: 43, plus one for each 32 KiB.
[[nodiscard]] constexpr std::uint64_t index_bytes(std::uint64_t file_bytes) noexcept { return (std::uint64_t{1} << 20) + file_bytes; }

}  // namespace lanescope::limits
