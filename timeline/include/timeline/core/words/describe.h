// Everything that is known of an event, in words: what tooltips and the details panel show, and what is copied from them.
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

// A line of a source file, as the recording has it.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;  // 0: not known
};

struct Property {
  Property(std::string_view words, std::string text) : label(words), value(Message::verbatim(std::move(text))) {}
  Property(std::string_view words, Message text) : label(words), value(std::move(text)) {}
  Property(std::string_view words, const char* text) : label(words), value(text) {}

  std::string label;                                 // "Grid": words of ours
  Message value;                                     // "<<<128, 1, 1>>>"
  std::optional<SourcePlace> source = std::nullopt;  // of a call of a chain, where it is known
  EventRef event = {};                               // which the value names; not valid where it names none
};

enum class Length { kBrief, kWhole };  // kBrief: of a long call chain, what fits into a tooltip

// The first property is the name. What is not known is left out. Requires: the event is in the trace. O(lanes · log n): it looks up the
// call that launched the work, and the NVTX ranges around that call.
[[nodiscard]] std::vector<Property> describe_event(const Trace& trace, EventRef event, Length length = Length::kWhole);

// "label<tab>value" lines.
[[nodiscard]] std::string as_text(const std::vector<Property>& properties);

// What the event is called: its name, or what stands for a nameless one ("[CUDA memcpy Host-to-Device]").
[[nodiscard]] std::string event_title(const Trace& trace, EventRef event);
// The same as it is shown: states of threads are words of ours.
[[nodiscard]] Message event_words(const Trace& trace, EventRef event);

// What is written on it, shorter: a kernel without namespaces and parameters, "HtoD", what called of a backtrace. Stays valid as long as the trace.
[[nodiscard]] std::string_view event_label(const Trace& trace, TrackKind kind, const Event& event) noexcept;

// "void ns::f<ns::g(int)>(int*, int)" -> "f<g>": without what is returned and taken, and without namespaces. What tells one template from
// another stays.
[[nodiscard]] std::string compact_kernel_name(std::string_view name);
// The same of several, each of which stands once: with its namespaces, and then its parameters, where others have that name. O(bytes · log n).
[[nodiscard]] std::vector<std::string> distinct_kernel_names(std::span<const std::string_view> names);

}  // namespace lanescope::timeline
