#include "model/stats/report.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/stats/selection.h"
#include "report_functions.h"

namespace lanescope::stats {
namespace {

constexpr std::string_view kKernelData = "CUDA kernel data";
constexpr std::string_view kUnifiedMemoryData = "CUDA Unified Memory CPU page faults data";
constexpr std::string_view kNcclData = "NCCL kernel data";
constexpr std::string_view kMpiData = "MPI trace data";
constexpr std::string_view kTimesOfGpuData = "times of GPU work";
constexpr std::string_view kEventData = "events";
constexpr std::string_view kGpuMetricData = "GPU metrics";
constexpr std::string_view kMachineMetricData = "metrics of networks and disks";
constexpr std::string_view kCounterData = "counters of kernels";
constexpr std::string_view kPcSampleData = "PC samples";
constexpr std::string_view kInstructionData = "counts of instructions";
constexpr std::string_view kApiData = "CUDA trace data";
constexpr std::string_view kMemoryData = "GPU memory data";
constexpr std::string_view kNvtxData = "NV Tools Extension (NVTX) data";
constexpr std::string_view kSampleData = "CPU samples";
constexpr std::string_view kSchedulingData = "thread states";
constexpr std::string_view kOsRuntimeData = "OS Runtime trace data";
constexpr std::string_view kFileData = "names of files (--osrt-file-access)";

constexpr std::string_view kNameModifiers = "[:nvtx-name][:base|:mangled]";
constexpr std::string_view kPercentiles = "[:pN]...";
constexpr std::string_view kNamesAndPercentiles = "[:nvtx-name][:base|:mangled][:pN]...";
constexpr std::string_view kStylesAndPercentiles = "[:base|:mangled][:pN]...";

constexpr std::array kReports = {
    Report{"cpu_samples", "CPU Sample Summary (by Function)", kSampleData, "[:base][:python|:no-interpreter]",
           "What threads were seen to run: samples that fell into each function itself, and into it and what it calls. Lanescope's own.", cpu_samples},
    Report{"cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)", kApiData, kNamesAndPercentiles,
           "Durations of CUDA API calls, kernels and memory operations.", cuda_api_gpu_sum},
    Report{"cuda_api_sum", "CUDA API Summary", kApiData, kPercentiles, "Durations of CUDA API calls by function.", cuda_api_sum},
    Report{"cuda_api_trace", "CUDA API Trace", kApiData, "", "Every CUDA API call by start, with its result, correlation id and thread.", cuda_api_trace},
    Report{"cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary", kKernelData, kNamesAndPercentiles, "Durations of kernels by name, grid and block.",
           cuda_gpu_kern_gb_sum},
    Report{"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", kKernelData, kNamesAndPercentiles, "Durations of kernels by name.", cuda_gpu_kern_sum},
    Report{"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", kMemoryData, kPercentiles, "Bytes that copies and sets moved, by kind.",
           cuda_gpu_mem_size_sum},
    Report{"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", kMemoryData, kPercentiles, "Durations of copies and sets by kind.",
           cuda_gpu_mem_time_sum},
    Report{"cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", kKernelData, kNamesAndPercentiles, "Durations of kernels and memory operations.", cuda_gpu_sum},
    Report{"cuda_gpu_trace", "CUDA GPU Trace", kKernelData, kNameModifiers,
           "Every kernel, copy and set by start: launch shape, registers, shared memory, bytes, throughput, memory kinds, device, context, "
           "stream.",
           cuda_gpu_trace},
    Report{"cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary", kKernelData, kNamesAndPercentiles,
           "From launch to end, by thread, device, function and kernel: T in all, A the API call, Q the wait in the queue (QCount kernels "
           "had one), K the kernel.",
           cuda_kern_exec_sum},
    Report{"cuda_kern_exec_trace", "CUDA Kernel Launch & Exec Time Trace", kKernelData, kNameModifiers,
           "Every kernel with its launching call and its wait in the queue, by the call's start.", cuda_kern_exec_trace},
    Report{
        "event_sum", "Event Summary (by Chosen Columns)", kEventData, "[:by=COLUMN]...[:kind=KIND]...",
        "Durations of all events but samples and states of threads by what columns say of them, as :by=stream:by=grid: name, family, kind, process, "
        "thread, device, context, stream, range, range-family, grid, block, registers, shared-memory, occupancy, waves, memory, bytes, domain. Without one, by "
        "kind. :kind=kernel:kind=copy leaves all other kinds of events out. Lanescope's own.",
        event_sum},
    Report{"file_access_sum", "File Access Summary", kFileData, "",
           "Files by the time of calls that opened, read, wrote, mapped and synced them, with the bytes. Lanescope's own.", file_access_sum},
    Report{"gpu_idle_sum", "GPU Idle Time Summary (by Cause)", kTimesOfGpuData, "",
           "What each GPU waited for: idle time between its first and its last operation, every nanosecond with its cause, so that a GPU's "
           "causes add up to its idle time. Lanescope's own.",
           gpu_idle_sum},
    Report{"gpu_metric_sum", "GPU Metric Summary", kGpuMetricData, kPercentiles,
           "What the GPU metrics were, each weighted by the time for which it held. With --filter-nvtx: while the work ran that the range "
           "enqueued. Lanescope's own.",
           gpu_metric_sum},
    Report{"instruction_count_sum", "Instruction Counts (by Instruction)", kInstructionData, "",
           "Exact counts by kernel and instruction (lanescope kernels --set source): how often warps executed it and with how many threads of 32 "
           "(Threads; On: whose predicate was true), sectors of 32 bytes that it asked of global and local memory, wavefronts of shared memory, "
           "and as few as there could be (Ideal), and how far apart threads access global memory (Stride). Lanescope's own.",
           instruction_count_sum},
    Report{"kernel_instruction_sum", "Warp Stall Summary (by Instruction)", kPcSampleData, "",
           "PC samples by kernel and instruction, with the reasons for which warps stood there. Lanescope's own.", kernel_instruction_sum},
    Report{"kernel_line_sum", "Warp Stall Summary (by Source Line)", kPcSampleData, "",
           "PC samples by kernel and source line, with the lines into which it was inlined, and the reasons for which warps stood there. "
           "Lanescope's own.",
           kernel_line_sum},
    Report{"kernel_metrics", "Kernels by Hardware Counters", kCounterData, "",
           "Each launch whose counters were read: what bounds it, how well it used the parts of the GPU, and what its first cause could win at "
           "most in all launches of its kernel and shape. Lanescope's own.",
           kernel_metrics},
    Report{"kernel_pc_sum", "Warp Stall Summary (by Kernel)", kPcSampleData, "",
           "PC samples by kernel: the reasons for which its warps stood still, and how often the scheduler issued nothing meanwhile. "
           "Lanescope's own.",
           kernel_pc_sum},
    Report{"line_count_sum", "Instruction Counts (by Source Line)", kInstructionData, "",
           "The same by kernel and source line, with the lines into which it was inlined. Lanescope's own.", line_count_sum},
    Report{"machine_metric_sum", "Machine Metric Summary", kMachineMetricData, kPercentiles,
           "What networks and disks of the machine did, each metric weighted by the time for which it held. Lanescope's own.", machine_metric_sum},
    Report{"mpi_event_sum", "MPI Event Summary", kMpiData, kPercentiles,
           "Durations of calls of MPI, by sort (point-to-point, collective, start and wait, other) and function.", mpi_event_sum},
    Report{"mpi_event_trace", "MPI Event Trace", kMpiData, "",
           "Every call of MPI by start, with its rank, peer or root, tag and bytes. Ranks are of MPI_COMM_WORLD.", mpi_event_trace},
    Report{"nccl_sum", "NCCL Kernel Summary", kNcclData, kStylesAndPercentiles,
           "Durations of kernels whose names begin with nccl, by the NCCL range (collective) that enqueued them and by name; the size is the "
           "sum of what those ranges have as payload. Lanescope's own.",
           nccl_sum},
    Report{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", kNvtxData, kPercentiles,
           "NVTX ranges as the GPU saw them: from the first operation that a range enqueued to the end of the last, by range.", nvtx_gpu_proj_sum},
    Report{"nvtx_gpu_proj_trace", "NVTX GPU Projection Trace", kNvtxData, "", "Every NVTX range that enqueued GPU work, with its time on CPU and GPU.",
           nvtx_gpu_proj_trace},
    Report{"nvtx_kern_sum", "NVTX Range Kernel Summary", kNvtxData, kStylesAndPercentiles,
           "Durations of kernels by each NVTX range around their launch, thread and kernel.", nvtx_kern_sum},
    Report{"nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", kNvtxData, kPercentiles, "Durations of push/pop ranges, inner ranges included.",
           nvtx_pushpop_sum},
    Report{"nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", kNvtxData, "",
           "Every push/pop range by start, with its parent, level and the time of its children.", nvtx_pushpop_trace},
    Report{"nvtx_startend_sum", "NVTX Start/End Range Summary", kNvtxData, kPercentiles, "Durations of start/end ranges.", nvtx_startend_sum},
    Report{"nvtx_sum", "NVTX Range Summary", kNvtxData, kPercentiles, "Durations of all NVTX ranges, inner ranges included.", nvtx_sum},
    Report{"occupancy_sum", "Kernel Occupancy and Wave Summary", kKernelData, kStylesAndPercentiles,
           "Kernels by name and launch shape: how many of their blocks a multiprocessor holds at once and what limits that, in how many "
           "waves the grid comes, what the last one leaves empty. From the shape alone. Lanescope's own.",
           occupancy_sum},
    Report{"opcode_count_sum", "Instruction Mix (by Opcode)", kInstructionData, "",
           "The instructions of each kernel by opcode (lanescope kernels --set source): how often warps executed them, and with how many threads of 32 "
           "whose predicate was true. Lanescope's own.",
           opcode_count_sum},
    Report{"osrt_sum", "OS Runtime Summary", kOsRuntimeData, kPercentiles, "Durations of calls into the C library that wait or touch files.", osrt_sum},
    Report{"thread_states", "Thread State Summary", kSchedulingData, "",
           "How long each thread ran, could have run but got no processor, and waited for something else; how often it was put on a "
           "processor, and on how many. Lanescope's own.",
           thread_states},
    Report{"um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary", kUnifiedMemoryData, "",
           "Faults of the CPU on pages of unified memory, by the code that touched them.", um_cpu_page_faults_sum},
    Report{"um_sum", "Unified Memory Analysis Summary", kUnifiedMemoryData, "",
           "What moved between the memories of CPU and GPU, and the faults that made it move, by address: the ten where most moved, or "
           ":rows=N.",
           um_sum, 10},
    Report{"um_total_sum", "Unified Memory Totals Summary", kUnifiedMemoryData, "", "The same over all addresses, with the smallest and the largest.",
           um_total_sum},
};

constexpr std::array<std::string_view, 9> kDefaultReports = {
    "nvtx_sum", "osrt_sum",     "cuda_api_sum",          "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
    "um_sum",   "um_total_sum", "um_cpu_page_faults_sum"};

Error usage(std::string text) { return {std::move(text), ErrorKind::kUsage}; }

// "p95".
std::optional<std::uint8_t> parse_percentile(std::string_view modifier) {
  if (modifier.size() < 2 || modifier.front() != 'p') return std::nullopt;
  std::uint8_t percentile = 0;
  const auto [end, error] = std::from_chars(modifier.data() + 1, modifier.data() + modifier.size(), percentile);
  if (error != std::errc{} || end != modifier.data() + modifier.size() || percentile < 1 || percentile > 99) return std::nullopt;
  return percentile;
}

// Samples and states of threads are not events to be counted: they have reports of their own.
bool is_summed(EventKind kind) {
  return kind != EventKind::kThreadState && kind != EventKind::kProcessor && kind != EventKind::kCpuSample && kind != EventKind::kBacktrace;
}

std::string pivot_words() {
  std::string words;
  for (const PivotColumn column : all_pivot_columns())
    if (column != PivotColumn::kRun) words.append(words.empty() ? "" : ", ").append(pivot_column_word(column));  // runs are compared in the viewer
  return words;
}

std::string kind_words() {
  std::string words;
  for (const EventKind kind : all_event_kinds())
    if (is_summed(kind)) words.append(words.empty() ? "" : ", ").append(event_kind_word(kind));
  return words;
}

Result<void> apply_modifier(const Report& report, std::string_view modifier, ReportOptions& options) {
  const auto takes = [&](std::string_view name) { return report.modifiers.find(name) != std::string_view::npos; };
  if (modifier == "nvtx-name" && takes(":nvtx-name")) {
    options.range_prefix = RangePrefix::kInnermostRange;
  } else if (modifier == "base" && takes(":base")) {
    options.kernel_names = KernelNames::kBase;
  } else if (modifier == "mangled" && takes(":mangled")) {
    options.kernel_names = KernelNames::kMangled;
  } else if (modifier == "python" && takes(":python")) {
    options.calls = samples::CallChoice::kPythonOnly;
  } else if (modifier == "no-interpreter" && takes(":no-interpreter")) {
    options.calls = samples::CallChoice::kWithoutInterpreter;
  } else if (const auto percentile = parse_percentile(modifier); percentile && takes(":pN")) {
    options.percentiles.push_back(*percentile);
  } else if (modifier.starts_with("by=") && takes(":by=")) {
    const std::optional<PivotColumn> column = pivot_column_of(modifier.substr(3));
    if (!column || *column == PivotColumn::kRun)
      return usage("Events have no column " + std::string(modifier.substr(3)) + " to be summed by. It is one of: " + pivot_words() + ".");
    options.by.push_back(*column);
  } else if (modifier.starts_with("kind=") && takes(":kind=")) {
    const std::optional<EventKind> kind = event_kind_of(modifier.substr(5));
    if (!kind || !is_summed(*kind))
      return usage("There is no kind " + std::string(modifier.substr(5)) + " of events to be summed. It is one of: " + kind_words() + ".");
    options.kinds.push_back(*kind);
  } else if (modifier.starts_with("rows=")) {
    const std::string_view number = modifier.substr(5);
    std::int64_t rows = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rows);
    if (error != std::errc{} || end != number.data() + number.size() || rows < -1)
      return usage("rows=" + std::string(number) + " of report " + std::string(report.name) + " is not a number of rows; -1 means all.");
    options.rows.reset();
    if (rows >= 0) options.rows = static_cast<std::size_t>(rows);
  } else {
    const std::string known = report.modifiers.empty() ? std::string() : std::string(report.modifiers) + " and ";
    return usage("Report " + std::string(report.name) + " has no modifier " + std::string(modifier) + ". It takes " + known + "[:rows=N].");
  }
  return {};
}

}  // namespace

std::span<const Report> reports() noexcept { return kReports; }
std::span<const std::string_view> default_reports() noexcept { return kDefaultReports; }

const Report* find_report(std::string_view name) noexcept {
  const auto found = std::find_if(kReports.begin(), kReports.end(), [&](const Report& report) { return report.name == name; });
  return found == kReports.end() ? nullptr : &*found;
}

ReportSeries::ReportSeries(const Trace& trace) : trace_(trace), index_(std::make_shared<SharedLaunchIndex>()) {}

Result<Table> ReportSeries::make(const Report& report, const ReportOptions& options) const {
  // If the trace is a saved part, events that were kept beside the part are not counted.
  ReportOptions asked = options;
  if (const std::optional<SavedPart>& part = trace_.provenance().part)
    asked.time_range = asked.time_range ? asked.time_range->intersected(part->time) : part->time;
  const auto selection = Selection::of(trace_, asked, index_);
  if (!selection) return selection.error();
  Table table = report.make(*selection, asked);
  if (options.rows) table.truncate(*options.rows);
  return table;
}

Result<Table> make_report(const Report& report, const Trace& trace, const ReportOptions& options) { return ReportSeries(trace).make(report, options); }

Result<ReportRequest> parse_report(std::string_view text, const ReportOptions& options) {
  const std::string_view name = text.substr(0, text.find(':'));
  const Report* report = find_report(name);
  if (!report) return usage("There is no report " + std::string(name) + ". See: lanescope stats --help-reports");
  ReportRequest request{report, options};
  if (report->default_rows > 0 && !options.rows) request.options.rows = report->default_rows;
  for (std::size_t at = name.size(); at < text.size();) {
    const std::size_t next = std::min(text.find(':', at + 1), text.size());
    if (const auto applied = apply_modifier(*report, text.substr(at + 1, next - at - 1), request.options); !applied) return applied.error();
    at = next;
  }
  return request;
}

}  // namespace lanescope::stats
