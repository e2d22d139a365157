#include "model/trace/compact/gpu_message.h"

#include "lanescope/trace.pb.h"

namespace lanescope {

void describe(const Gpu& gpu, std::uint32_t ordinal, proto::Device& message) {
  message.set_id(ordinal);
  message.set_name(gpu.name);
  message.set_uuid(gpu.uuid);
  message.set_bus_id(gpu.bus_id);
  message.set_multiprocessor_count(gpu.multiprocessor_count);
  message.set_compute_major(gpu.compute_major);
  message.set_compute_minor(gpu.compute_minor);
  message.set_memory_bytes(gpu.memory_bytes);
  message.set_memory_bandwidth(gpu.memory_bandwidth);
  message.set_core_clock_khz(gpu.core_clock_khz);
  message.set_max_warps_per_multiprocessor(gpu.max_warps_per_multiprocessor);
  message.set_max_blocks_per_multiprocessor(gpu.max_blocks_per_multiprocessor);
  message.set_max_registers_per_multiprocessor(gpu.max_registers_per_multiprocessor);
  message.set_max_shared_memory_per_multiprocessor(gpu.max_shared_memory_per_multiprocessor);
}

}  // namespace lanescope
