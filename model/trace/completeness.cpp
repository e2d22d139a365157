#include "model/trace/completeness.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "lanescope/trace.pb.h"
#include "model/trace/text/grouped_digits.h"

namespace lanescope {
namespace {

// Adds "5 records dropped" to a list.
void add(std::string& list, std::uint64_t count, std::string_view noun, std::string_view what) {
  if (count == 0) return;
  if (!list.empty()) list += ", ";
  list += grouped_digits(count) + ' ' + std::string(noun) + (count == 1 ? " " : "s ") + std::string(what);
}

bool is_failure(const DiagnosticMessage& message) { return message.severity >= proto::SEVERITY_WARNING && message.state == proto::STATE_FAILED; }

// The session's failures are processes that it could not follow (docs/file-format.md).
bool is_of_unfollowed(const DiagnosticMessage& message) { return message.component == proto::COMPONENT_SESSION && message.state == proto::STATE_FAILED; }

// What was recorded and is not there, as a list.
std::string lost_list(const Trace& trace) {
  Completeness sum;
  for (const Process& process : trace.processes()) {
    sum.dropped += process.completeness.dropped;
    sum.invalid += process.completeness.invalid;
    sum.unreturned_buffers += process.completeness.unreturned_buffers;
  }
  std::string list;
  add(list, sum.dropped, "record", "dropped");
  add(list, sum.invalid, "record", "invalid");
  add(list, sum.unreturned_buffers, "CUPTI buffer", "lost");
  add(list, trace.provenance().unwritten_events, "event", "had no room in the file");
  return list;
}

constexpr std::string_view kLeftOut = " left out.";

}  // namespace

std::string left_out_sentence(std::uint64_t number, std::string_view what, std::string_view which) {
  return std::to_string(number).append(" ").append(what).append(number == 1 ? " " : "s ").append(which).append(number == 1 ? " was" : " were").append(kLeftOut);
}

std::string left_out_text(const Trace& trace) {
  std::set<std::string_view> said;
  std::string text;
  for (const DiagnosticMessage& message : trace.diagnostics())
    if (message.severity == proto::SEVERITY_WARNING && message.text.ends_with(kLeftOut) && said.insert(message.text).second) add_sentence(text, message.text);
  return text;
}

std::string missing_text(const Trace& trace) {
  const auto& diagnostics = trace.diagnostics();
  const bool some_unfollowed = std::any_of(diagnostics.begin(), diagnostics.end(), is_of_unfollowed);
  const auto failures =
      std::count_if(diagnostics.begin(), diagnostics.end(), [](const DiagnosticMessage& message) { return is_failure(message) && !is_of_unfollowed(message); });
  const auto is_cut = [](const TracePart& part) { return !part.provenance.condition.empty(); };
  const auto cut = std::count_if(trace.parts().begin(), trace.parts().end(), is_cut);
  std::string list = lost_list(trace);
  add(list, static_cast<std::uint64_t>(cut), "recording", "not whole");
  if (some_unfollowed) list += list.empty() ? "processes could not be followed" : ", processes could not be followed";
  add(list, static_cast<std::uint64_t>(failures), "warning", failures == 1 ? "says what else is missing" : "say what else is missing");
  return list;
}

void add_sentence(std::string& sentences, std::string_view sentence) {
  if (!sentences.empty() && !sentence.empty()) sentences += ' ';
  sentences += sentence;
}

std::string losses_text(const Trace& trace) {
  std::string text = trace.provenance().condition;
  if (const std::string list = lost_list(trace); !list.empty()) add_sentence(text, "Not all that was recorded is here: " + list + ".");
  return text;
}

std::string completeness_text(const Trace& trace) {
  if (const std::string missing = missing_text(trace); !missing.empty()) return "incomplete: " + missing;
  const Provenance& from = trace.provenance();
  if (from.condition == kRowsLeftOut && from.finished) return "complete but for rows that were left out by choice";
  if (!from.condition.empty()) return from.finished || from.read_in_part ? "incomplete: not all of it could be read" : "incomplete: the recording was cut off";
  return from.format == "Lanescope" ? "complete: nothing dropped" : "completeness not recorded";
}

}  // namespace lanescope
