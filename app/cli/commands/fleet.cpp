// lanescope fleet: asks one question of many traces, using the Python package that is installed with this program.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "commands.h"

namespace lanescope::cli {
namespace {

constexpr std::string_view kHelp =
    R"(Asks one question of many traces: all ranks of a job, or the runs of many nights.

Usage: lanescope fleet RECIPE --input DIR|FILE... [OPTIONS]
       lanescope fleet merge --input FILE... [OPTIONS]
       lanescope fleet diff --input BEFORE AFTER [OPTIONS]

Recipes of one job:
  straggler               Which rank comes late to collectives by its own fault, by how much, and what it did meanwhile
  collectives             Collectives matched over their ranks: skew, wait, transfer, bandwidth
  imbalance               Ranks whose GPU computes longer than others between collectives
  slow_link               Communicators whose transfers take longer than those of their like, and the ranks that they share
  desync                  The first collective in which ranks differ, or that some never came to
  align                   How the clocks of the hosts stand to each other, by the ends of collectives
  what_if                 What the loop would take if a rank, a link or an operation were as the median of its like
  network                 What ranks send in collectives, within hosts and between them, and how busy sampled links were
  idle_causes             What GPUs waited for, over all ranks: causes with the range and the call that they fell into
  kernels                 Kernels over all ranks: time, how far ranks differ, and what rules say could be won
Recipes of many runs:
  history                 Kernels and NVTX ranges whose mean duration changed from one run on
  check                   Whether runs became slower than those --against; exit code 3 where they did, or where nothing can be compared
With the names and arguments of Nsight Systems:
  sums by name            cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, nvtx_sum, nvtx_gpu_proj_sum, nccl_sum,
                          nccl_gpu_proj_sum, mpi_sum, osrt_sum, file_access_sum, gpu_metric_util_sum, nvlink_sum, network_sum
  over time               cuda_gpu_time_util_map, nccl_gpu_time_util_map, mpi_gpu_time_util_map, ucx_gpu_time_util_map, gpu_metric_util_map,
                          network_traffic_map, network_map_aws, storage_util_map
  one by one              cuda_gpu_kern_hist, cuda_gpu_kern_pace, nvtx_pace, nvtx_gpu_proj_pace, nvtx_gpu_proj_trace, nccl_gpu_overlap_trace
  advice                  cuda_api_sync, cuda_memcpy_async, cuda_memcpy_sync, cuda_memset_sync, gpu_gaps, gpu_time_util, nccl_straggler

Options:
  --input DIR|FILE ...    .trace files, and folders that are searched for them; of DIR:N the first N files
  --against DIR|FILE ...  Of check: the runs to compare with; --tolerance PERCENT [5] and --share PERCENT [1] say what counts
  --filter-time [START]/[END], --filter-nvtx RANGE[@DOMAIN][/INDEX], --filter-projected-nvtx RANGE[@DOMAIN][/INDEX]
                          Of sums, maps and traces: only what overlaps this time; what happened during this NVTX range, and the GPU work that was
                          enqueued in it; what overlaps the time in which the GPU ran that
  --bins N, --disable-alignment, --cumulative, --metrics LIST
                          Of maps: bins of time [30]; each recording from its own begin; kernels that run at once added up; counters
  --name NAME, --rows N, --nvtx RANGE
                          Of what is listed one by one, and of advice: one kernel or range; how many rows; as --filter-nvtx
  --per-kernel, --per-projected-nvtx, --match-ranges TEXT, --longest-n N
                          Of gpu_metric_util_sum: while a kernel ran, or the work of a range; only names with this text; only the N longest
  --hide-inactive, --bytes-threshold BYTES
                          Of network_sum and the maps of networks: without devices over which nothing, or less, went
  -o,--output DIR         Write report.html and the tables there; without it, the answer is printed. %h, %p, %n and %q{NAME} are replaced
  -f,--force-overwrite    Write into a folder that is there; tables of an earlier answer in it are removed
  --format LIST           Tables as csv (default; also: --csv), json, parquet, ipynb
  --mode none|pool|dask   This process alone, processes of this machine (default), or Dask
  --workers N             Processes of the pool (one a processor)
  --dask WHERE            A scheduler's address, its file, or local:N
  --shard I/N             Read every Nth file from the Ith on, and write partial results for `merge`
  --cache DIR             Keep each file's part there, so that it is read once (also: --export-dir)
  `lanescope fleet RECIPE --help` says what else a recipe takes.

Needs Python 3.9 or newer with numpy, xxhash and zstandard: python3, or the one that LANESCOPE_PYTHON names.

Help:
  -h,--help               Show this help

Examples:
  lanescope fleet straggler --input job7/                    who holds the others up
  lanescope fleet cuda_gpu_kern_sum --input job7/ -o sums    into the folder sums: a page, and tables as CSV
  lanescope fleet history --input nightly/                   what became slower, and when
  lanescope fleet check --input new/ --against nightly/      for continuous integration: it fails where something became slower
  lanescope fleet diff --input before/ after/                what changed between two folders that a recipe of sums wrote with -o
)";

// Fails with a sentence if the interpreter lacks what the package needs. The current folder must not be searched for modules, although -c puts it first:
// folders of traces come from other people.
constexpr const char* kBegin = R"(import sys
if sys.path[:1] == [""]: del sys.path[0]
try:
    from lanescope.fleet.__main__ import main
except ImportError as missing:
    if missing.name == "lanescope": sys.exit(f"lanescope: {sys.executable} has no package lanescope. Set LANESCOPE_PYTHON to the Python that it was installed for.")
    sys.exit(f"lanescope: fleet needs numpy, xxhash and zstandard for {sys.executable} ({missing}). Run: {sys.executable} -m pip install numpy xxhash zstandard")
sys.exit(main())
)";

std::filesystem::path package_folder() {
  std::error_code ignored;
  const std::filesystem::path programs = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::filesystem::path installed = programs / LANESCOPE_DATA_FROM_PROGRAMS / "python";
  return std::filesystem::exists(installed, ignored) ? installed : programs / "../share/lanescope/python";  // in the build folder
}

}  // namespace

int run_fleet(Arguments arguments) {
  if (arguments.empty() || arguments.front() == "-h" || arguments.front() == "--help") {
    (arguments.empty() ? std::cerr : std::cout) << kHelp;
    return arguments.empty() ? kUsage : kSuccess;
  }
  const char* chosen = std::getenv("LANESCOPE_PYTHON");
  const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  if (const std::filesystem::path package = package_folder(); std::filesystem::exists(package)) {
    const char* others = std::getenv("PYTHONPATH");
    setenv("PYTHONPATH", (package.string() + (others != nullptr && *others != '\0' ? std::string(":") + others : "")).c_str(), 1);
  }
  std::error_code unknown;
  if (const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown); !unknown)
    setenv("LANESCOPE", self.c_str(), 0);  // recipes ask the rules of this program
  setenv("PYTHONSAFEPATH", "1", 0);        // no current folder in sys.path of worker processes either
  setenv("OPENBLAS_NUM_THREADS", "1", 0);  // the work is shared by processes; threads in each would wait for each other
  std::vector<std::string> words{python, "-c", kBegin};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::cout.flush();
  execvp(python.c_str(), pointers.data());
  return fail({"Python can't be started (" + python + ": " + std::strerror(errno) + "). fleet needs Python 3.9 or newer; LANESCOPE_PYTHON names another one."});
}

}  // namespace lanescope::cli
