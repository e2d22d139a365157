#include "capture_options.h"

namespace lanescope {
namespace {

const char* word_of(proto::CpuScope scope) {
  return scope == proto::CPU_SCOPE_PROCESS_TREE ? "process-tree" : scope == proto::CPU_SCOPE_SYSTEM_WIDE ? "system-wide" : "none";
}

const char* word_of(proto::CallChainKind chains) {
  return chains == proto::CALL_CHAINS_FRAME_POINTERS   ? "fp"
         : chains == proto::CALL_CHAINS_DWARF          ? "dwarf"
         : chains == proto::CALL_CHAINS_BRANCH_RECORDS ? "lbr"
                                                       : "none";
}

}  // namespace

std::string capture_options(const proto::CaptureSettings& settings, std::string_view known) {
  std::string options;
  const auto add = [&options](bool is_wanted, const std::string& option) {
    if (is_wanted) options.append(options.empty() ? "--" : " --").append(option);
  };
  add(settings.preset() == proto::PRESET_LIGHT, "preset=light");
  add(settings.preset() == proto::PRESET_DEEP, "preset=deep");
  add(settings.graph_level() == proto::GRAPH_LEVEL_GRAPH, "cuda-graph-trace=graph");
  add(settings.memory_usage(), "cuda-memory-usage");
  add(settings.cpu_page_faults(), "cuda-um-cpu-page-faults");
  add(settings.gpu_page_faults(), "cuda-um-gpu-page-faults");
  add(settings.cuda_events(), "cuda-event-trace");
  const std::string period = settings.pc_sampling_period() == 0 ? "" : ":period=" + std::to_string(settings.pc_sampling_period());
  add(settings.kernels() == proto::KERNEL_COLLECTION_PC_SAMPLES && known.find("--kernels=") == known.npos, "kernels=pc" + period);
  add(true, std::string("cpuctxsw=") + word_of(settings.thread_states()));
  add(true, std::string("sample=") + word_of(settings.cpu_samples()));
  if (settings.cpu_samples() == proto::CPU_SCOPE_NONE) return options;
  add(true, std::string("backtrace=") + word_of(settings.call_chains()));
  add(true, "sampling-frequency=" + std::to_string(settings.sampling_frequency()));
  return options;
}

}  // namespace lanescope
