// A trace, or a part of it, as a file of a format that others read: what `lanescope export` writes.
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

// How many events of a selection could not be read when somebody needed them, so that others stand for them. O(segments).
[[nodiscard]] std::uint64_t count_unreadable(const Trace& trace, const ExportSelection& selection = {});

[[nodiscard]] std::string_view suffix_of(TraceFormat format) noexcept;  // ".trace"
// By the end of the path, in any case of letters; .trace where it has no suffix of ours.
[[nodiscard]] TraceFormat format_of(std::string_view path) noexcept;

// Replaces a file of that name once the new one is whole; where it fails, with one sentence, that stays and nothing else is left. Fails when
// `selection` is asked to stop. O(events of the lanes that are taken). Threads: any.
[[nodiscard]] Result<void> write_trace(const std::shared_ptr<const Trace>& trace, const Exports::Destination& to, const ExportSelection& selection);

// The same of a text, which `write` passes on piece by piece for as long as the consumer takes them; it returns whether all were taken.
[[nodiscard]] Result<void> write_text(const Exports::Destination& to, const std::stop_token& stop, const std::function<bool(const TextConsumer&)>& write);

// What writes a table as CSV, with plain numbers: times in ns.
[[nodiscard]] Exports::Write csv_writer(std::shared_ptr<const stats::Table> table);

}  // namespace lanescope::ui
