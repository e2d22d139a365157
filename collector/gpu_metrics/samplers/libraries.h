// The NVIDIA driver's libraries, loaded at run time. The program links none of them, and reports which one is missing.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::gpu_metrics {

// A GPU of this machine.
struct GpuDevice {
  int ordinal = 0;   // as CUDA numbers it in this process
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // 16 raw bytes
  std::string bus_id;
  std::uint32_t multiprocessor_count = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint64_t memory_bytes = 0;
};

// Which GPUs: `all`, `cuda-visible`, or a list of numbers as in nvidia-smi.
struct DeviceChoice {
  enum class Kind { kAll, kCudaVisible, kListed } kind = Kind::kAll;
  std::vector<int> listed;
};
// Nothing if the text is invalid.
[[nodiscard]] std::optional<DeviceChoice> parse_devices(const std::string& text);

struct Driver {
  bool answers = false;
  int version = 0;              // 13000 for CUDA 13.0
  std::string failure;          // one sentence, if the driver does not answer
  std::vector<GpuDevice> gpus;  // the chosen GPUs
};
// Makes CUDA see all GPUs in the order of the bus, as nvidia-smi numbers them. It changes the environment, and only where it differs.
void number_gpus_by_bus();
// Loads libcuda.so.1 and lists the chosen GPUs. Must be called once, before anything else uses CUDA.
[[nodiscard]] Driver open_driver(const DeviceChoice& choice);

// "GPU-1faac2fb-...", as NVML and nvidia-smi write it.
[[nodiscard]] std::string uuid_text(const std::string& uuid);

}  // namespace lanescope::gpu_metrics
