// What reading a file of another format may take: all limits of model/import. Internal to model/import.
//
// Files come from others, and a small one can ask for very much: a database whose pages refer to each other in circles, 10 MB of gzip that
// unpack to 10 GB. A file of up to 10 MB is read in at most 5 s of processor time and 1 GiB of memory, a larger one in proportion. Limits
// are multiples of the file's size, far above what any honest file comes to, so that none of those meets one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope::importers {

class ImportLimits {
 public:
  explicit constexpr ImportLimits(std::uint64_t file_bytes) : bytes_(std::max(file_bytes, kSmallFile)) {}

  // Rows of SQLite tables, over all times that a table is read: one takes 6 bytes at least.
  [[nodiscard]] constexpr std::uint64_t rows() const noexcept { return bytes_ / 2; }
  // Instructions of SQLite's virtual machine: some tens a row.
  [[nodiscard]] constexpr std::uint64_t instructions() const noexcept { return bytes_ * 20; }
  // Bytes of texts in SQLite tables. Each stands in the file; what is no text there is printed.
  [[nodiscard]] constexpr std::uint64_t text_bytes() const noexcept { return bytes_ * 8; }
  // How often pages of a SQLite file of so many are looked at: a row's overflow pages once for each of its columns.
  [[nodiscard]] static constexpr std::uint64_t page_looks(std::uint64_t pages) noexcept { return (pages + 1024) * 64; }
  // What a gzip file unpacks to. Traces come to 13 to 30 times their size.
  [[nodiscard]] constexpr std::uint64_t unpacked_bytes() const noexcept { return bytes_ * kUnpackedTimes; }
  // Elements of JSON: events take 100 bytes and more each, what is gzipped 5 and more.
  [[nodiscard]] constexpr std::uint64_t elements() const noexcept { return bytes_ * 6 / 10; }
  // Kernels in a table of Nsight Compute's: the row of one takes a kilobyte, and 35 bytes and more gzipped.
  [[nodiscard]] constexpr std::uint64_t kernels() const noexcept { return bytes_ / 32; }
  // Bytes that what is read takes, estimated by the costs below: an event of a JSON file stands there in more bytes than it takes here.
  [[nodiscard]] constexpr std::uint64_t memory() const noexcept { return bytes_ * 64; }

 private:
  static constexpr std::uint64_t kUnpackedTimes = 45;
  static constexpr std::uint64_t kSmallFile = 10'000'000;  // bytes: smaller ones may take as much
  std::uint64_t bytes_;
};

// What is kept of a thing, in bytes, with all that is made of it until the trace is there.
namespace cost {
inline constexpr std::uint64_t kEvent = 64;
inline constexpr std::uint64_t kProcess = 16 << 10;  // and in work: what is asked of all processes is asked of each
inline constexpr std::uint64_t kGpu = 1 << 20;       // likewise: each is compared with all tracks
inline constexpr std::uint64_t kThread = 512;
inline constexpr std::uint64_t kTrack = 2304;
inline constexpr std::uint64_t kCounter = 2048;
inline constexpr std::uint64_t kTextCopies = 2;  // of a text that a thing has: in the builder, and in the trace that it makes
inline constexpr std::uint64_t kFrame = 384;     // of a call stack
inline constexpr std::uint64_t kName = 256;      // of a category, or of what belongs together
}  // namespace cost

// Of a SQLite file's schema and values.
inline constexpr int kLongestSqliteValue = 16 << 20;   // bytes of a row, and of a value
inline constexpr int kLongestSqliteSchema = 32 << 10;  // bytes of the statement that creates a table: exports have 4 KB
inline constexpr int kMostSqliteColumns = 1000;        // of a table: exports have 40
inline constexpr int kLongestDefault = 64;             // characters of what a column holds where a row says nothing

}  // namespace lanescope::importers
