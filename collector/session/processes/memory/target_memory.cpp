#include "processes/memory/target_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "lanescope/trace.pb.h"

namespace lanescope::session {
namespace {

Error no_memory() {
  const char* const remedy = errno == EFBIG ? " Allow larger files (ulimit -f) and record again." : "";
  return {std::string("No shared memory for a process of the recording: ") + std::strerror(errno) + "." + remedy};
}

void write_domains(channel::Settings& shared, const CaptureSettings& settings) {
  for (const std::string& domain : settings.domains) {
    if (shared.domain_name_bytes + domain.size() + 1 > channel::kDomainNamesBytes) break;
    std::memcpy(shared.domain_names + shared.domain_name_bytes, domain.c_str(), domain.size() + 1);
    shared.domain_name_bytes += static_cast<std::uint32_t>(domain.size()) + 1;
  }
  shared.domain_rule = settings.domain_rule == DomainRule::kOnlyListed     ? channel::NameRule::kOnlyListed
                       : settings.domain_rule == DomainRule::kAllButListed ? channel::NameRule::kAllButListed
                                                                           : channel::NameRule::kAll;
}

void write_range(channel::Settings& shared, const CaptureRange& range) {
  const bool by_nvtx = range.trigger == CaptureTrigger::kNvtxRange;
  const bool by_profiler_api = range.trigger == CaptureTrigger::kProfilerApi;
  std::memset(shared.capture_range, 0, sizeof(shared.capture_range));
  std::memset(shared.capture_domain, 0, sizeof(shared.capture_domain));
  range.name.copy(shared.capture_range, channel::kCaptureNameBytes - 1);
  range.domain.value_or("").copy(shared.capture_domain, channel::kCaptureNameBytes - 1);
  shared.capture_any_domain = range.domain ? 0 : 1;
  const channel::CaptureTrigger trigger = by_nvtx           ? channel::CaptureTrigger::kNvtxRange
                                          : by_profiler_api ? channel::CaptureTrigger::kProfilerApi
                                                            : channel::CaptureTrigger::kHost;
  shared.capture_trigger.store(static_cast<std::uint32_t>(trigger), std::memory_order_release);
}

void write_settings(channel::Settings& shared, const CaptureSettings& settings) {
  const auto store = [](std::atomic<std::uint32_t>& word, std::uint32_t value) { word.store(value, std::memory_order_release); };
  store(shared.trace_cuda, settings.trace_cuda ? 1 : 0);
  store(shared.trace_nvtx, settings.trace_nvtx ? 1 : 0);
  store(shared.trace_os_runtime, settings.trace_os_runtime ? 1 : 0);
  store(shared.trace_file_access, settings.trace_file_access ? 1 : 0);
  store(shared.trace_python_lock, settings.trace_python_lock ? 1 : 0);
  store(shared.preset, settings.preset == Preset::kLight ? proto::PRESET_LIGHT : settings.preset == Preset::kDeep ? proto::PRESET_DEEP : proto::PRESET_DEFAULT);
  store(shared.graph_level, settings.graph_level == GraphLevel::kGraph ? proto::GRAPH_LEVEL_GRAPH : proto::GRAPH_LEVEL_NODE);
  store(shared.flush_interval_ms, static_cast<std::uint32_t>(settings.flush_interval.count()));
  store(shared.trace_all_calls, settings.trace_all_calls ? 1 : 0);
  store(shared.os_runtime_threshold_ns, static_cast<std::uint32_t>(settings.os_runtime_threshold.count()));
  store(shared.cuda_extras, (settings.memory_usage ? channel::kMemoryUsage : 0u) | (settings.cpu_page_faults ? channel::kCpuPageFaults : 0u) |
                                (settings.gpu_page_faults ? channel::kGpuPageFaults : 0u) | (settings.cuda_events ? channel::kCudaEvents : 0u));
  store(shared.kernel_collection, static_cast<std::uint32_t>(settings.kernels.collection));
  store(shared.pc_sampling_period, settings.kernels.sampling_period);
  store(shared.pc_window_ms, static_cast<std::uint32_t>(settings.kernels.window.count()));
  store(shared.pc_every_ms, static_cast<std::uint32_t>(settings.kernels.every.count()));
  store(shared.os_runtime_backtrace_ns, static_cast<std::uint32_t>(settings.os_runtime_backtraces.value_or(std::chrono::nanoseconds(0)).count()));
  const CudaBacktraces& backtraces = settings.backtraces;
  store(shared.backtrace_calls, (backtraces.kernels ? channel::kKernelCalls : 0u) | (backtraces.memory ? channel::kMemoryCalls : 0u) |
                                    (backtraces.synchronizations ? channel::kSynchronizationCalls : 0u) | (backtraces.others ? channel::kOtherCalls : 0u));
  store(shared.backtrace_threshold_ns, static_cast<std::uint32_t>(backtraces.threshold.count()));
  write_domains(shared, settings);
  write_range(shared, settings.range);
}

}  // namespace

std::uint64_t pool_bytes_within(std::uint64_t asked, std::uint64_t free) noexcept {
  constexpr std::uint64_t kShare = 8;
  return std::clamp(std::min(asked, std::bit_floor(free / kShare)), channel::kLeastPoolBytes, channel::kMostPoolBytes);
}

Result<std::unique_ptr<TargetMemory>> TargetMemory::create(std::uint32_t instance, const CaptureSettings& settings) {
  std::unique_ptr<TargetMemory> memory(new TargetMemory);
  const std::uint64_t bytes = channel::memory_bytes_for(std::clamp(settings.pool_bytes, channel::kLeastPoolBytes, channel::kMostPoolBytes));
  memory->file_ = FileDescriptor(memfd_create("lanescope", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory->file_.valid() || ftruncate(memory->file_.get(), static_cast<off_t>(bytes)) != 0) return no_memory();
  fcntl(memory->file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory->file_.get(), 0);
  if (mapping == MAP_FAILED) return no_memory();
  memory->mapping_ = mapping;
  memory->shared_ = channel::initialize_shared_memory(mapping, bytes, instance);
  write_settings(memory->shared_.header().settings, settings);
  return memory;
}

void TargetMemory::await(const CaptureRange& range) { write_range(shared_.header().settings, range); }

void TargetMemory::keep_header() noexcept {
  const std::size_t kept = channel::whole_pages(sizeof(channel::SharedHeader));
  madvise(static_cast<std::byte*>(mapping_) + kept, shared_.size() - kept, MADV_REMOVE);
}

TargetMemory::~TargetMemory() {
  if (mapping_ != nullptr) munmap(mapping_, shared_.size());
}

}  // namespace lanescope::session
