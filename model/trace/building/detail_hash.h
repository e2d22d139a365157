// Hashes of details. They use every field, so that nobody can choose fields that make all hashes equal. Internal to model/trace.
#pragma once

#include "model/trace/details.h"
#include "row_index.h"

namespace lanescope {

inline std::uint64_t hash_of(const KernelDetail& d) noexcept {
  return hash_of_numbers(d.mangled_name, d.short_name, d.grid[0], d.grid[1], d.grid[2], d.block[0], d.block[1], d.block[2], d.cluster[0], d.cluster[1],
                         d.cluster[2], d.registers_per_thread, d.static_shared_memory, d.dynamic_shared_memory, d.shared_memory_executed,
                         d.local_memory_per_thread, d.local_memory_total, d.launch_type, d.cache_config, d.graph, d.graph_node,
                         static_cast<std::uint32_t>(d.finished));
}
inline std::uint64_t hash_of(const MemoryDetail& d) noexcept {
  const std::uint32_t kinds = static_cast<std::uint32_t>(d.operation) << 24 | static_cast<std::uint32_t>(d.copy_kind) << 16 |
                              static_cast<std::uint32_t>(d.source_memory) << 8 | static_cast<std::uint32_t>(d.destination_memory);
  return hash_of_numbers(kinds, d.value, d.bytes, d.source_device, d.destination_device, d.source_context, d.destination_context, d.graph, d.graph_node,
                         d.virtual_address, d.migration_cause);
}
inline std::uint64_t hash_of(const ApiDetail& d) noexcept { return hash_of_numbers(static_cast<std::uint32_t>(d.domain), d.result); }
inline std::uint64_t hash_of(const SynchronizationDetail& d) noexcept { return hash_of_numbers(d.type, d.event, d.event_record); }
inline std::uint64_t hash_of(const CudaEventDetail& d) noexcept { return hash_of_numbers(d.event, d.record); }
inline std::uint64_t hash_of(const MemoryUsageDetail& d) noexcept {
  return hash_of_numbers(static_cast<std::uint32_t>(d.operation), static_cast<std::uint32_t>(d.memory_kind), d.address, d.bytes, d.context, d.stream,
                         d.variable, d.pool, d.pool_size, d.pool_utilized, d.pool_release_threshold);
}
inline std::uint64_t hash_of(const GraphLaunchDetail& d) noexcept { return hash_of_numbers(d.graph, d.graph_exec); }
inline std::uint64_t hash_of(const NvtxDetail& d) noexcept {
  return hash_of_numbers(d.category, d.color, d.payload, d.end_thread, static_cast<std::uint32_t>(d.payload_type), static_cast<std::uint32_t>(d.finished),
                         d.payload_json);
}
inline std::uint64_t hash_of(const PageFaultDetail& d) noexcept {
  return hash_of_numbers(d.address, d.program_counter, d.function, d.module, d.source_file, d.source_line, d.count, d.access);
}
inline std::uint64_t hash_of(const ThreadStateDetail& d) noexcept { return hash_of_numbers(static_cast<std::uint32_t>(d.state), d.processor, d.waker); }
inline std::uint64_t hash_of(const SampleDetail& d) noexcept {
  return hash_of_numbers(d.call_node, static_cast<std::uint32_t>(d.origin), d.processor, static_cast<std::uint64_t>(d.period));
}

}  // namespace lanescope
