// The columns that hold details in a compacted file: the fields of each kind, in the order of docs/file-format.md, as numbers of 64 bits. Internal to
// model/trace.
//
// for_fields(detail, visit) calls visit(field) for each field that is a number or an enum; visit.name(id) for a name of the file, visit.thread(id) for
// a thread or kNone, visit.call_node(id) for a call, and visit.optional(number) for a number that is kNone if it is not known.
#pragma once

#include "lanescope/trace.pb.h"
#include "model/trace/details.h"

namespace lanescope {

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, KernelDetail> {
  visit.name(d.mangled_name);
  visit.name(d.short_name);
  for (auto& blocks : d.grid) visit(blocks);
  for (auto& threads : d.block) visit(threads);
  for (auto& blocks : d.cluster) visit(blocks);
  visit(d.registers_per_thread);
  visit(d.static_shared_memory);
  visit(d.dynamic_shared_memory);
  visit(d.shared_memory_executed);
  visit(d.local_memory_per_thread);
  visit(d.local_memory_total);
  visit(d.launch_type);
  visit(d.cache_config);
  visit(d.graph);
  visit(d.graph_node);
  visit(d.finished);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, MemoryDetail> {
  visit(d.operation);
  visit(d.copy_kind);
  visit(d.source_memory);
  visit(d.destination_memory);
  visit(d.value);
  visit(d.bytes);
  visit(d.source_device);
  visit(d.destination_device);
  visit(d.source_context);
  visit(d.destination_context);
  visit(d.graph);
  visit(d.graph_node);
  visit(d.virtual_address);
  visit(d.migration_cause);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, ApiDetail> {
  visit(d.domain);
  visit(d.result);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, SynchronizationDetail> {
  visit(d.type);
  visit(d.event);
  visit(d.event_record);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, CudaEventDetail> {
  visit(d.event);
  visit(d.record);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, MemoryUsageDetail> {
  visit(d.operation);
  visit(d.memory_kind);
  visit(d.address);
  visit(d.bytes);
  visit(d.context);
  visit(d.stream);
  visit.name(d.variable);
  visit(d.pool);
  visit(d.pool_size);
  visit(d.pool_utilized);
  visit(d.pool_release_threshold);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, GraphLaunchDetail> {
  visit(d.graph);
  visit(d.graph_exec);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, NvtxDetail> {
  visit(d.category);
  visit(d.color);
  visit(d.payload);
  visit.thread(d.end_thread);
  visit(d.payload_type);
  visit(d.finished);
  visit.name(d.payload_json);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, PageFaultDetail> {
  visit(d.address);
  visit(d.program_counter);
  visit.name(d.function);
  visit.name(d.module);
  visit.name(d.source_file);
  visit(d.source_line);
  visit(d.count);
  visit(d.access);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, ThreadStateDetail> {
  visit(d.state);
  visit.optional(d.processor);
  visit(d.waker);
}

template <typename Detail, typename Visit>
void for_fields(Detail&& d, Visit&& visit) requires std::same_as<std::remove_cvref_t<Detail>, SampleDetail> {
  visit.call_node(d.call_node);
  visit(d.origin);
  visit.optional(d.processor);
  visit(d.period);
}

// The kind of details of a track's events; DETAIL_NONE if they have none, or if theirs is no row of a table.
[[nodiscard]] constexpr proto::DetailKind detail_kind(proto::TrackKind kind) noexcept {
  switch (kind) {
    case proto::TRACK_KERNELS:
      return proto::DETAIL_KERNEL;
    case proto::TRACK_MEMORY:
      return proto::DETAIL_MEMORY;
    case proto::TRACK_GRAPH_LAUNCHES:
      return proto::DETAIL_GRAPH_LAUNCH;
    case proto::TRACK_SYNCHRONIZATIONS:
      return proto::DETAIL_SYNCHRONIZATION;
    case proto::TRACK_CUDA_API:
      return proto::DETAIL_API;
    case proto::TRACK_NVTX_RANGES:
    case proto::TRACK_NVTX_PROCESS_RANGES:
    case proto::TRACK_NVTX_MARKS:
      return proto::DETAIL_NVTX;
    case proto::TRACK_PAGE_FAULTS:
      return proto::DETAIL_PAGE_FAULT;
    case proto::TRACK_THREAD_STATES:
    case proto::TRACK_PROCESSORS:
      return proto::DETAIL_THREAD_STATE;
    case proto::TRACK_CPU_SAMPLES:
    case proto::TRACK_BACKTRACES:
      return proto::DETAIL_SAMPLE;
    case proto::TRACK_MEMORY_USAGE:
      return proto::DETAIL_MEMORY_USAGE;
    case proto::TRACK_CUDA_EVENTS:
      return proto::DETAIL_CUDA_EVENT;
    default:
      return proto::DETAIL_NONE;
  }
}

}  // namespace lanescope
