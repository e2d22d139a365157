#include "output/findings_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "model/analysis/overlapping_costs.h"
#include "model/trace/combining/parts.h"
#include "model/trace/text/utf8.h"
#include "text.h"

namespace lanescope::cli {
namespace {

Message place_text(const Trace& trace, const analysis::Place& place) {
  Message text;
  if (!place.range.empty()) text = Message("{begin} to {end}", {{"begin", moment_text(place.range.begin)}, {"end", moment_text(place.range.end)}});
  const auto add = [&](std::string_view pattern, std::uint64_t number) { text = listed(text, Message(pattern, {{"number", std::to_string(number)}})); };
  if (place.gpu != kNone) add("GPU {number}", trace.gpus()[place.gpu].ordinal);
  if (place.process != kNone) add("process {number}", trace.processes()[place.process].pid);
  if (place.thread != kNone) add("thread {number}", trace.threads()[place.thread].tid);
  // GPUs and processes of several files may have the same numbers.
  const TracePart* part = nullptr;
  if (place.gpu != kNone)
    part = PartsOfGpus(trace).of(place.gpu);
  else if (place.process != kNone)
    part = part_of_process(trace, place.process);
  if (part != nullptr) text = listed(text, Message::verbatim(part->label));
  return text;
}

}  // namespace

std::string moment_text(Nanoseconds time) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6f s", static_cast<double>(time) / 1e9);
  return text.data();
}

std::string findings_text(const Trace& trace, const Message& summary, std::span<const analysis::Finding> findings, const Language& language) {
  const auto say = [&](const Message& message) { return printable(message.in(language), LineBreaks::kEscaped) + '\n'; };  // names may hold line breaks
  if (const std::optional<SavedPart>& part = trace.provenance().part; part && trace.event_count() == 0)
    return say(Message("Nothing happened in this part of the recording, from {begin} to {end}.",
                       {{"begin", moment_text(part->time.begin)}, {"end", moment_text(part->time.end)}}));
  if (trace.event_count() == 0) return say("The trace holds no events.");
  std::string text = summary.empty() ? std::string() : say(summary);
  const bool no_gpu = std::none_of(trace.tracks().begin(), trace.tracks().end(), [](const Track& track) { return is_gpu_work(track.key.kind); });
  if (no_gpu && findings.empty())
    return text +
           say(Message("What its threads did: {command}", {{"command", std::string("lanescope stats -r thread_states,osrt_sum,nvtx_sum,cpu_samples FILE")}}));
  if (findings.empty()) return text + say("Nothing was found that costs much of the time.");
  std::size_t number = 0;
  for (const analysis::Finding& finding : findings) {
    text += "\n" + std::to_string(++number) + ". " + say(finding.title);
    const std::string rule = std::string(finding.rule) + (finding.key.empty() ? "" : ", " + finding.key);
    text += say(Message("   Costs:  {cost}  (rule {rule})", {{"cost", analysis::cost_text(finding)}, {"rule", rule}}));
    if (!finding.seen.empty()) text += say(Message("   Seen:   {seen}", {{"seen", finding.seen}}));
    if (const Message place = place_text(trace, finding.place); !place.empty()) text += say(Message("   Where:  {place}", {{"place", place}}));
    text += say(Message("   To do:  {advice}", {{"advice", finding.advice}}));
  }
  if (const Message overlap = analysis::overlap_text(analysis::shared_costs(trace, findings)); !overlap.empty()) text += "\n" + say(overlap);
  return text;
}

}  // namespace lanescope::cli
