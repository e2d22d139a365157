// What reading a .trace file may take. Every limit on the way in stands here; docs/file-format.md says them to those who write files.
//
// The size of a file says little of what it holds: 64 MiB of zeros are 6 KB once compressed, and an event of a few bits becomes 20 bytes of
// a lane. So each frame is bounded by itself, and all of them together by the size of the file. Recordings keep away from them: they take 2.7
// to 5.2 bytes for an event. Writers keep to them: TraceFileWriter pads what is denser.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/file/frame.h"

namespace lanescope::limits {

// A frame.
inline constexpr std::size_t kWrittenPayloadBytes = 8u << 20;  // writers cut frames before their payload grows beyond this
static_assert(kWrittenPayloadBytes <= kMaximumPayloadBytes);
inline constexpr std::uint64_t kDecodedFrameBytes = 192u << 20;  // that the message of a payload may take once parsed

// A column: the rows of a chunk, which is also the length of a column; and the numbers in all columns of a chunk.
inline constexpr std::uint64_t kChunkRows = 65'536;
inline constexpr std::uint64_t kChunkNumbers = 8u << 20;

// A value: bytes of a text, which is cut where it is longer, and calls of a chain from its outermost on: those that lie deeper count for the
// deepest that is kept. The trace says how many were. Files of all formats are held to these.
inline constexpr std::size_t kTextBytes = 64u << 10;
inline constexpr std::uint32_t kCallDepth = 1'024;

// Bytes of a mangled name, and of what it stands for. What is longer is shown as it is, or cut.
inline constexpr std::size_t kMangledBytes = 16u << 10;
inline constexpr std::size_t kDemangledBytes = 32u << 10;

// All of a file. What lies behind the frame that goes beyond one of these is not read, and the trace says so. Each grows with the file's size, so
// that whatever a frame takes, a file that is padded far enough may hold it.
struct FileBudget {
  std::uint64_t unpacked = 0;  // bytes of payloads once decompressed
  std::uint64_t entries = 0;   // texts, and entries of other tables
  std::uint64_t events = 0;    // on lanes: what is asked of a trace takes time for each
  std::uint64_t memory = 0;    // bytes that the trace takes
  std::uint64_t searched = 0;  // bytes that are looked at for where frames go on behind damage
};
inline constexpr std::uint64_t kEventMemory = 24;  // bytes that an event of a lane takes, with its index
// A file of fewer bytes may take what one of so many may: what that takes is little enough for any, and small recordings may be dense.
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
// The size from which on a file may hold so much.
[[nodiscard]] constexpr std::uint64_t size_for(const FileBudget& wanted) noexcept {
  const std::uint64_t sizes[] = {(wanted.unpacked + kUnpackedOfByte - 1) / kUnpackedOfByte, wanted.entries * kBytesOfEntry,
                                 (wanted.events * 10 + kEventsOfTenBytes - 1) / kEventsOfTenBytes, (wanted.memory + kMemoryOfByte - 1) / kMemoryOfByte};
  std::uint64_t most = 0;
  for (const std::uint64_t size : sizes) most = size > most ? size : most;
  return most > kSmallFileBytes ? most : 0;
}

// What compacting makes of a file. Segments of many events take less than the frames that they come from; those of one event take a hundred times as much.
inline constexpr std::uint64_t kCompactedOfByte = 4;
[[nodiscard]] constexpr std::uint64_t compacted_bytes_of(std::uint64_t file_bytes) noexcept {
  return kCompactedOfByte * (file_bytes > kSmallFileBytes ? file_bytes : kSmallFileBytes);
}

// The index, once decompressed. An entry is shorter than the frame that it tells of, but for heads of segments whose events are all alike:
// these take 2 KB, and their frames next to nothing. The events that a file may have bound how many there are of them: 43, and one for each
// 32 KiB.
[[nodiscard]] constexpr std::uint64_t index_bytes(std::uint64_t file_bytes) noexcept { return (std::uint64_t{1} << 20) + file_bytes; }

}  // namespace lanescope::limits
