// How much an export may write for a file. docs/file-format.md documents it for users.
//
// A name of 64 KiB or a call chain of 1,024 calls takes a few bytes in a file for each event that has it, but an export writes it again for each event.
// Without limits, a file of 10 MB could become hundreds of gigabytes of text or billions of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/export/selection.h"
#include "model/file/limits.h"
#include "model/file/result.h"

namespace lanescope {

namespace limits {

// Bytes of text for each byte of the file and for each event. A kernel with a template name takes 1 KB, a sample with its stack 3 KB.
inline constexpr std::uint64_t kTextOfFileByte = 250, kTextOfEvent = 4'096;
[[nodiscard]] constexpr std::uint64_t text_bytes_of(std::uint64_t file_bytes, std::uint64_t events) noexcept {
  return kTextOfFileByte * (file_bytes > kSmallFileBytes ? file_bytes : kSmallFileBytes) + kTextOfEvent * events;
}

// Rows of tables that contain the call chain of each sample, call by call. Beyond this limit, calls are shared and views return the same rows. A recording of
// deep stacks needs 17 to 34 rows for each of its bytes.
[[nodiscard]] constexpr std::uint64_t chain_rows_of(std::uint64_t file_bytes) noexcept { return file_bytes > kSmallFileBytes ? file_bytes : kSmallFileBytes; }

}  // namespace limits

// Counts the text that an export makes of a trace. For one thread.
class TextLimit {
 public:
  TextLimit(const Trace& trace, const ExportSelection& selection) noexcept {
    if (selection.source_bytes) most_ = limits::text_bytes_of(*selection.source_bytes, trace.event_count());
  }
  // True if `bytes` more may be written. After the first false it stays false.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    is_full_ = is_full_ || bytes > most_ - taken_;
    if (!is_full_) taken_ += bytes;
    return !is_full_;
  }
  // Fails with one sentence if take() has returned false.
  [[nodiscard]] Result<void> check() const;

 private:
  std::uint64_t most_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t taken_ = 0;
  bool is_full_ = false;
};

}  // namespace lanescope
