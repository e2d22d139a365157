// The library below CUPTI. It lets a GPU's monitors count into memory, and decodes as much from there as is asked for. It consists of
// libnvperf_target and the functions of libnvperf_host that describe how samples lie in an image. Both are installed beside libcupti and loaded at
// run time.
//
// CUPTI contains the same library, but always decodes everything that was counted. The calls take structures that begin with their own size, which
// tells the libraries the version; the structures here are those of CUDA 13.0. Each call returns 0 if it succeeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanescope::gpu_metrics::nvperf {

constexpr int kOutOfMemory = 11;  // the only failure that is treated differently from the others

struct Plain {
  std::size_t struct_size = sizeof(Plain);
  void* reserved = nullptr;
};
struct DeviceCount {
  std::size_t struct_size = sizeof(DeviceCount);
  void* reserved = nullptr;
  std::size_t devices = 0;
};
struct BusId {
  std::uint32_t domain = 0;
  std::uint16_t bus = 0;
  std::uint16_t device = 0;
};
struct BusIds {
  std::size_t struct_size = sizeof(BusIds);
  void* reserved = nullptr;
  BusId* ids = nullptr;
  std::size_t devices = 0;
};
// For calls that name only the device.
struct OfDevice {
  std::size_t struct_size = sizeof(OfDevice);
  void* reserved = nullptr;
  std::size_t device = 0;
};
struct BeginSession {
  static constexpr std::uint32_t kTimeInterval = 3;   // a trigger: an interval in ns
  static constexpr std::uint32_t kClockInterval = 2;  // a trigger: an interval in cycles of the system clock
  std::size_t struct_size = offsetof(BeginSession, append_mode) + sizeof(std::uint32_t);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::size_t ranges = 1;
  const std::uint32_t* triggers = nullptr;
  std::size_t trigger_count = 1;
  std::uint64_t interval = 0;
  std::size_t buffer_size = 0;
  std::uint32_t append_mode = 0;  // counts that arrive when the buffer is full are dropped
};
struct SetConfig {
  std::size_t struct_size = sizeof(SetConfig);
  void* reserved = nullptr;
  std::size_t device = 0;
  const std::uint8_t* config = nullptr;
  std::size_t config_size = 0;
  std::size_t pass = 0;
};
struct ImageOptions {
  std::size_t struct_size = offsetof(ImageOptions, append_mode) + sizeof(std::uint32_t);
  const std::uint8_t* prefix = nullptr;
  std::size_t prefix_size = 0;
  std::uint32_t samples = 0;
  std::uint32_t append_mode = 0;  // from first to last
};
struct ImageSize {
  std::size_t struct_size = sizeof(ImageSize);
  void* reserved = nullptr;
  std::size_t device = 0;
  const ImageOptions* options = nullptr;
  std::size_t size = 0;
};
struct InitializeImage {
  std::size_t struct_size = sizeof(InitializeImage);
  void* reserved = nullptr;
  std::size_t device = 0;
  const ImageOptions* options = nullptr;
  std::uint8_t* image = nullptr;
  std::size_t size = 0;
};
struct BufferStatus {
  std::size_t struct_size = sizeof(BufferStatus);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::uint8_t asks_for_unread = 1;
  std::uint8_t asks_for_overflow = 1;
  std::uint8_t asks_for_write_offset = 0;
  std::uint8_t asks_for_read_offset = 0;
  std::size_t total = 0;
  std::size_t unread = 0;
  std::uint8_t overflow = 0;
  std::size_t write_offset = 0;
  std::size_t read_offset = 0;
};
struct Decode {
  std::size_t struct_size = sizeof(Decode);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::uint8_t* image = nullptr;
  std::size_t image_size = 0;
  std::size_t most_bytes = 0;
  std::uint64_t from_time = 0;
  std::uint64_t until_time = 0;
  std::uint32_t stop_reason = 0;
  std::size_t merged = 0;
  std::size_t consumed = 0;  // bytes
};
struct Acknowledge {
  std::size_t struct_size = sizeof(Acknowledge);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::size_t bytes = 0;
};
struct GpuTime {
  std::size_t struct_size = sizeof(GpuTime);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::uint64_t time = 0;  // ns
};
struct ImageInfo {
  std::size_t struct_size = sizeof(ImageInfo);
  void* reserved = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t image_size = 0;
  std::size_t room = 0;  // samples
  std::size_t begun = 0;
  std::size_t completed = 0;
};
struct SampleTimes {
  std::size_t struct_size = sizeof(SampleTimes);
  void* reserved = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t index = 0;
  std::uint64_t begin = 0;  // ns on the GPU's clock; 0 if it is not known
  std::uint64_t end = 0;
};

// From here on, functions of libnvperf_host.
struct ConfigCounters {
  std::size_t struct_size = sizeof(ConfigCounters);
  void* reserved = nullptr;
  const std::uint8_t* config = nullptr;
  std::size_t config_size = 0;
  std::size_t pass = 0;
  const char** names = nullptr;
  std::size_t count = 0;
};
struct CreateBuilder {
  std::size_t struct_size = sizeof(CreateBuilder);
  void* reserved = nullptr;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  void* builder = nullptr;
};
struct CounterRequest {
  void* reserved = nullptr;
  const char* name = nullptr;
  std::uint32_t domain = 0;
  std::uint8_t keeps_instances = 0;
};
struct AddCounters {
  std::size_t struct_size = sizeof(AddCounters);
  void* reserved = nullptr;
  void* builder = nullptr;
  std::size_t request_size = offsetof(CounterRequest, keeps_instances) + sizeof(std::uint8_t);
  std::size_t count = 0;
  const CounterRequest* requests = nullptr;
};
struct GetPrefix {
  std::size_t struct_size = sizeof(GetPrefix);
  void* reserved = nullptr;
  void* builder = nullptr;
  std::size_t room = 0;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
};
struct DestroyBuilder {
  std::size_t struct_size = sizeof(DestroyBuilder);
  void* reserved = nullptr;
  void* builder = nullptr;
};

struct Functions {
  int (*initialize_target)(Plain*) = nullptr;
  int (*load_driver)(Plain*) = nullptr;
  int (*get_device_count)(DeviceCount*) = nullptr;
  int (*get_bus_ids)(BusIds*) = nullptr;
  int (*begin_session)(BeginSession*) = nullptr;
  int (*end_session)(OfDevice*) = nullptr;
  int (*set_config)(SetConfig*) = nullptr;
  int (*start)(OfDevice*) = nullptr;
  int (*stop)(OfDevice*) = nullptr;
  int (*get_image_size)(ImageSize*) = nullptr;
  int (*initialize_image)(InitializeImage*) = nullptr;
  int (*get_buffer_status)(BufferStatus*) = nullptr;
  int (*decode)(Decode*) = nullptr;
  int (*acknowledge)(Acknowledge*) = nullptr;
  int (*get_gpu_time)(GpuTime*) = nullptr;
  int (*get_image_info)(ImageInfo*) = nullptr;
  int (*get_sample_times)(SampleTimes*) = nullptr;
  int (*initialize_host)(Plain*) = nullptr;
  int (*get_config_counters)(ConfigCounters*) = nullptr;
  int (*create_builder)(CreateBuilder*) = nullptr;
  int (*add_counters)(AddCounters*) = nullptr;
  int (*get_prefix)(GetPrefix*) = nullptr;
  int (*destroy_builder)(DestroyBuilder*) = nullptr;
};

// Loads the libraries from the folder of a function of libcupti, or from where the loader finds them, ready for use. Returns nothing, and sets
// `reason`, if a library or a function is missing or the driver does not answer. The process keeps the libraries.
[[nodiscard]] std::optional<Functions> load(const void* function_of_cupti, std::string& reason);

// The library's index of the device with this bus id ("0000:00:06.0").
[[nodiscard]] std::optional<std::size_t> find_device(const Functions& functions, const std::string& bus_id);

// The start of images of samples, for the counters of a config. `kEach`: separate counts of each unit of the GPU, which take 80 times the bytes.
// `kSum`: their sum, from which mean and sum follow. Empty if the library refuses.
enum class Units { kSum, kEach };
[[nodiscard]] std::vector<std::uint8_t> image_prefix(const Functions& functions, std::span<const std::uint8_t> config, const std::string& chip,
                                                     std::span<const std::uint8_t> availability, Units units);

}  // namespace lanescope::gpu_metrics::nvperf
