#include "dictionary.h"

#include <limits>
#include <span>

#include "columns.h"
#include "model/file/limits.h"
#include "model/trace/text/kernel_name.h"
#include "model/trace/trace_builder.h"

namespace lanescope {
namespace {

// True if there are this many ids from this one on. False if the first is 0, which is no id.
bool are_ids(std::uint32_t first, int count) { return first != 0 && static_cast<std::uint32_t>(count) <= std::numeric_limits<std::uint32_t>::max() - first; }

// Puts entries at their ids. Returns false if an id is 0 or too large.
template <typename Entry, typename Entries, typename Convert>
bool extend(EntryTable<Entry>& table, std::uint32_t first, const Entries& entries, Convert convert) {
  if (entries.empty()) return true;
  if (!are_ids(first, entries.size())) return false;
  for (const auto& entry : entries) {
    const auto converted = convert(entry);  // may look up entries of the table
    table.place(first++) = converted;
  }
  return true;
}

}  // namespace

const KernelName& KernelNames::of(NameId mangled, TraceBuilder& builder) {
  constexpr std::uint64_t kNodeBytes = 64, kPerMangled = 32, kPerDemangled = 8;
  const auto [found, inserted] = names_.try_emplace(mangled);
  if (!inserted) return found->second;
  const std::string_view text = builder.text(mangled);
  const std::string readable = demangle(text);
  const bool is_mangled = text.starts_with("_Z");
  const std::size_t demangled = is_mangled && readable == text ? limits::kDemangledBytes : readable.size();  // as far as demangling was tried
  cost_ += kNodeBytes + (is_mangled ? kPerMangled * text.size() + kPerDemangled * demangled : 0);
  return found->second = {builder.intern(readable), mangled, builder.intern(short_kernel_name(readable))};
}

bool extend_strings(Dictionary& dictionary, std::uint32_t first, const google::protobuf::RepeatedPtrField<std::string>& strings, TraceBuilder& builder) {
  if (strings.empty()) return true;
  if (!are_ids(first, strings.size())) return false;
  for (const NameId name : builder.intern(std::span(strings.data(), static_cast<std::size_t>(strings.size())))) dictionary.strings.place(first++) = name;
  return true;
}

bool extend(Dictionary& dictionary, const proto::EventChunk& chunk, TraceBuilder& builder) {
  const auto same = [](const auto& entry) { return entry; };
  return extend_strings(dictionary, chunk.first_string(), chunk.strings(), builder) &&
         extend(dictionary.shapes, chunk.first_shape(), chunk.launch_shapes(), same) && extend(dictionary.queues, chunk.first_queue(), chunk.queues(), same) &&
         extend(dictionary.copy_shapes, chunk.first_copy_shape(), chunk.copy_shapes(), same) &&
         extend(dictionary.given_names, chunk.first_kernel_name(), chunk.kernel_names(),
                [&](const proto::KernelName& name) {
                  const auto text = [&](std::uint32_t id) { return dictionary.strings[id]; };
                  return KernelName{text(name.readable()), text(name.mangled()), text(name.brief())};
                }) &&
         extend(dictionary.code_locations, chunk.first_code_location(), chunk.code_locations(),
                [&](const proto::CodeLocation& place) {
                  const auto text = [&](std::uint32_t id) { return dictionary.strings[id]; };
                  return builder.code_location(
                      {known_kind(static_cast<int>(place.kind()), CodeKind::kGenerated), text(place.module()), text(place.build_id()), place.address()},
                      {text(place.function()), text(place.source_file()), place.source_line()});
                }) &&
         // A node may refer to another one of the same chunk: each entry is stored before the next is read.
         extend(dictionary.call_nodes, chunk.first_call_node(), chunk.call_nodes(), [&](const proto::CallNode& call) {
           CodeLocationId place = dictionary.code_locations[call.location()];
           if (place == 0) place = builder.code_location({}, {});  // the chunk that had the location was lost: nothing is known of the call
           return builder.call_node({dictionary.call_nodes[call.parent()], place});
         });
}

bool extend(Dictionary& dictionary, ProcessId process, const proto::PcSamples& samples, KernelNames& kernel_names, TraceBuilder& builder) {
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
  return extend(dictionary.gpu_functions, samples.first_function(), samples.functions(),
                [&](const proto::GpuFunction& function) {
                  const KernelName& name = kernel_names.of(builder.intern(function.name()), builder);
                  return 1 + builder.gpu_function({process, function.code_object(), function.index(), name.name, name.mangled});
                }) &&
         extend(dictionary.stall_reasons, samples.first_reason(), samples.reasons(), [&](const std::string& name) {
           const std::uint32_t reason = builder.stall_reason(std::string_view(name).substr(name.starts_with(kPrefix) ? kPrefix.size() : 0));
           return reason == kNone ? 0 : 1 + reason;
         });
}

}  // namespace lanescope
