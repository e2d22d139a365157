// All facts about an event as text, for tooltips, the details panel, and copies of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::timeline {

// A line of a source file, as recorded.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;  // 0: not known
};

struct Property {
  Property(std::string_view words, std::string text) : label(words), value(Message::verbatim(std::move(text))) {}
  Property(std::string_view words, Message text) : label(words), value(std::move(text)) {}
  Property(std::string_view words, const char* text) : label(words), value(text) {}

  std::string label;                                 // "Grid": words of Lanescope
  Message value;                                     // "<<<128, 1, 1>>>"
  std::optional<SourcePlace> source = std::nullopt;  // of a call in a chain, if known
  EventRef event = {};                               // the event that the value names; not valid if it names none
};

enum class Length { kBrief, kWhole };  // kBrief: only as much of a long call chain as fits into a tooltip

// The first property is the name. Unknown facts are left out. Requires: the event is in the trace. O(lanes · log n): it looks up the call that launched the
// work, and the NVTX ranges around that call.
[[nodiscard]] std::vector<Property> describe_event(const Trace& trace, EventRef event, Length length = Length::kWhole);
// The same for an event that is open at this time: since when and for how long, instead of an end.
[[nodiscard]] std::vector<Property> describe_open_event(const Trace& trace, EventRef event, Nanoseconds now, Length length = Length::kWhole);

// "label<tab>value" lines.
[[nodiscard]] std::string as_text(const std::vector<Property>& properties);

// The name of the event, or a description of a nameless one ("[CUDA memcpy Host-to-Device]").
[[nodiscard]] std::string event_title(const Trace& trace, EventRef event);
// The same for display: states of threads are words of Lanescope, which can be translated.
[[nodiscard]] Message event_words(const Trace& trace, EventRef event);

// The text that is painted on the event, shorter: a kernel without namespaces and parameters, "HtoD", the caller of a backtrace. Valid as long as the trace.
[[nodiscard]] std::string_view event_label(const Trace& trace, TrackKind kind, const Event& event) noexcept;

// "void ns::f<ns::g(int)>(int*, int)" -> "f<g>": without return type, parameters and namespaces. Template arguments stay.
[[nodiscard]] std::string compact_kernel_name(std::string_view name);
// The same for several distinct names: a name keeps its namespaces, and then also its parameters, if others would have the same result. O(bytes · log n).
[[nodiscard]] std::vector<std::string> distinct_kernel_names(std::span<const std::string_view> names);

}  // namespace lanescope::timeline
