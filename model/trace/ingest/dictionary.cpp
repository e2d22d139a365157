#include "dictionary.h"

#include "model/trace/trace_builder.h"

namespace lanescope {
namespace {

constexpr std::size_t kMaximumDictionaryEntries = 1u << 24;

// Puts entries at their ids. A gap (a lost chunk) leaves default entries behind; an absurd id is refused.
template <typename Entry, typename Entries, typename Convert>
bool extend(std::vector<Entry>& known, std::uint32_t first, const Entries& entries, Convert convert) {
  if (entries.empty()) return true;
  if (first == 0 || first > kMaximumDictionaryEntries) return false;
  const std::size_t end = first + static_cast<std::size_t>(entries.size());
  if (known.size() < end) known.resize(end);
  for (std::size_t i = 0; i < static_cast<std::size_t>(entries.size()); ++i) known[first + i] = convert(entries[static_cast<int>(i)]);
  return true;
}

// Numbers that a newer recorder may write.
CodeKind known_kind(int number) {
  return number >= 0 && number <= static_cast<int>(CodeKind::kGenerated) ? static_cast<CodeKind>(number) : CodeKind::kNative;
}

}  // namespace

bool extend_strings(Dictionary& dictionary, std::uint32_t first, const google::protobuf::RepeatedPtrField<std::string>& strings,
                    TraceBuilder& builder) {
  return extend(dictionary.strings, first, strings, [&builder](const std::string& text) { return builder.intern(text); });
}

bool extend(Dictionary& dictionary, const proto::EventChunk& chunk, TraceBuilder& builder) {
  const auto same = [](const auto& entry) { return entry; };
  return extend_strings(dictionary, chunk.first_string(), chunk.strings(), builder) &&
         extend(dictionary.shapes, chunk.first_shape(), chunk.launch_shapes(), same) &&
         extend(dictionary.queues, chunk.first_queue(), chunk.queues(), same) &&
         extend(dictionary.copy_shapes, chunk.first_copy_shape(), chunk.copy_shapes(), same) &&
         extend(dictionary.given_names, chunk.first_kernel_name(), chunk.kernel_names(),
                [&](const proto::KernelName& name) {
                  const auto text = [&](std::uint32_t id) { return lookup(dictionary.strings, id); };
                  return KernelName{text(name.readable()), text(name.mangled()), text(name.brief())};
                }) &&
         extend(dictionary.code_locations, chunk.first_code_location(), chunk.code_locations(),
                [&](const proto::CodeLocation& place) {
                  const auto text = [&](std::uint32_t id) { return lookup(dictionary.strings, id); };
                  return builder.code_location({known_kind(place.kind()), text(place.module()), text(place.build_id()), place.address()},
                                               {text(place.function()), text(place.source_file()), place.source_line()});
                }) &&
         // A node may refer to one of the same chunk: entries are in their places before the next is read.
         extend(dictionary.call_nodes, chunk.first_call_node(), chunk.call_nodes(), [&](const proto::CallNode& call) {
           return builder.call_node({lookup(dictionary.call_nodes, call.parent()), lookup(dictionary.code_locations, call.location())});
         });
}

}  // namespace lanescope
