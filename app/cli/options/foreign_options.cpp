#include "options/foreign_options.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

namespace lanescope::cli {
namespace {

struct Advice {
  std::string_view name;
  std::string_view text;
  std::string_view granted = {};  // the value with which it asks for what is done here anyway
};

constexpr std::array kForeignOptions{
    // Options of nsys, for reports and other commands that do not record (unrecorded_options.h has those for recordings).
    Advice{"--defer-report", "It is not needed: a .trace is complete when its capture ends.", "true"},
    Advice{"--force-export", "It is not needed: reports read the .trace itself.", "true"},
    Advice{"--sqlite", "The .trace itself is read: name it alone"},
    Advice{"--report-dir", "Reports are part of lanescope: see them with lanescope stats --help-reports, or query SQLite: lanescope export"},
    Advice{"--rule-dir", "Rules are part of lanescope: see them with lanescope analyze --help-rules, or query SQLite: lanescope export"},
    Advice{"--separate-strings", "Names stand in the events themselves.", "false"},
    Advice{"--include-json", "Data of NVTX events is always written, as JSON.", "true"},
    Advice{"--include-blobs", "Data of NVTX events is written as JSON, not as bytes."},
    Advice{"--dynamic-tables", "Data of NVTX events is written as JSON: see NVTX_EVENTS.jsonText."},
    Advice{"--append", "A file holds one trace. Several are read together: lanescope stats A.trace B.trace"},
    Advice{"--ts-normalize", "Times count from the begin of the recording; its time of day is in: lanescope info"},
    Advice{"--ts-shift", "Times count from the begin of the recording. Shift them in the viewer: lanescope-ui A.trace B.trace"},
    Advice{"--gpu-metrics", "Did you mean --gpu-metrics-devices?"},
    Advice{"--pid", "The process stands alone: lanescope attach PID"},
    Advice{"--lazy", "Tables are written where there is something to write.", "true"},
    // No tool has these, but instructions for them circulate.
    Advice{"--nvtx", "Did you mean --trace=cuda,nvtx?"},
    Advice{"--cuda", "Did you mean --trace=cuda?"},
    Advice{"--osrt", "Did you mean --trace=cuda,nvtx,osrt?"},
    Advice{"--mpi", "Did you mean --trace=cuda,nvtx,mpi?"},
    Advice{"--cudnn", "Did you mean --trace=cuda,nvtx,cudnn?"},
    Advice{"--cublas", "Did you mean --trace=cuda,nvtx,cublas?"},
    Advice{"--output-dir", "Did you mean --output? It takes a path: -o FOLDER/NAME"},
    Advice{"--output-file", "Did you mean --output?"},
    Advice{"--force", "Did you mean --force-overwrite?"},
    Advice{"--overwrite", "Did you mean --force-overwrite?"},
    Advice{"--timeout", "Did you mean --duration?"},
    Advice{"--capture", "Did you mean --capture-range?"},
    Advice{"--format", "Did you mean --export? Tables come from: lanescope stats -f csv FILE"},
    Advice{"-p", "Attach to a process with: lanescope attach PID"},
};

constexpr std::array kTypes{
    Advice{"hdf", "it is not written; take sqlite, or csv"},
    Advice{"arrowdir", "take arrow, a stream for each table, or parquetdir, a folder with a file for each table of sqlite"},
    Advice{"jsonlines", "take json, which is one array; jq -c '.[]' makes lines of it"},
    Advice{"info", "see it with lanescope info"},
};

template <std::size_t Count>
std::optional<std::string> find(const std::array<Advice, Count>& table, std::string_view name) {
  for (const Advice& advice : table)
    if (advice.name == name) return std::string(advice.text);
  return std::nullopt;
}

constexpr std::array kForeignCommands{
    Advice{"nvprof", "Record with: lanescope profile ./app, and see its times with: lanescope stats report1.trace"},
    Advice{"ncu", "Measure kernels with: lanescope kernels -- ./app"},
    Advice{"plugins", "There are no plugins. See what can be recorded with: lanescope profile --help"},
    Advice{"finalize", "It is not needed: a .trace is complete when its recording ends, and opens before."},
    Advice{"service", "It is not needed: recordings need nothing that runs beside them."},
    Advice{"version", "Did you mean lanescope --version?"},
    Advice{"ui", "The viewer is a program of its own: lanescope-ui FILE.trace"},
    Advice{"view", "The viewer is a program of its own: lanescope-ui FILE.trace"},
    Advice{"record", "Did you mean lanescope profile?"},
    Advice{"run", "Did you mean lanescope profile?"},
};

// Names of reports until nsys 2022.4, and of rules until 2022.1.
constexpr std::array<std::pair<std::string_view, std::string_view>, 29> kOldNames{{
    {"apigpusum", "cuda_api_gpu_sum"},
    {"cudaapisum", "cuda_api_sum"},
    {"cudaapitrace", "cuda_api_trace"},
    {"gpukernsum", "cuda_gpu_kern_sum"},
    {"gpumemsizesum", "cuda_gpu_mem_size_sum"},
    {"gpumemtimesum", "cuda_gpu_mem_time_sum"},
    {"gpusum", "cuda_gpu_sum"},
    {"gputrace", "cuda_gpu_trace"},
    {"kernexecsum", "cuda_kern_exec_sum"},
    {"kernexectrace", "cuda_kern_exec_trace"},
    {"kernsum", "cuda_gpu_kern_sum"},
    {"nvtxgpuproj", "nvtx_gpu_proj_trace"},
    {"nvtxkernsum", "nvtx_kern_sum"},
    {"nvtxppsum", "nvtx_pushpop_sum"},
    {"nvtxpptrace", "nvtx_pushpop_trace"},
    {"nvtxsssum", "nvtx_startend_sum"},
    {"nvtxsum", "nvtx_sum"},
    {"osrtsum", "osrt_sum"},
    {"pushpopsum", "nvtx_pushpop_sum"},
    {"pushpoptrace", "nvtx_pushpop_trace"},
    {"umcpupagefaults", "um_cpu_page_faults_sum"},
    {"umsum", "um_sum"},
    {"umtotalsum", "um_total_sum"},
    {"cuda-async-memcpy", "cuda_memcpy_async"},
    {"cuda-sync-api", "cuda_api_sync"},
    {"cuda-sync-memcpy", "cuda_memcpy_sync"},
    {"cuda-sync-memset", "cuda_memset_sync"},
    {"gpu-low-utilization", "gpu_time_util"},
    {"gpu-starvation", "gpu_gaps"},
}};

const Advice* find_option(std::string_view name) {
  const auto* const found = std::find_if(kForeignOptions.begin(), kForeignOptions.end(), [name](const Advice& advice) { return advice.name == name; });
  return found == kForeignOptions.end() ? nullptr : found;
}

}  // namespace

std::optional<std::string> foreign_option_advice(std::string_view name) {
  const Advice* advice = find_option(name);
  return advice == nullptr ? std::nullopt : std::optional<std::string>(advice->text);
}

bool foreign_option_is_granted(std::string_view name, std::string_view value) {
  const Advice* advice = find_option(name);
  if (advice == nullptr) return false;
  if (advice->granted.empty()) return value == "false" || value == "none";
  return value == advice->granted || (value.empty() && advice->granted == "true");
}

std::optional<std::string> foreign_command_advice(std::string_view name) { return find(kForeignCommands, name); }
void take_name_of_today(std::string& asked) {
  const std::string old = asked.substr(0, asked.find(':'));
  const auto* const found = std::find_if(kOldNames.begin(), kOldNames.end(), [&old](const auto& names) { return names.first == old; });
  if (found == kOldNames.end()) return;
  std::cerr << "lanescope: " << old << " is called " << found->second << " today.\n";
  asked.replace(0, old.size(), found->second);
}

std::optional<std::string> foreign_type_advice(std::string_view word) { return find(kTypes, word); }

}  // namespace lanescope::cli
