// The outline of a large trace: what is drawn at first, while the events are still being decoded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/trace.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

// Smaller traces open at once and get no outline.
inline constexpr std::uint64_t kOutlineFromEvents = 1'000'000;
inline constexpr std::size_t kOutlineBuckets = 2'048;

// A complete frame (FRAME_OUTLINE) to append after the events of a recording; empty for a trace of fewer than kOutlineFromEvents events.
// O(lanes · buckets · log n).
[[nodiscard]] std::vector<std::byte> outline_frame(const Trace& trace);

// Appends its outline to a finished file of at least kOutlineFromEvents events that has none; smaller files stay as they are. Reads the whole file,
// which takes about as long as opening it. `meant`: fails if another file has that name by now (TraceFileWriter::reopen).
Result<void> append_outline(const std::filesystem::path& path, const std::optional<FileIdentity>& meant = {});
// The same for a file whose trace is already loaded; does not read the file.
Result<void> append_outline(const std::filesystem::path& path, const Trace& trace, const std::optional<FileIdentity>& meant = {});

// Adds the outline's lanes to `builder`, with one event for each bucket that is not empty. The event starts with the bucket, lasts as long as the
// bucket is busy, and has the name that holds most of it. Returns false if the payload makes no sense. `builder` must know the epoch (see Provenance).
bool add_outline(TraceBuilder& builder, const std::string& payload);

// Outlines of a file that still grows, for those who have less of it: each of all that is in the file by then. Decodes each frame once; events are in memory as
// far as the process's budget for them goes, and on the disk beyond it. One thread at a time.
class GrowingOutline {
 public:
  explicit GrowingOutline(std::filesystem::path path);
  ~GrowingOutline();
  GrowingOutline(const GrowingOutline&) = delete;
  GrowingOutline& operator=(const GrowingOutline&) = delete;

  // Whole frames for trace_of_outline(), at most `most` bytes: the more lanes there are, the coarser. Empty if there are no events, if that many bytes are not
  // enough, or if it is asked to stop.
  std::vector<std::byte> frames(std::size_t most, const std::stop_token& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The trace that such frames show, with Provenance::outline_only. Null if they make no sense. Reads at most as much as of a file of that size.
[[nodiscard]] std::shared_ptr<const Trace> trace_of_outline(std::span<const std::byte> frames);

}  // namespace lanescope
