// What is missing in a trace, in words: the same in every program that shows it or answers from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/file/missing.h"
#include "model/trace/trace.h"

namespace lanescope {

// The text of the diagnostic (DiagnosticKind::kRowsLeftOut) of a file that was saved from another without all rows.
inline constexpr std::string_view kRowsLeftOut = "Rows were left out by choice when this file was saved.";

// What was lost, as a list: "5 records dropped, 1 CUPTI buffer lost". Empty where nothing is known to be missing; that says nothing of
// traces whose source does not count (Provenance::format), and nothing of the file, of which Provenance::condition speaks. Late records lie
// outside of the recording and are not missing in it. O(processes + diagnostics + windows of PC samples).
[[nodiscard]] std::string missing_text(const Trace& trace);
// The same of what has been counted while recording.
[[nodiscard]] std::string missing_text(const Missing& missing);

// What bars a verdict on the trace, since it may be another than that of the whole: what is wrong with the file of
// a recording (Provenance::condition; of several recordings with the names of their parts), rows that were left out by choice, and events that were dropped
// or had no room. One sentence or more; empty where no event is known to be missing. Samples that are missing, and what could not be recorded at all, are not
// here. O(processes + parts).
[[nodiscard]] std::string losses_text(const Trace& trace);

// What whoever answers from the trace says beside the answer: as losses_text, with all of missing_text.
[[nodiscard]] std::string lacks_text(const Trace& trace);

// How an importer says what of another tool's file it left out: "2 events with times that are not numbers were left out."; a warning of the trace.
[[nodiscard]] std::string left_out_sentence(std::uint64_t number, std::string_view what, std::string_view which);

// What was left out when the trace was read from other tools' files, each sentence once; empty if nothing was. It is no loss of the recording: those
// files hold things that no trace can hold. O(diagnostics).
[[nodiscard]] std::string left_out_text(const Trace& trace);

// Appends a sentence to others, after a space.
void add_sentence(std::string& sentences, std::string_view sentence);

// The whole sentence: "complete: nothing dropped", "complete but for rows that were left out by choice", "incomplete: " and what is missing, or
// "completeness not recorded". Parts of the file that could not be read are described by the condition.
[[nodiscard]] std::string completeness_text(const Trace& trace);

}  // namespace lanescope
