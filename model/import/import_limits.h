// All limits for reading files of other formats. Internal to model/import.
//
// Files are untrusted, and a small file can require very much: a database whose pages refer to each other in cycles, or 10 MB of gzip that unpack to 10 GB. A
// file of up to 10 MB is read in at most 5 s of processor time and 1 GiB of memory, a larger one in proportion. Limits are multiples of the file's size. They
// are far above the needs of valid files, so that none of these reaches a limit.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope::importers {

class ImportLimits {
 public:
  explicit constexpr ImportLimits(std::uint64_t file_bytes) : bytes_(std::max(file_bytes, kSmallFile)) {}

  // Rows of SQLite tables, including repeated reads of a table. A row takes at least 6 bytes.
  [[nodiscard]] constexpr std::uint64_t rows() const noexcept { return bytes_ / 2; }
  // Instructions of SQLite's virtual machine. A row takes some tens.
  [[nodiscard]] constexpr std::uint64_t instructions() const noexcept { return bytes_ * 20; }
  // Bytes of texts in SQLite tables. Texts are part of the file; other values are converted to text.
  [[nodiscard]] constexpr std::uint64_t text_bytes() const noexcept { return bytes_ * 8; }
  // Number of page accesses for a SQLite file of `pages` pages. A row's overflow pages are accessed once for each of its columns.
  [[nodiscard]] static constexpr std::uint64_t page_looks(std::uint64_t pages) noexcept { return (pages + 1024) * 64; }
  // Bytes of an unpacked gzip file. Traces unpack to 13 to 30 times their size.
  [[nodiscard]] constexpr std::uint64_t unpacked_bytes() const noexcept { return bytes_ * kUnpackedTimes; }
  // Elements of JSON. An event takes at least 100 bytes, or 5 bytes if the file is gzipped.
  [[nodiscard]] constexpr std::uint64_t elements() const noexcept { return bytes_ * 6 / 10; }
  // Kernels in a table of Nsight Compute. A row takes 1 KB, or at least 35 bytes gzipped.
  [[nodiscard]] constexpr std::uint64_t kernels() const noexcept { return bytes_ / 32; }
  // Bytes of memory for the content, estimated by the costs below. An event takes less memory than it has bytes in a JSON file.
  [[nodiscard]] constexpr std::uint64_t memory() const noexcept { return bytes_ * 64; }

 private:
  static constexpr std::uint64_t kUnpackedTimes = 45;
  static constexpr std::uint64_t kSmallFile = 10'000'000;  // bytes; smaller files have the limits of this size
  std::uint64_t bytes_;
};

// Bytes stored for each object, with everything that is made from it until the trace is complete.
namespace cost {
inline constexpr std::uint64_t kEvent = 64;
inline constexpr std::uint64_t kProcess = 16 << 10;  // includes work: some questions are asked of each process
inline constexpr std::uint64_t kGpu = 1 << 20;       // likewise: each GPU is compared with all tracks
inline constexpr std::uint64_t kThread = 512;
inline constexpr std::uint64_t kTrack = 2304;
inline constexpr std::uint64_t kCounter = 2048;
inline constexpr std::uint64_t kTextCopies = 2;  // copies of an object's text: in the builder, and in the trace that it makes
inline constexpr std::uint64_t kFrame = 384;     // of a call stack
inline constexpr std::uint64_t kName = 256;      // of a category, or of a group
}  // namespace cost

// Limits for a SQLite file's schema and values.
inline constexpr int kLongestSqliteValue = 16 << 20;   // bytes of a row, and of a value
inline constexpr int kLongestSqliteSchema = 32 << 10;  // bytes of a CREATE TABLE statement; exports have 4 KB
inline constexpr int kMostSqliteColumns = 1000;        // in a table; exports have 40
inline constexpr int kLongestDefault = 64;             // characters of a column's default value

}  // namespace lanescope::importers
