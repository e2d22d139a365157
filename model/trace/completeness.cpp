#include "model/trace/completeness.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>

#include "model/trace/kernel_records.h"
#include "model/trace/text/grouped_digits.h"

namespace lanescope {
namespace {

// Adds "5 records dropped" to a list.
void add(std::string& list, std::uint64_t count, std::string_view noun, std::string_view what) {
  if (count == 0) return;
  if (!list.empty()) list += ", ";
  list += grouped_digits(count) + ' ' + std::string(noun) + (count == 1 ? " " : "s ") + std::string(what);
}

// Events that are not there, as a list.
std::string lost_list(const Missing& missing) {
  std::string list;
  add(list, missing.dropped, "record", "dropped");
  add(list, missing.invalid, "record", "invalid");
  add(list, missing.unreturned_buffers, "CUPTI buffer", "lost");
  add(list, missing.unwritten_events, "event", "had no room in the file");
  return list;
}

// Each of several parts of one recording says the same of a process, and of the recording at a time: that counts once.
Missing missing_of(const Trace& trace) {
  Missing missing;
  const bool has_parts = trace.parts().size() > 1;
  std::set<std::tuple<std::uint32_t, Nanoseconds, std::uint64_t, std::uint64_t, std::uint64_t>> processes;
  std::set<std::tuple<Nanoseconds, int, int, std::string_view>> said;
  for (const Process& process : trace.processes()) {
    const Completeness& its = process.completeness;
    if (has_parts && !processes.emplace(process.pid, process.start, its.dropped, its.invalid, its.unreturned_buffers).second) continue;
    missing.dropped += process.completeness.dropped;
    missing.invalid += process.completeness.invalid;
    missing.unreturned_buffers += process.completeness.unreturned_buffers;
  }
  missing.unwritten_events = trace.provenance().unwritten_events;
  missing.file_was_full = trace.provenance().end == RecordingEnd::kDiskFull || trace.provenance().end == RecordingEnd::kFileSize;
  for (const DiagnosticMessage& message : trace.diagnostics())
    if (!has_parts || said.emplace(message.time, message.component, message.state, message.text).second)
      missing.note(message.severity, message.component, message.state, message.content);
  for (const auto& window : trace.kernel_records().windows) {
    missing.pc_samples += window->dropped;
    missing.full_pc_windows += window->buffer_was_full ? 1 : 0;
  }
  for (const TracePart& part : trace.parts())
    if (!part.provenance.condition.empty()) ++missing.unwhole_recordings;
  return missing;
}

}  // namespace

std::string left_out_sentence(std::uint64_t number, std::string_view what, std::string_view which) {
  return std::to_string(number)
      .append(" ")
      .append(what)
      .append(number == 1 ? " " : "s ")
      .append(which)
      .append(number == 1 ? " was" : " were")
      .append(" left out.");
}

std::string left_out_text(const Trace& trace) {
  std::set<std::string_view> said;
  std::string text;
  for (const DiagnosticMessage& message : trace.diagnostics())
    if (message.content.kind == DiagnosticKind::kLeftOut && said.insert(message.text).second) add_sentence(text, message.text);
  return text;
}

std::string missing_text(const Missing& missing) {
  std::string list = lost_list(missing);
  add(list, missing.python_stacks, "Python stack", "dropped");
  add(list, missing.pc_samples, "PC sample", "dropped");
  add(list, missing.full_pc_windows, "full buffer", "of PC samples lost more");
  add(list, missing.unwhole_recordings, "recording", "not whole");
  const auto say = [&list](std::string_view what) { list.append(list.empty() ? "" : ", ").append(what); };
  if (missing.file_was_full) say("what came once the file was full");
  if (missing.unfollowed) say("processes could not be followed");
  add(list, missing.warnings, "warning", missing.warnings == 1 ? "says what else is missing" : "say what else is missing");
  return list;
}

std::string missing_text(const Trace& trace) { return missing_text(missing_of(trace)); }

void add_sentence(std::string& sentences, std::string_view sentence) {
  if (!sentences.empty() && !sentence.empty()) sentences += ' ';
  sentences += sentence;
}

namespace {

const DiagnosticMessage* rows_left_out(const Trace& trace) {
  const auto found = std::find_if(trace.diagnostics().begin(), trace.diagnostics().end(),
                                  [](const DiagnosticMessage& message) { return message.content.kind == DiagnosticKind::kRowsLeftOut; });
  return found == trace.diagnostics().end() ? nullptr : &*found;
}

std::string with_condition(const Trace& trace, const std::string& list) {
  std::string text = trace.provenance().condition;
  if (const DiagnosticMessage* const rows = rows_left_out(trace)) add_sentence(text, rows->text);
  if (!list.empty()) add_sentence(text, "Not all that was recorded is here: " + list + ".");
  return text;
}

}  // namespace

std::string losses_text(const Trace& trace) { return with_condition(trace, lost_list(missing_of(trace))); }

std::string lacks_text(const Trace& trace) { return with_condition(trace, missing_text(trace)); }

std::string completeness_text(const Trace& trace) {
  std::string missing = missing_text(trace);
  const Provenance& from = trace.provenance();
  const bool is_whole = from.condition.empty();
  if (!is_whole && (from.finished || from.read_in_part)) {
    if (!missing.empty()) missing += ", ";
    missing += "not all of it could be read";
  } else if (!is_whole && missing.empty()) {
    missing = "the recording was cut off";
  }
  if (!missing.empty()) return "incomplete: " + missing;
  if (rows_left_out(trace) != nullptr) return "complete but for rows that were left out by choice";
  return from.format == "Lanescope" ? "complete: nothing dropped" : "completeness not recorded";
}

}  // namespace lanescope
