#include "file/session_start.h"

#include <sys/utsname.h>

#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include "clock.h"
#include "file/asked_options.h"
#include "file/machine.h"
#include "file/trace_output.h"

namespace lanescope::session {
namespace {

void describe_traces(const CaptureSettings& settings, proto::CaptureSettings& described) {
  described.set_trace_cuda(settings.trace_cuda);
  described.set_trace_nvtx(settings.trace_nvtx);
  described.set_trace_os_runtime(settings.trace_os_runtime);
  described.set_preset(settings.preset == Preset::kLight ? proto::PRESET_LIGHT : settings.preset == Preset::kDeep ? proto::PRESET_DEEP : proto::PRESET_DEFAULT);
  described.set_graph_level(settings.graph_level == GraphLevel::kGraph ? proto::GRAPH_LEVEL_GRAPH : proto::GRAPH_LEVEL_NODE);
  described.set_flush_interval_ms(static_cast<std::uint32_t>(settings.flush_interval.count()));
  described.set_memory_usage(settings.memory_usage);
  described.set_cpu_page_faults(settings.cpu_page_faults);
  described.set_gpu_page_faults(settings.gpu_page_faults);
  described.set_cuda_events(settings.cuda_events);
  described.set_kernels(settings.kernels.collection == KernelCollection::kPcSamples ? proto::KERNEL_COLLECTION_PC_SAMPLES : proto::KERNEL_COLLECTION_NONE);
  described.set_pc_sampling_period(settings.kernels.sampling_period);
}

// The part that is common to all recordings.
proto::SessionStart session_start(const CaptureSettings& settings, std::span<const Label> labels) {
  proto::SessionStart start;
  start.set_epoch(monotonic_now());
  start.set_utc_epoch(realtime_now());
  start.set_host_name(host_name());
  start.set_lanescope_version(LANESCOPE_VERSION);
  describe_traces(settings, *start.mutable_settings());
  describe_settings(settings.cpu, *start.mutable_settings());
  for (const Label& label : labels) {
    proto::Label& added = *start.add_labels();
    added.set_key(label.key);
    added.set_value(label.value);
  }
  utsname system{};
  uname(&system);
  start.set_operating_system(std::string(system.sysname) + " " + system.release + " " + system.machine);
  start.set_processor_count(std::thread::hardware_concurrency());
  start.set_processor(processor_name());
  start.set_driver_version(driver_version());
  start.set_machine_id(machine_id());
  start.set_boot_id(boot_id());
  return start;
}

}  // namespace

void describe_settings(const cpu::CpuSettings& settings, proto::CaptureSettings& described) {
  const auto scope = [](cpu::Scope wanted) {
    return wanted == cpu::Scope::kNone         ? proto::CPU_SCOPE_NONE
           : wanted == cpu::Scope::kSystemWide ? proto::CPU_SCOPE_SYSTEM_WIDE
                                               : proto::CPU_SCOPE_PROCESS_TREE;
  };
  described.set_thread_states(scope(settings.thread_states));
  described.set_cpu_samples(scope(settings.samples));
  described.clear_sampling_frequency();
  described.clear_call_chains();
  if (settings.samples == cpu::Scope::kNone) return;
  described.set_sampling_frequency(settings.frequency);
  described.set_call_chains(settings.call_chains == cpu::CallChains::kFramePointers   ? proto::CALL_CHAINS_FRAME_POINTERS
                            : settings.call_chains == cpu::CallChains::kDwarf         ? proto::CALL_CHAINS_DWARF
                            : settings.call_chains == cpu::CallChains::kBranchRecords ? proto::CALL_CHAINS_BRANCH_RECORDS
                                                                                      : proto::CALL_CHAINS_NONE);
}

proto::SessionStart session_start(const LaunchRequest& request, const CaptureSettings& settings) {
  proto::SessionStart start = session_start(settings, request.labels);
  start.set_options(asked_options(request, settings));
  for (const std::string& argument : request.command) start.add_command(argument);
  std::error_code ignored;
  const std::filesystem::path directory =
      request.working_directory.empty() ? std::filesystem::current_path(ignored) : std::filesystem::absolute(request.working_directory, ignored);
  start.set_working_directory(directory.string());
  return start;
}

proto::SessionStart session_start(const AttachRequest& request) {
  proto::SessionStart start = session_start(request.settings, request.labels);
  start.set_options(asked_options(request));
  start.set_attached_pid(static_cast<std::uint32_t>(request.pid));
  std::error_code ignored;
  start.set_working_directory(std::filesystem::read_symlink("/proc/" + std::to_string(request.pid) + "/cwd", ignored).string());
  return start;
}

}  // namespace lanescope::session
