// cuda_memcpy_async, cuda_memcpy_sync, cuda_memset_sync: copies and sets that block a thread of the CPU.
#include "common.h"
#include "model/stats/device_ordinals.h"
#include "nsight_rules.h"

namespace lanescope::analysis {
namespace {

using stats::EventView;
using stats::TextId;

struct Operation {
  EventRef ref;
  EventRef call;
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
};

bool is_asynchronous(std::string_view call) { return call.find("Async") != std::string_view::npos; }

// The selected copies and sets that `wanted(name of the call, detail)` accepts, the longest first, at most `limit`; and their total number.
template <typename Wanted>
std::pair<std::vector<Operation>, std::size_t> longest_operations(const stats::Selection& selection, std::size_t limit, Wanted wanted) {
  const Trace& trace = selection.trace();
  const LaunchIndex& launches = selection.launch_index();
  const auto comes_before = [](const Operation& a, const Operation& b) {
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.start != b.start ? a.start < b.start : a.ref < b.ref;
  };
  Foremost<Operation, decltype(comes_before)> longest(limit, comes_before);
  selection.for_each(TrackKind::kMemory, [&](const Track& track, const EventView& event) {
    const EventRef call = launches.find(track.key.process, event.correlation(), event.start());
    if (!call.valid()) return;
    if (wanted(trace.name(trace.lane(call.lane).name(call.index)), trace.memory_detail(event.detail())))
      longest.add({event.ref, call, event.start(), event.duration()});
  });
  return {longest.take(), longest.added()};
}

enum class Kind { kCopy, kSet };

stats::Table table_of(const Trace& trace, Kind kind, const std::vector<Operation>& operations) {
  using stats::identifiers, stats::integers, stats::texts, stats::Unit;
  std::vector<stats::Column> columns = {integers("Duration", Unit::kNanoseconds), integers("Start", Unit::kNanoseconds)};
  if (kind == Kind::kCopy) columns.push_back(texts("Src Kind"));
  columns.push_back(texts(kind == Kind::kCopy ? "Dst Kind" : "Memory Kind"));
  columns.push_back(integers("Bytes", Unit::kBytes));
  for (const char* title : {"PID", "Device ID", "Context ID", "Green Context ID", "Stream ID"}) columns.push_back(identifiers(title));
  columns.push_back(texts("API Name"));
  stats::Table table(std::move(columns));

  const stats::DeviceOrdinals device(trace);
  for (const Operation& operation : operations) {
    const TrackKey& key = trace.track_of(operation.ref.lane).key;
    const MemoryDetail& detail = trace.memory_detail(trace.lane(operation.ref.lane).detail(operation.ref.index));
    const TextId source = table.add_text(std::string(memory_kind_name(detail.source_memory)));
    const TextId destination = table.add_text(std::string(memory_kind_name(detail.destination_memory)));
    const TextId call = table.add_text(std::string(trace.name(trace.lane(operation.call.lane).name(operation.call.index))));
    const auto bytes = static_cast<std::int64_t>(detail.bytes);
    const std::int64_t pid = trace.processes()[key.process].pid;
    const std::int64_t ordinal = device(key.process, key.gpu);
    const std::int64_t context = key.context;
    const std::int64_t stream = key.stream;
    if (kind == Kind::kCopy)
      table.add_row(operation.duration, operation.start, source, destination, bytes, pid, ordinal, context, stats::kNoInteger, stream, call);
    else
      table.add_row(operation.duration, operation.start, destination, bytes, pid, ordinal, context, stats::kNoInteger, stream, call);
  }
  return table;
}

template <typename Wanted>
Result<RuleAnswer> apply(const RuleContext& context, const RuleArguments& arguments, Kind kind, std::string name, std::string title, Message nothing_found,
                         Wanted wanted) {
  const auto selection = select(context, arguments);
  if (!selection) return selection.error();
  const auto [operations, all] = longest_operations(*selection, row_limit(arguments), wanted);
  return answer(std::move(name), std::move(title), table_of(context.trace, kind, operations), all, std::move(nothing_found));
}

}  // namespace

Result<RuleAnswer> find_pageable_async_copies(const RuleContext& context, const RuleArguments& arguments) {
  return apply(context, arguments, Kind::kCopy, "cuda_memcpy_async", "Asynchronous copies of pageable memory", "No asynchronous copy used pageable memory.",
               [](std::string_view call, const MemoryDetail& detail) {
                 return detail.operation == MemoryOperation::kCopy && call.starts_with("cudaMemcpy") && is_asynchronous(call) &&
                        (detail.source_memory == MemoryKind::kPageable || detail.destination_memory == MemoryKind::kPageable);
               });
}

Result<RuleAnswer> find_synchronous_copies(const RuleContext& context, const RuleArguments& arguments) {
  constexpr std::uint64_t kStagedBytes = 64'000;  // copies to the device of up to this size return before they are done
  return apply(context, arguments, Kind::kCopy, "cuda_memcpy_sync", "Synchronous copies", "No synchronous copy held its thread.",
               [](std::string_view call, const MemoryDetail& detail) {
                 const bool is_staged = detail.copy_kind == CopyKind::kHostToDevice && detail.bytes <= kStagedBytes;
                 const bool is_within_device = detail.copy_kind == CopyKind::kDeviceToDevice && detail.source_device == detail.destination_device;
                 return detail.operation == MemoryOperation::kCopy && call.starts_with("cudaMemcpy") && !is_asynchronous(call) && !is_staged &&
                        !is_within_device;
               });
}

Result<RuleAnswer> find_synchronous_sets(const RuleContext& context, const RuleArguments& arguments) {
  return apply(context, arguments, Kind::kSet, "cuda_memset_sync", "Synchronous sets", "No synchronous set held its thread.",
               [](std::string_view call, const MemoryDetail& detail) {
                 return detail.operation == MemoryOperation::kSet && call.starts_with("cudaMemset") && !is_asynchronous(call) &&
                        (detail.destination_memory == MemoryKind::kPinned || detail.destination_memory == MemoryKind::kManaged);
               });
}

}  // namespace lanescope::analysis
