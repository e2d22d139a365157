// Writes a trace, or a part of it, in a format that other tools read, as `lanescope export` does.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "export/exports.h"
#include "model/export/selection.h"
#include "model/export/text_export.h"
#include "model/file/result.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

enum class TraceFormat { kTrace, kSqlite, kChromeJson, kCsv };
inline constexpr std::array kTraceFormats = {TraceFormat::kTrace, TraceFormat::kSqlite, TraceFormat::kChromeJson, TraceFormat::kCsv};

// The number of events of a selection that could not be read on demand, so that other events stand in their place. O(segments).
[[nodiscard]] std::uint64_t count_unreadable(const Trace& trace, const ExportSelection& selection = {});

[[nodiscard]] std::string_view suffix_of(TraceFormat format) noexcept;  // ".trace"
// By the suffix of the path, in upper or lower case; .trace if the suffix is not one of ours.
[[nodiscard]] TraceFormat format_of(std::string_view path) noexcept;

// Replaces an existing file when the new one is complete. If it fails, with one sentence, the existing file stays and nothing else is left. Fails when
// `selection` is asked to stop. O(events of the selected lanes). Threads: any.
[[nodiscard]] Result<void> write_trace(const std::shared_ptr<const Trace>& trace, const Exports::Destination& to, const ExportSelection& selection);

// The same for a text. `write` passes it on piece by piece while the consumer accepts pieces; it returns whether all were accepted.
[[nodiscard]] Result<void> write_text(const Exports::Destination& to, const std::stop_token& stop, const std::function<bool(const TextConsumer&)>& write);

// Returns a function that writes a table as CSV with plain numbers: times in ns.
[[nodiscard]] Exports::Write csv_writer(std::shared_ptr<const stats::Table> table);

}  // namespace lanescope::ui
