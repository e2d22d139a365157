// lanescope fleet: asks one question of many traces, by the Python package that is installed with this program.
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

Recipes of one job:
  straggler               Which rank comes late to collectives by its own fault, by how much, and what it did meanwhile
  collectives             Collectives matched over their ranks: skew, wait, transfer, bandwidth
  imbalance               Ranks whose GPU computes longer than others between collectives
  slow_link               Communicators whose transfers take longer than those of their like, and the ranks that they share
  desync                  The first collective in which ranks differ, or that some never came to
  align                   How the clocks of the hosts stand to each other, by the ends of collectives
  what_if                 What the loop would take if a rank, a link or an operation were as the median of its like
  network                 What ranks send in collectives, within hosts and between them, and how busy sampled links were
Recipes of many runs:
  history                 Kernels and NVTX ranges whose mean duration changed from one run on
  check                   Whether runs became slower than those --against; exit code 3 where they did
Sums and times, with the names of Nsight Systems:
  cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, nvtx_sum, osrt_sum, nccl_sum, mpi_sum,
  cuda_gpu_time_util_map, cuda_gpu_kern_pace, nvtx_pace, gpu_gaps

Options:
  --input DIR|FILE ...    .trace files, and folders that are searched for them
  --against DIR|FILE ...  Of check: the runs to compare with; --tolerance PERCENT [5] and --share PERCENT [1] say what counts
  -o,--output DIR         Write report.html and the tables there; without it, the answer is printed
  -f,--force-overwrite    Write into a folder that is there
  --format LIST           Tables as csv (default), json, parquet, ipynb
  --mode none|pool|dask   This process alone, processes of this machine (default), or Dask
  --workers N             Processes of the pool (one a processor)
  --dask WHERE            A scheduler's address, its file, or local:N
  --shard I/N             Read every Nth file from the Ith on, and write partial results for `merge`
  --cache DIR             Keep each file's part there, so that it is read once
  `lanescope fleet RECIPE --help` says what else a recipe takes.

Needs Python 3.9 or newer with numpy, xxhash and zstandard: python3, or the one that LANESCOPE_PYTHON names.

Help:
  -h,--help               Show this help

Examples:
  lanescope fleet straggler --input job7/                    who holds the others up
  lanescope fleet cuda_gpu_kern_sum --input job7/ -o sums    into the folder sums: a page, and tables as CSV
  lanescope fleet history --input nightly/                   what became slower, and when
  lanescope fleet check --input new/ --against nightly/      for continuous integration: exit code 3 where it became slower
)";

// Fails with a sentence where the interpreter lacks what the package needs.
constexpr const char* kBegin = R"(import sys
try:
    from lanescope.fleet.__main__ import main
except ImportError as missing:
    sys.exit(f"lanescope: fleet needs numpy, xxhash and zstandard for {sys.executable} ({missing}). Run: {sys.executable} -m pip install numpy xxhash zstandard")
sys.exit(main())
)";

std::filesystem::path package_folder() {
  std::error_code ignored;
  const std::filesystem::path programs = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::filesystem::path installed = programs / LANESCOPE_DATA_FROM_PROGRAMS / "python";
  return std::filesystem::exists(installed, ignored) ? installed : programs / "../share/lanescope/python";  // of the build
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
  setenv("OPENBLAS_NUM_THREADS", "1", 0);  // processes share the work: threads in each would wait for each other
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
