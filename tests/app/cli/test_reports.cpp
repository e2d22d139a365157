// lanescope stats, diff and analyze: what they write, and their exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "model/export/trace_file_export.h"
#include "model/trace/trace_builder.h"
#include "ran_command.h"
#include "support/catch.h"
#include "support/measured_run.h"
#include "support/paths.h"

using namespace lanescope;
using test::Ran;
using test::run_command;

namespace {

std::string trace(const std::string& name) { return test::data_file(name + ".trace").string(); }

nlohmann::json json_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  return nlohmann::json::parse(stream);
}

// A trace of another tool: 100 kernels of process 77 on GPU 0, which is idle for 900 of 1,000 us after each. `device`: members of its GPU.
std::filesystem::path chrome_trace(const std::filesystem::path& path, const nlohmann::json& device) {
  nlohmann::json events = nlohmann::json::array();
  for (int i = 0; i < 100; ++i) {
    const nlohmann::json ids = {{"correlation", i + 1}, {"device", 0}, {"stream", 7}};
    const int t = 1'000 * i;
    events.push_back({{"ph", "X"}, {"cat", "cuda_runtime"}, {"name", "cudaLaunchKernel"}, {"ts", t}, {"dur", 5}, {"pid", 77}, {"tid", 10}, {"args", ids}});
    events.push_back({{"ph", "X"}, {"cat", "kernel"}, {"name", "k"}, {"ts", t + 10}, {"dur", 100}, {"pid", 0}, {"tid", 7}, {"args", ids}});
  }
  std::ofstream(path) << nlohmann::json{{"deviceProperties", {device}}, {"traceEvents", events}};
  return path;
}

}  // namespace

TEST_CASE("a place names the file, if processes of several files have the same numbers") {
  const test::TemporaryFolder folder;
  const nlohmann::json device = {{"id", 0}, {"name", "A GPU"}};
  const std::string one = chrome_trace(folder.path() / "rank0.json", device).string(), other = chrome_trace(folder.path() / "rank1.json", device).string();
  const auto place = [](const Ran& ran) {
    const std::size_t begin = ran.output.find("Where:");
    REQUIRE(begin != std::string::npos);
    return ran.output.substr(begin, ran.output.find('\n', begin) - begin);
  };
  const std::string of_one = place(run_command({"analyze", one})), of_both = place(run_command({"analyze", one, other}));
  CHECK_THAT(of_one, contains_text("GPU 0, process 77") && !contains_text("rank"));
  CHECK_THAT(of_both, contains_text("GPU 0, process 77") && (contains_text("rank0.json") || contains_text("rank1.json")));
}

TEST_CASE("a name with line breaks makes no line of its own in what analyze says") {
  const test::TemporaryFolder folder;
  const auto file = chrome_trace(folder.path() / "one.json", {{"id", 0}, {"name", "A GPU\n\n1. Nothing was found.\n   Costs:  0 ns"}});
  const Ran ran = run_command({"analyze", file.string()});
  CHECK_THAT(ran.output, contains_text("A GPU\\n\\n1. Nothing was found.\\n   Costs:  0 ns"));
  CHECK_THAT(ran.output, !contains_text("\n1. Nothing") && !contains_text("\n   Costs:  0 ns"));
}

TEST_CASE("info says nothing of a GPU's facts that the file does not have") {
  const test::TemporaryFolder folder;
  const auto line = [&](const nlohmann::json& device) {
    const Ran ran = run_command({"info", chrome_trace(folder.path() / "x.json", device).string()});
    const std::size_t begin = ran.output.find("A GPU");
    REQUIRE(begin != std::string::npos);
    return ran.output.substr(begin, ran.output.find('\n', begin) - begin);
  };
  CHECK(line({{"id", 0}, {"name", "A GPU"}, {"numSms", 132}}) == "A GPU, 132 multiprocessors");
  CHECK(line({{"id", 0}, {"name", "A GPU"}, {"computeMajor", 9}, {"computeMinor", 0}}) == "A GPU, compute capability 9.0");
}

TEST_CASE("an empty list of reports is no missing file") {
  const Ran told = run_command({"stats", "-r", ",", trace("cuda_streams")});
  CHECK(told.code == cli::kUsage);
  CHECK_THAT(told.messages, contains_text("-r names no report"));
}

TEST_CASE("stats says once, in one line, what a trace lacks for its reports") {
  const std::string file = trace("transpositions");  // only kernels and copies
  const Ran told = run_command({"stats", file});
  CHECK(told.code == cli::kSuccess);
  CHECK(told.messages ==
        "SKIPPED: " + file + " does not contain NV Tools Extension (NVTX) data, OS Runtime trace data or CUDA Unified Memory CPU page faults data.\n");
}

TEST_CASE("reports of nsys that there are not here are skipped with advice, and the others printed") {
  const test::TemporaryFolder folder;
  const std::string file = trace("transpositions");
  const Ran told =
      run_command({"stats", "-q", "-f", "csv", "-o", (folder.path() / "x").string(), "-r",
                   "cuda_gpu_kern_sum,openmp_sum,vulkan_marker_sum,wddm_queue_sum,dx12_pix_sum,openacc_sum,syscall_sum,opengl_khr_range_sum", file});
  const Ran alone = run_command({"stats", "-r", "openmp_sum", file});
  CHECK(told.code == cli::kSuccess);
  CHECK(alone.code == cli::kSuccess);
  CHECK(std::filesystem::exists(folder.path() / "x_cuda_gpu_kern_sum.csv"));
  const std::string all = told.messages + alone.messages;
  CHECK_THAT(all, contains_text("SKIPPED: There is no report openmp_sum. Calls are marked with NVTX: see nvtx_sum.\n"));
  CHECK(std::count(all.begin(), all.end(), '\n') == 8);
}

TEST_CASE("reports and rules are found by the names that older versions of nsys have, which one line says") {
  const test::TemporaryFolder folder;
  const std::string file = trace("torch_training_workers0");
  const auto told = [&](const char* command, const char* names, const char* output) {
    const Ran ran = run_command({command, "-q", "-f", "csv", "-o", (folder.path() / output).string(), "-r", names, file});
    CHECK(ran.code == cli::kSuccess);
    return ran.messages;
  };
  const auto content = [&](const char* name) {
    std::ifstream stream(folder.path() / name);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  CHECK(told("stats", "gpukernsum:base,cudaapisum", "old") ==
        "lanescope: gpukernsum is called cuda_gpu_kern_sum today.\nlanescope: cudaapisum is called cuda_api_sum today.\n");
  CHECK(told("stats", "cuda_gpu_kern_sum:base,cuda_api_sum", "new").empty());
  CHECK(content("old_cuda_gpu_kern_sum_base.csv") == content("new_cuda_gpu_kern_sum_base.csv"));
  CHECK(content("old_cuda_api_sum.csv") == content("new_cuda_api_sum.csv"));
  CHECK_FALSE(content("new_cuda_api_sum.csv").empty());
  // The rules' old names have dashes.
  CHECK(told("analyze", "gpu-starvation:rows=3", "old") == "lanescope: gpu-starvation is called gpu_gaps today.\n");
  CHECK(told("analyze", "gpu_gaps:rows=3", "new").empty());
  std::size_t same = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (const std::string name = entry.path().filename().string(); name.starts_with("old_")) {
      CAPTURE(name);
      CHECK_FALSE(content(name.c_str()).empty());
      CHECK(content(name.c_str()) == content(("new_" + name.substr(4)).c_str()));
      ++same;
    }
  CHECK(same == 3);
}

TEST_CASE("diff fails a build only for what became slower, beyond noise") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  const auto diff = [&](const std::string& first, const std::string& second, const std::string& limit) {
    return cli::run({"diff", trace(first), trace(second), "--fail-above", limit, "-q", "-f", "csv", "--force-overwrite", "-o", output});
  };
  CHECK(diff("torch_training_workers4", "torch_training_workers0", "5%") == cli::kFailure);
  CHECK(diff("torch_training_workers4", "torch_training_workers0", "100000") == cli::kSuccess);
  CHECK(diff("torch_training_workers0", "torch_training_workers4", "5%") == cli::kSuccess);  // faster
  CHECK(diff("torch_training_workers0", "torch_training_workers0", "0%") == cli::kSuccess);
  CHECK(diff("torch_training_workers0", "torch_training_workers4", "much") == cli::kUsage);
  const auto limit_first = {std::string("diff"),
                            std::string("--fail-above"),
                            std::string("5%"),
                            trace("torch_training_workers4"),
                            trace("torch_training_workers0"),
                            std::string("-q"),
                            std::string("-f"),
                            std::string("csv"),
                            std::string("--force-overwrite"),
                            std::string("-o"),
                            output};
  CHECK(cli::run(limit_first) == cli::kFailure);
}

TEST_CASE("diff fails a build for metrics of kernels that are named, and for those that it can't check") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  const auto file = [&](const char* name, const std::shared_ptr<const Trace>& run) {
    const std::filesystem::path path = folder.path() / name;
    REQUIRE(export_trace_file(*run, path, Overwrite::kAllow));
    return path.string();
  };
  const std::string before = file("before.trace", test::measured_run(1, 5, 80)), after = file("after.trace", test::measured_run(0.5, 5, 60));
  std::string said;
  const auto diff = [&](std::vector<std::string> limits) {
    std::vector<std::string> words = {"diff", before, after, "-q", "-f", "csv", "--force-overwrite", "-o", output};
    for (const std::string& limit : limits) words.insert(words.end(), {"--fail-above", limit});
    const Ran ran = run_command(words);
    said = ran.messages;
    return ran.code;
  };
  CHECK(diff({"5%"}) == cli::kSuccess);  // half the time
  CHECK(said.empty());
  CHECK(diff({"5%", "L2 hit rate=-20%"}) == cli::kFailure);
  CHECK(said.starts_with("lanescope: L2 hit rate of kernel strided changed by -25.0 % (between "));
  CHECK(said.ends_with("), more than is allowed.\n"));
  CHECK(diff({"L2 hit rate=-30%", "DRAM throughput=2%"}) == cli::kSuccess);
  CHECK(diff({"Instructions executed=2%"}) == cli::kFailure);  // nobody counted them
  CHECK_THAT(said, contains_text("Instructions executed was read of no kernel on both sides"));
  CHECK(diff({"L2 hits=2%"}) == cli::kUsage);
}

TEST_CASE("diff takes several runs a side, and folders of ranks") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string(), slow = trace("torch_training_workers0"), fast = trace("torch_training_workers4");
  const auto diff = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "diff");
    words.insert(words.end(), {"-q", "-f", "json", "--force-overwrite", "-o", output});
    return cli::run(words);
  };
  REQUIRE(diff({slow, "--against", fast}) == cli::kSuccess);
  const nlohmann::json one_each = json_in(output + "_diff.json");
  CHECK(one_each[0]["Verdict"] == "less");
  CHECK(one_each[0]["Count A"] == 19);
  REQUIRE(diff({slow, trace("torch_loader_samples"), "--against", fast}) == cli::kSuccess);  // two recordings of one program
  nlohmann::json rows = json_in(output + "_diff.json");
  CHECK(rows[0]["Count A"].get<int>() > 2 * 15);
  CHECK(rows[0]["Count B"] == one_each[0]["Count B"]);
  // The same recording again is no further run: its copy, and its compacted form.
  const std::string copy = (folder.path() / "copy.trace").string(), compacted = (folder.path() / "compacted.trace").string();
  std::filesystem::copy_file(slow, copy);
  REQUIRE(cli::run({"export", "-q", "-t", "trace", "-o", compacted, slow}) == cli::kSuccess);
  REQUIRE(diff({slow, copy, compacted, "--against", fast, fast}) == cli::kSuccess);
  CHECK(json_in(output + "_diff.json") == one_each);

  CHECK(diff({slow}) == cli::kUsage);
  CHECK(diff({slow, slow, fast}) == cli::kUsage);
  CHECK(diff({"--against", slow, fast}) == cli::kUsage);

  const std::filesystem::path ranks = folder.path() / "ranks";
  std::filesystem::create_directory(ranks);
  CHECK(diff({ranks.string(), ranks.string()}) == cli::kFailure);
  for (const char* rank : {"ranks_late0", "ranks_late1"}) std::filesystem::copy_file(trace(rank), ranks / (std::string(rank) + ".trace"));
  REQUIRE(diff({ranks.string(), ranks.string()}) == cli::kSuccess);
  rows = json_in(output + "_diff.json");
  CHECK(rows[0]["Count A"] == 2 * 20);
  CHECK(rows[0]["Verdict"] == "same");
}

TEST_CASE("diff writes every row for programs") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  REQUIRE(cli::run({"diff", trace("torch_training_workers0"), trace("torch_training_workers4"), "-q", "-f", "json", "-o", output}) == cli::kSuccess);
  const nlohmann::json rows = json_in(output + "_diff.json");
  REQUIRE(rows.size() > 20);
  CHECK(rows[0]["Kind"] == "Duration");
  CHECK(rows[0]["Verdict"] == "less");
  CHECK(rows[0]["Count A"] == 19);
}

TEST_CASE("no command writes its answer over what it reads, nor removes that where it has none") {
  const test::TemporaryFolder folder;
  // A file that contains only kernels; it has two names and is read-only.
  const std::filesystem::path file = folder.path() / "run.json", link = folder.path() / "link.json", other = folder.path() / "other.json";
  const std::string content = R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"correlation":1}}])";
  for (const std::filesystem::path& each : {file, other}) std::ofstream(each) << content;
  std::filesystem::create_symlink(file, link);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const auto bytes = [](const std::filesystem::path& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::filesystem::path ncu = folder.path() / "kernels.csv";
  const std::string counted =
      "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n\"0\",\"7\",\"app\",\"k\",\"1\",\"7\",\"0\",\"1,000\"\n";
  std::ofstream(ncu) << counted;

  const std::vector<std::vector<std::string>> commands = {
      {"stats", "-r", "cuda_gpu_kern_sum", file, "-f", "json", "-o", file},
      {"stats", "-r", "cuda_gpu_kern_sum", file, "-f", "json", "-o", link},
      {"stats", "-r", "mpi_event_sum", file, "-f", "json", "-o", file},  // no row, and so no file
      {"stats", "-r", "cuda_gpu_kern_sum", other, file, "-f", "json", "-o", file},
      {"query", file, "SELECT 1", "-f", "json", "-o", file},
      {"analyze", file, "-f", "json", "-o", file},
      {"diff", other, file, "-f", "json", "-o", file},
      {"diff", file, "--against", other, "-f", "json", "-o", file},
      {"kernels", ncu, "-f", "csv", "-o", ncu},
  };
  for (std::vector<std::string> words : commands) {
    words.emplace_back("--force-overwrite");
    CAPTURE(words);
    const Ran told = run_command(words);
    CHECK(told.code == cli::kUsage);
    CHECK_THAT(told.messages, contains_text("can't be written over itself. Name another file with -o."));
    CHECK(bytes(file) == content);
    CHECK(bytes(ncu) == counted);
    CHECK(std::filesystem::is_symlink(link));
  }
}

TEST_CASE("diff keeps its comparison in the file that is named, and kernels by their counters beside it") {
  const test::TemporaryFolder folder;
  const auto columns = [](const std::filesystem::path& file) {
    const nlohmann::json rows = json_in(file);
    std::set<std::string> names;
    for (const auto& [name, value] : rows.at(0).items()) names.insert(name);
    return names;
  };
  // In one pair both recordings have counters, in the other neither has.
  for (const auto& [name, has_counters] : {std::pair{"kernel_counters", true}, std::pair{"transpositions", false}}) {
    const std::filesystem::path file = folder.path() / (std::string(name) + ".json"), counters = folder.path() / (std::string(name) + "_diff_counters.json");
    CAPTURE(name);
    for (const bool again : {false, true}) {
      std::vector<std::string> words = {"diff", "-q", "-f", "json", "-o", file, trace(name), trace(name)};
      if (again) words.emplace_back("--force-overwrite");
      REQUIRE(cli::run(words) == cli::kSuccess);
      CHECK(columns(file).contains("Verdict"));
      CHECK(columns(file).contains("Count A"));
      REQUIRE(std::filesystem::exists(counters) == has_counters);
      if (has_counters) CHECK(columns(counters).contains("Kernel"));
    }
  }
  // Launches of one kernel with different grids are told from each other.
  const std::string shapes = (folder.path() / "shapes").string();
  REQUIRE(cli::run({"diff", "-q", "-f", "json", "-o", shapes, trace("transformer_fp32"), trace("transformer_tf32")}) == cli::kSuccess);
  std::set<std::string> rows;
  const nlohmann::json all = json_in(shapes + "_diff_counters.json");
  for (const nlohmann::json& row : all)
    rows.insert(row["What"].get<std::string>() + row["Kernel"].get<std::string>() + row["GridXYZ"].get<std::string>() + row["BlockXYZ"].get<std::string>());
  CHECK(rows.size() == all.size());
}

TEST_CASE("kernels counts launches at the same time once in what they could win, as analyze does, and names their shape") {
  // Two launches of one kernel take 2 ms each on two streams, and overlap for 1 ms; the first was measured: 3 ms of 4 ms can be won.
  TraceBuilder builder;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  const GpuId gpu = builder.gpu_of_device(process, 0);
  KernelDetail shape;
  shape.grid[0] = 13'200;
  shape.block[0] = 256;
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  const DetailId detail = builder.intern(shape);
  for (const std::uint32_t stream : {7u, 8u})
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = stream},
                {Event{(stream - 7) * 1'000'000, 2'000'000, builder.intern("scattered"), stream, detail}});
  MeasuredLaunch counters{process, 7, KernelReplay::kOnePass, 1, {}, 0, {}};
  for (const auto& [metric, value] : {std::pair("gpu__time_duration.sum", 2e6), std::pair("sm__throughput.avg.pct_of_peak_sustained_elapsed", 6.0),
                                      std::pair("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 85.0),
                                      std::pair("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 85.0),
                                      std::pair("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4.0)})
    counters.values.push_back({builder.kernel_metric(metric), value});
  builder.add(std::move(counters));
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "shared.trace").string(), output = (folder.path() / "out").string();
  REQUIRE(export_trace_file(*builder.snapshot(), file, Overwrite::kAllow));
  REQUIRE(cli::run({"kernels", file, "-q", "-f", "json", "-o", output}) == cli::kSuccess);
  REQUIRE(cli::run({"analyze", file, "-r", "kernel_bounds", "-q", "-f", "json", "-o", output}) == cli::kSuccess);
  const nlohmann::json kernels = json_in(output + "_kernels.json"), analyzed = json_in(output + "_kernel_bounds.json");
  // A load uses 4 of each 32 B, and DRAM is busy for 85 %.
  CHECK(kernels[0]["Winnable at Most (ns)"].get<double>() == Approx((1 - 4.0 / 32) * 0.85 * 4e6 * 3 / 4).margin(1));
  CHECK(kernels[0]["Winnable at Most (ns)"] == analyzed[0]["Winnable at Most (ns)"]);
  CHECK(kernels[0]["GridXYZ"] == "13200 1 1");
  const Ran printed = run_command({"kernels", file});
  CHECK(printed.code == cli::kSuccess);
  CHECK_THAT(printed.output, contains_text("scattered, grid 13200 × 1 × 1, block 256 × 1 × 1\n   2.000 ms, bound by"));
  CHECK_THAT(printed.output, contains_text("; 2 launches like it take 4.000 ms"));
  CHECK_THAT(printed.output, contains_text("at most 75 % of what they take together can be won."));
  CHECK_THAT(printed.output, contains_text("global_access: up to 2.231 ms (74 %)."));
  CHECK(analyzed[0]["BlockXYZ"] == "256 1 1");
}

TEST_CASE("analyze writes findings and tables for programs") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  REQUIRE(cli::run({"analyze", trace("torch_training_workers0"), "-r", "gpu_bubbles", "-q", "-f", "json", "-o", output}) == cli::kSuccess);
  const nlohmann::json findings = json_in(output + "_findings.json"), causes = json_in(output + "_gpu_bubbles_causes.json"),
                       gpus = json_in(output + "_gpu_bubbles_gpus.json");
  CHECK(findings[0]["Rule"] == "gpu_bubbles");
  CHECK(findings[0]["Key"] == "cpu_code");
  std::int64_t idle = 0;
  for (const auto& row : causes) idle += row["Total Time (ns)"].get<std::int64_t>();
  CHECK(gpus[0]["Idle (ns)"] == idle);
}

TEST_CASE("analyze says to programs that it found nothing, and leaves no answer of another run in its place") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  const auto analyze = [&](const char* name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"analyze", trace(name), "-q", "-f", "json", "-o", output};
    words.insert(words.end(), more.begin(), more.end());
    return cli::run(words);
  };
  REQUIRE(analyze("cause_lock") == cli::kSuccess);
  CHECK(!json_in(output + "_findings.json").empty());
  CHECK(analyze("cpu_loader") == cli::kFailure);  // the output file exists
  REQUIRE(analyze("cpu_loader", {"--force-overwrite"}) == cli::kSuccess);
  CHECK(json_in(output + "_findings.json") == nlohmann::json::array());

  const auto stats = [&](const char* name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"stats", trace(name), "-q", "-o", output, "-r", "cuda_gpu_kern_sum"};
    words.insert(words.end(), more.begin(), more.end());
    return cli::run(words);
  };
  const std::string kernels = output + "_cuda_gpu_kern_sum.csv";
  REQUIRE(stats("cause_lock") == cli::kSuccess);
  REQUIRE(std::filesystem::exists(kernels));
  CHECK(stats("cpu_loader") == cli::kFailure);
  REQUIRE(stats("cpu_loader", {"--force-overwrite"}) == cli::kSuccess);
  CHECK(!std::filesystem::exists(kernels));
}

TEST_CASE("what is printed in JSON is one document, however many tables it has") {
  const auto printed = [](const std::vector<std::string>& words) {
    std::fflush(stdout);
    const test::TemporaryFolder folder;
    const std::string file = folder.path() / "printed";
    const int before = dup(STDOUT_FILENO), into = open(file.c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(into, STDOUT_FILENO);
    const int code = cli::run(words);
    std::cout.flush();
    dup2(before, STDOUT_FILENO);
    close(into);
    close(before);
    CHECK(code == cli::kSuccess);
    return json_in(file);
  };
  const std::string lock = trace("cause_lock"), nothing = trace("cpu_loader");
  CHECK(printed({"analyze", "-f", "json", lock})[0]["Key"] == "os_lock");
  CHECK(printed({"analyze", "-f", "json", nothing}) == nlohmann::json::array());
  const nlohmann::json all = printed({"analyze", "-r", "all", "-f", "json", lock});
  CHECK(all["findings"][0]["Key"] == "os_lock");
  CHECK(all["gpu_bubbles"].is_array());
  CHECK_FALSE(all.contains("cuda_memset_sync"));                                             // has no rows
  CHECK(printed({"analyze", "-r", "gpu_gaps:gap=1us", "-f", "json", lock})[0].is_object());  // a rule of Nsight Systems has one table
  CHECK(printed({"analyze", "-r", "cuda_memset_sync", "-f", "json", lock}) == nlohmann::json::array());
  const nlohmann::json reports = printed({"stats", "-r", "cuda_gpu_kern_sum,cpu_samples", "-f", "json", lock});
  CHECK(reports["cuda_gpu_kern_sum"].size() > 0);
  CHECK(reports["cpu_samples"] == nlohmann::json::array());
  CHECK(printed({"stats", "-r", "cpu_samples", "-f", "json", lock}) == nlohmann::json::array());
  CHECK(printed({"diff", "-f", "json", trace("transformer_fp32"), trace("transformer_tf32")})[0]["Kind"] == "Duration");  // in both, counters were read
}

TEST_CASE("an NVTX range without an index is the first of its name, which is said, once") {
  const test::TemporaryFolder folder;
  const auto told = [&](const std::string& command, const std::string& range) {
    const Ran ran = run_command({command, "-q", "-f", "csv", "--force-overwrite", "-o", (folder.path() / "x").string(), "--filter-nvtx", range,
                                 trace("torch_training_workers0")});  // 20 steps, each with one "forward"
    CHECK(ran.code == cli::kSuccess);
    const std::string text = ran.messages,
                      note = "lanescope: " + range + " is the first of 20 NVTX ranges of this name in a process. The next one: --filter-nvtx " + range + "/1\n";
    const std::size_t at = text.find(note);
    return at != std::string::npos && text.find(note, at + 1) == std::string::npos && text.find("is the first") == text.rfind("is the first");
  };
  for (const char* command : {"stats", "analyze"}) {
    CHECK(told(command, "forward"));
    CHECK_FALSE(told(command, "forward/0"));
    CHECK_FALSE(told(command, "forward/7"));
    CHECK_FALSE(told(command, "step 7"));  // it occurs only once
  }
}

TEST_CASE("a question that is asked twice has both of its answers") {
  const test::TemporaryFolder folder;
  const std::string file = trace("cause_tiny_kernels"), out = (folder.path() / "out").string();
  CHECK(run_command({"analyze", "-q", "-f", "json", "-o", out, "-r", "gpu_bubbles:gap=5us", "-r", "gpu_bubbles:gap=7us", file}).code == cli::kSuccess);
  CHECK(std::filesystem::exists(out + "_gpu_bubbles.json"));
  CHECK(std::filesystem::exists(out + "_gpu_bubbles_1.json"));
  CHECK(json_in(out + "_gpu_bubbles.json") != json_in(out + "_gpu_bubbles_1.json"));
}

TEST_CASE("analyze answers for a part of the trace") {
  const test::TemporaryFolder folder;
  const auto cost = [&](const std::string& name, const std::vector<std::string>& filter) {
    const std::string output = (folder.path() / name).string();
    std::vector<std::string> words = {"analyze", trace("cause_slow_loader"), "-r", "gpu_bubbles", "-q", "-f", "json", "-o", output};
    words.insert(words.end(), filter.begin(), filter.end());
    REQUIRE(cli::run(words) == cli::kSuccess);
    return json_in(output + "_findings.json")[0]["Cost (ns)"].get<std::int64_t>();
  };
  CHECK(cost("step", {"--filter-nvtx", "step 7"}) == Approx(15e6).epsilon(0.05));     // the loader takes 15 ms in each step
  CHECK(cost("time", {"--filter-time", "0.4s/0.5s"}) == Approx(83e6).epsilon(0.05));  // and leaves the GPU idle for 83 % of the loop
  CHECK(cli::run({"analyze", trace("cause_slow_loader"), "--filter-nvtx", "nothing"}) == cli::kUsage);
  CHECK(cli::run({"analyze", trace("cause_slow_loader"), "--filter-time", "soon"}) == cli::kUsage);
}

TEST_CASE("analyze says what the time of a step went to: to programs each part, to people the longest, and how much the rest is") {
  const test::TemporaryFolder folder;
  const std::string file = trace("cause_slow_loader"), out = (folder.path() / "out").string();
  const auto path = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"analyze", "--critical-path", file};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const std::string outside = path({"--filter-time", "1000s/1001s"}).output;
  CHECK_THAT(outside, contains_text("from 1000.000000 s to 1001.000000 s, 1.000 s:") && contains_text("The recording has nothing then: it lasts from"));
  REQUIRE(path({"--filter-nvtx", "step 7", "-q", "-f", "json", "-o", out}).code == cli::kSuccess);
  const nlohmann::json parts = json_in(out + "_critical_path.json"), sums = json_in(out + "_critical_path_sums.json");
  std::int64_t of_parts = 0, of_sums = 0, on_gpu = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto start = parts[i]["Start (ns)"].get<std::int64_t>(), duration = parts[i]["Duration (ns)"].get<std::int64_t>();
    of_parts += duration;
    if (i + 1 < parts.size()) CHECK(start + duration == parts[i + 1]["Start (ns)"].get<std::int64_t>());
    if (parts[i]["What"] == "Work of the GPU") ++on_gpu;
    if (parts[i]["What"] == "Work of the GPU") CHECK(parts[i]["GPU"] == 0);
  }
  for (const nlohmann::json& sum : sums) of_sums += sum["Total Time (ns)"].get<std::int64_t>();
  CHECK(on_gpu > 0);
  CHECK(of_parts == of_sums);
  CHECK(static_cast<double>(sums[0]["Total Time (ns)"].get<std::int64_t>()) == Approx(15e6).epsilon(0.05));  // the loader takes 15 ms in each step

  const Ran of_step = path({"--filter-nvtx", "step 7", "--language", "en"});
  CHECK(of_step.code == cli::kSuccess);
  CHECK(of_step.output.starts_with("Critical path of \"step 7\" in "));
  CHECK_THAT(of_step.output, contains_text("Work of the GPU, GPU 0: "));
  // Of a long time the longest parts are named, and what is left out adds up to the rest.
  CHECK_THAT(path({"--filter-time", "0s/100s", "--language", "en"}).output, contains_text("The longest of its ") && contains_text(" further parts, "));
  CHECK(path({}).code == cli::kUsage);
  CHECK(path({"--filter-nvtx", "step 7", "--filter-time", "0s/1s"}).code == cli::kUsage);
  CHECK(path({"--filter-nvtx", "step 7", "-r", "tail"}).code == cli::kUsage);
}

TEST_CASE("every command takes a time range in the same words, and in those that it had") {
  const std::string file = trace("cause_slow_loader"), time = "0.4s/0.5s";
  const std::vector<std::vector<std::string>> commands = {{"stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", file},
                                                          {"analyze", "-r", "gpu_bubbles", "-f", "json", file},
                                                          {"export", "-t", "csv", file},
                                                          {"query", "-f", "csv", file, "SELECT count(*) FROM kernels WHERE start >= :begin AND start < :end"}};
  for (std::vector<std::string> words : commands) {
    INFO(words.front());
    words.emplace_back("-q");
    const auto written = [&](const std::vector<std::string>& options) {
      const test::TemporaryFolder folder;
      std::vector<std::string> all = words;
      all.insert(all.end(), {"-o", (folder.path() / "x").string()});
      all.insert(all.end(), options.begin(), options.end());
      if (cli::run(all) != cli::kSuccess) return std::string("failed");
      std::string text;
      for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        text.append(std::istreambuf_iterator<char>(std::ifstream(entry.path()).rdbuf()), {});
      return text;
    };
    const std::string part = written({"--filter-time", time});
    CHECK(part != "failed");
    CHECK(part != written({}));
    CHECK(written({"--times", time}) == part);
    CHECK(written({"--time", time}) == part);
    CHECK(written({"--times", time, "--filter-time", time}) == "failed");
    const std::string help = run_command({words.front(), "--help"}).output;
    CHECK_THAT(help, contains_text("--filter-time [START]/[END]"));
    CHECK_THAT(help, !contains_text("--times") && !contains_text("--time "));
  }
}

TEST_CASE("analyze says what is wrong with a rule") {
  CHECK(cli::run({"analyze", trace("torch_training_workers0"), "-r", "gpu_buble"}) == cli::kUsage);
  CHECK(cli::run({"analyze", trace("torch_training_workers0"), "-r", "tail:range=nothing"}) == cli::kUsage);
  CHECK(cli::run({"analyze", "-r", "tail"}) == cli::kUsage);
}

TEST_CASE("a cost that is not known is no number for programs either") {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "out").string();
  REQUIRE(cli::run({"analyze", trace("cause_lock"), "-q", "-r", "small_grid", "-f", "json", "-o", output}) == cli::kSuccess);
  const nlohmann::json findings = json_in(output + "_findings.json");
  REQUIRE_FALSE(findings.empty());
  for (const nlohmann::json& finding : findings) CHECK((finding["Cost (ns)"].is_null() || finding["Cost (ns)"].get<std::int64_t>() > 0));
}

TEST_CASE("an export of a time that the recording does not hold says so") {
  const test::TemporaryFolder folder;
  const auto messages = [&](const char* time) {
    const Ran ran = run_command({"export", trace("cause_lock"), "-t", "csv", "--filter-time", time, "-o", (folder.path() / "out.csv").string(), "-f"});
    CHECK(ran.code == cli::kSuccess);
    return ran.messages;
  };
  CHECK_THAT(messages("100s/120s"), contains_text("so nothing of the chosen time is in it."));
  CHECK_THAT(messages("0s/120s"), !contains_text("nothing of the chosen time"));
}

TEST_CASE("nothing is said about idle time where a file does not say when its kernels ran") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "kernels.csv").string(), imported = (folder.path() / "kernels.trace").string();
  std::ofstream(file) << "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"gpu__time_duration.sum\"\n"
                         "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n\"0\",\"7\",\"app\",\"k\",\"1\",\"7\",\"0\",\"1,000\"\n"
                         "\"1\",\"7\",\"app\",\"k\",\"1\",\"7\",\"0\",\"3,000\"\n";
  REQUIRE(cli::run({"import", file, "-o", imported}) == cli::kSuccess);
  const auto printed = [](const std::vector<std::string>& words) {
    const Ran ran = run_command(words);
    CHECK(ran.code == cli::kSuccess);
    return ran.output + ran.messages;
  };
  for (const std::string& of : {file, imported}) {
    CHECK_THAT(printed({"analyze", "-f", "column", of}), !contains_text("never idle"));
    CHECK_THAT(printed({"analyze", "-f", "column", "-r", "gpu_bubbles", of}), contains_text("does not say when its kernels ran"));
    CHECK_THAT(printed({"stats", "-r", "gpu_idle_sum", of}), contains_text("does not contain times of GPU work"));
    CHECK_THAT(printed({"analyze", "-f", "column", "--critical-path", "--filter-time", "0/10us", of}), !contains_text("Work of the GPU"));
  }
}
