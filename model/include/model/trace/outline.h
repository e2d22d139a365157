// The outline of a large trace: what is drawn at first, while the events are still being decoded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
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

}  // namespace lanescope
