#include "model/import/ncu_csv.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>

#include "model/analysis/threads/waits.h"
#include "model/export/trace_file_export.h"
#include "model/import/open_trace.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/roofline.h"
#include "model/kernels/counters/sections.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

// Kernels with known faults, as Nsight Compute measured them on an H200: at base clocks, and twice at free clocks.
std::optional<KernelMetrics> zoo(const char* file) {
  const auto corpus = test::corpus();
  if (!corpus) return std::nullopt;
  auto table = read_ncu_csv(*corpus / "ncu" / file);
  if (!table) FAIL(table.error().text);
  CHECK(table->left_out.empty());
  return std::move(table->metrics);
}

Result<NcuTable> read_table(const std::string& text) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "kernels.csv", std::ios::binary) << text;
  return read_ncu_csv(folder.path() / "kernels.csv");
}
Result<KernelMetrics> read(const std::string& text) {
  auto table = read_table(text);
  if (!table) return table.error();
  return std::move(table->metrics);
}

double row(const std::vector<Section>& all, std::string_view section, std::string_view label) {
  for (const Section& one : all)
    for (const SectionRow& candidate : one.rows)
      if (one.name == section && candidate.label.english() == label) return candidate.value;
  FAIL("no " << section << ", " << label);
  return 0;
}

constexpr const char* kHeader = "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"";

}  // namespace

TEST_CASE("the fault of each kernel of known faults is named first, and what bounds it") {
  const char* file = GENERATE("zoo_raw.csv", "zoo_raw_free_1.csv", "zoo_raw_free_2.csv");
  const auto metrics = zoo(file);
  if (!metrics) {
    WARN("no corpus: skipped");
    return;
  }
  CAPTURE(file);
  struct Known {
    Bound bound;
    const char* rule;  // "": it has no known fault
  };
  const std::map<std::string, Known> known{{"transpose_naive", {Bound::kL2, "global_access"}},
                                           {"transpose_shared", {Bound::kL1, "bank_conflicts"}},
                                           {"transpose_padded", {Bound::kDram, ""}},
                                           {"saxpy", {Bound::kDram, ""}},
                                           {"strided", {Bound::kDram, "global_access"}},
                                           {"gemm_naive", {Bound::kL1, "global_access"}},
                                           {"divergent", {Bound::kCompute, "divergence"}},
                                           {"atomics", {Bound::kLatency, "atomics"}},
                                           {"spill", {Bound::kL2, "local_memory"}},
                                           {"fp64", {Bound::kCompute, "fp64"}},
                                           {"small_grid", {Bound::kSmallGrid, "small_grid"}},
                                           {"low_occ", {Bound::kLatency, "occupancy"}}};
  REQUIRE(metrics->kernels().size() == known.size());
  for (const ProfiledKernel& kernel : metrics->kernels()) {
    INFO(kernel.name);
    const Known& expected = known.at(kernel.name.substr(0, kernel.name.find('(')));
    const Verdict verdict = judge(*metrics, kernel);
    CHECK(bound_name(verdict.bound) == bound_name(expected.bound));
    CHECK((verdict.advice.empty() ? std::string_view() : verdict.advice.front().rule) == expected.rule);
  }
}

TEST_CASE("what bounds a kernel shows in the counters of each set alone") {
  const auto metrics = zoo("zoo_raw_free_1.csv");
  if (!metrics) return;
  const std::string set = GENERATE("triage", "basic", "detailed", "full");
  CAPTURE(set);
  const std::vector<std::string> names = metrics_of_set(set);
  REQUIRE(!names.empty());
  std::vector<Metric> kept;
  for (const std::string& name : names) kept.push_back({name, ""});
  KernelMetrics measured(kept);
  for (ProfiledKernel kernel : metrics->kernels()) {
    std::vector<double> values;
    for (const std::string& name : names) values.push_back(metrics->value(kernel, name).value_or(std::numeric_limits<double>::quiet_NaN()));
    kernel.values = std::move(values);
    measured.add(std::move(kernel));
  }
  for (std::size_t i = 0; i < metrics->kernels().size(); ++i) {
    INFO(metrics->kernels()[i].name);
    const Verdict whole = judge(*metrics, metrics->kernels()[i]);
    const Verdict part = judge(measured, measured.kernels()[i]);
    CHECK(bound_name(part.bound) == bound_name(whole.bound));
    // The small sets do not have causes that only counts by instruction show.
    if (set != "full" && set != "detailed") continue;
    CHECK((part.advice.empty() ? std::string_view() : part.advice.front().rule) == (whole.advice.empty() ? std::string_view() : whole.advice.front().rule));
  }
}

TEST_CASE("estimated gains are those of Nsight Compute's rules") {
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  // Percent, as ncu printed them.
  const std::map<std::string, double> printed{{"transpose_naive", 77.4}, {"strided", 87.5}, {"gemm_naive", 40.1},
                                              {"divergent", 45.2},       {"fp64", 45.3},    {"small_grid", 93.94}};
  for (const ProfiledKernel& kernel : metrics->kernels()) {
    const auto found = printed.find(kernel.name.substr(0, kernel.name.find('(')));
    if (found == printed.end()) continue;
    INFO(kernel.name);
    CHECK(100 * judge(*metrics, kernel).advice.at(0).gain == Approx(found->second).margin(0.1));
  }
}

TEST_CASE("of a launch whose block is not known nothing is said of registers and memory") {
  KernelMetrics metrics(std::vector<Metric>{{"gpu__time_duration.sum", "ns"}});
  ProfiledKernel kernel;
  kernel.detail.grid[0] = 128;
  kernel.detail.grid[1] = kernel.detail.grid[2] = 1;
  kernel.values = {1000};
  metrics.add(kernel);
  for (const Section& section : sections(metrics, metrics.kernels()[0]))
    for (const SectionRow& row : section.rows) CHECK((row.label.english() == "Duration" || row.label.english() == "Blocks"));
}

TEST_CASE("warps that a small grid does not have are not missed a second time") {
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  const ProfiledKernel& small = metrics->kernels()[10];
  REQUIRE(small.name.starts_with("small_grid"));
  for (const Advice& advice : judge(*metrics, small).advice) CHECK(advice.rule != "achieved_occupancy");
}

TEST_CASE("sections have Nsight Compute's values, in plain units") {
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  const ProfiledKernel& naive = metrics->kernels()[0];
  const std::vector<Section> all = sections(*metrics, naive);
  CHECK(duration(*metrics, naive) == 516'512);
  CHECK(row(all, "SpeedOfLight", "Memory throughput") == Approx(83.60586));
  CHECK(row(all, "SpeedOfLight", "SM frequency") == Approx(1.499843e9));
  CHECK(row(all, "MemoryWorkloadAnalysis", "DRAM bandwidth") == Approx(0.512401e12));
  CHECK(row(all, "MemoryWorkloadAnalysis_Tables", "DRAM: read") == Approx(142'191'000));
  CHECK(row(all, "MemoryWorkloadAnalysis_Tables", "Global stores: sectors a request") == Approx(32).epsilon(0.001));
  CHECK(row(all, "InstructionStats", "Executed") == 25'165'824);
  CHECK(row(all, "SourceCounters", "Global memory: sectors as accessed") == 37'748'736);
  CHECK(row(all, "WarpStateStats", "long_scoreboard") == Approx(63.519379));
  CHECK(row(all, "Occupancy", "Theoretical") == 100);
  CHECK(row(all, "LaunchStats", "Waves") == Approx(124.12).margin(0.005));
  CHECK(row(sections(*metrics, metrics->kernels()[11]), "LaunchStats", "Dynamic shared memory a block") == 200'000);
}

TEST_CASE("profiled kernels open as a trace, one behind the other, with their values") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  const auto trace = open_trace(*corpus / "ncu" / "zoo_raw.csv");
  REQUIRE(trace);
  CHECK((*trace)->event_count() == 12);
  CHECK((*trace)->gpus().at(0).name == "NVIDIA H200");
  CHECK((*trace)->gpus().at(0).multiprocessor_count == 132);
  CHECK((*trace)->counters().size() > 20);
  CHECK((*trace)->extent().begin == 0);
  CHECK((*trace)->provenance().finished);  // nothing of the table is missing
  // Their order is not known: no kernel waited for the one in front of it.
  analysis::WaitFinder waits(**trace);
  for (LaneId lane = 0; lane < (*trace)->lanes().size(); ++lane)
    for (EventIndex i = 0; i < (*trace)->lane(lane).size(); ++i) CHECK(waits.chain({lane, i}, 5).empty());
  REQUIRE((*trace)->diagnostics().size() == 1);
}

TEST_CASE("imported kernels have the counters of the table, in the trace and in the file that is made of it") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  const auto table = read_ncu_csv(*corpus / "ncu" / "zoo_raw.csv");
  const auto trace = open_trace(*corpus / "ncu" / "zoo_raw.csv");
  REQUIRE(table);
  REQUIRE(trace);
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "zoo.trace";
  REQUIRE(export_trace_file(**trace, file, Overwrite::kRefuse));
  const auto again = open_trace(file);
  REQUIRE(again);
  for (const std::shared_ptr<const Trace>& one : {*trace, *again}) {
    const RecordedMetrics recorded = recorded_metrics(*one);
    REQUIRE(recorded.metrics.kernels().size() == 12);
    std::size_t values = 0;
    for (std::size_t k = 0; k < 12; ++k) {
      const ProfiledKernel& kernel = recorded.metrics.kernels()[k];
      const ProfiledKernel& known = table->metrics.kernels()[k];
      INFO(known.name);
      CHECK(kernel.name == known.name);
      for (const Metric& metric : table->metrics.metrics()) {
        if (metric.name.starts_with("launch__") || metric.name.starts_with("device__") || metric.name.find("hit_rate") != std::string::npos) continue;
        if (const auto value = table->metrics.value(known, metric.name))
          values += recorded.metrics.value(kernel, metric.name) == *value ? 1 : 0;
        else
          CHECK_FALSE(recorded.metrics.value(kernel, metric.name));
      }
      CHECK(bound_name(judge(recorded.metrics, kernel).bound) == bound_name(judge(table->metrics, known).bound));
      CHECK(recorded.weight(k) == duration(table->metrics, known));
    }
    CHECK(values > 12 * 1000);
  }
}

TEST_CASE("a row that lacks cells is left out by name, and takes no other with it") {
  const std::string begin = std::string(kHeader) + ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n";
  const auto whole = [](const std::string& id, const std::string& name) {
    return "\"" + id + "\",\"7\",\"zoo\",\"" + name + "\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"5\"\n";
  };
  const std::string cut = "\"1\",\"7\",\"zoo\",\"g(int)\",\"1\",\"7\"\n", open = "\"1\",\"7\",\"zoo\",\"g(int)\",\"1\n";
  for (const std::string& broken : {cut, open}) {
    INFO(broken);
    const auto table = read_table(begin + whole("0", "f(int)") + broken + whole("2", "h(int)"));
    REQUIRE(table);
    REQUIRE(table->metrics.kernels().size() == 2);
    CHECK(table->metrics.kernels()[1].name == "h(int)");
    REQUIRE(table->left_out.size() == 1);
    CHECK(table->left_out[0].name == "g(int)");
    CHECK(table->left_out[0].reason.find("the table 11 columns") != std::string::npos);
  }
  const auto at_end = read_table(begin + whole("0", "f(int)") + open.substr(0, open.size() - 1));
  REQUIRE(at_end);
  CHECK(at_end->left_out.size() == 1);

  std::string many = begin + whole("0", "f(int)");
  for (int i = 0; i < 1'000; ++i) many += cut;
  const auto bounded = read_table(many);
  REQUIRE(bounded);
  CHECK(bounded->left_out.size() == 101);
  CHECK(bounded->left_out.back().name == "further kernels");
  CHECK_FALSE(read_table(begin + cut));
}

TEST_CASE("a text without an end takes time in proportion to its lines") {
  std::string text = std::string(kHeader) + ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n\"0\",\"7\",\"zoo\",\"f(";
  for (int i = 0; i < 2'000'000; ++i) text += "x\n";  // 4 MB: the number of lines times the bytes is eight million million
  const auto begin = std::clock();
  const auto refused = read(text);
  CHECK(std::clock() - begin < 60 * CLOCKS_PER_SEC);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text.find("no row of the table is whole") != std::string::npos);
}

TEST_CASE("a text of the table may have lines of its own") {
  const auto metrics = read(std::string(kHeader) +
                            ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n"
                            "\"0\",\"7\",\"zoo\",\"f(\nint)\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"5\"\n");
  REQUIRE(metrics);
  REQUIRE(metrics->kernels().size() == 1);
  CHECK(metrics->kernels()[0].name == "f(\nint)");
}

TEST_CASE("a table without units is refused, and so is UTF-16, each with what to do") {
  const auto unitless = read(std::string(kHeader) +
                             ",\"gpu__time_duration.sum\"\n\"0\",\"7\",\"zoo\",\"f(int)\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"5\"\n");
  REQUIRE_FALSE(unitless);
  CHECK(unitless.error().text.find("which has the units, is not there") != std::string::npos);
  std::string wide = "\xff\xfe";
  for (const char c : std::string(kHeader) + "\n") wide.append({c, '\0'});
  const auto refused = read(wide);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text.find("it is UTF-16") != std::string::npos);
}

TEST_CASE("what stands around the table is passed over, and units are brought to one") {
  const auto metrics =
      read("==PROF== Connected to process 7\nhello, \"world\"\n" + std::string(kHeader) +
           ",\"gpu__time_duration.sum\",\"a__bytes.sum.per_second\",\"b__text\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"Gbyte/s\",\"\"\n"
           "\"0\",\"7\",\"zoo\",\"f(\"\"x\"\", int)\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"1,234.5\",\"2.5\",\"no data\"\n"
           "the program prints, too\n==PROF== Disconnected\n");
  if (!metrics) FAIL(metrics.error().text);
  REQUIRE(metrics->kernels().size() == 1);
  const ProfiledKernel& kernel = metrics->kernels()[0];
  CHECK(kernel.name == "f(\"x\", int)");
  CHECK(duration(*metrics, kernel) == 1'234'500);
  CHECK(metrics->value(kernel, "a__bytes.sum.per_second") == 2.5e9);
  CHECK_FALSE(metrics->value(kernel, "b__text"));
  CHECK_FALSE(metrics->value(kernel, "c__absent"));
  CHECK(kernel.detail.block[1] == 8);
  CHECK(kernel.gpu.compute_major == 9);
  CHECK(judge(*metrics, kernel).bound == Bound::kUnknown);
}

TEST_CASE("numbers with commas before the fraction are refused, which would be read as a million times what they are") {
  const auto table = [](const std::string& value) {
    return read(std::string(kHeader) +
                ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n"
                "\"0\",\"7\",\"zoo\",\"f(int)\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"" +
                value + "\"\n");
  };
  const std::string comma = GENERATE("0,516512", "516,5", "1.234,5", "3.410,944", "1234,567");
  INFO(comma);
  const auto refused = table(comma);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text.find("(" + comma + "). Export it with points: LC_ALL=C ncu") != std::string::npos);
  for (const auto& [text, nanoseconds] : {std::pair("131,072", 131'072'000), {"1,234.5", 1'234'500}, {"1,234,567.25", 1'234'567'250}, {"12", 12'000}}) {
    INFO(text);
    const auto points = table(text);
    REQUIRE(points);
    CHECK(duration(*points, points->kernels()[0]) == nanoseconds);
  }
}

TEST_CASE("a table that another program wrote anew is the same table") {
  const std::string names =
      "ID,Process ID,Process Name,Kernel "
      "Name,Device,CC,gpu__time_duration.sum,launch__grid_dim_x,launch__grid_dim_y,launch__grid_dim_z,launch__block_dim_x,launch__block_dim_y,"
      "launch__block_dim_z\r\n,,,,,,us,,,,,,\r\n0,7,zoo,\"f(int, int)\",0,9.0,5.5,1024,2,1,32,8,1\r\n";
  std::string of_pandas = names;  // pandas turns the numbers of a column with an empty cell into numbers with a point
  of_pandas.replace(of_pandas.find("\r\n0,7,"), 6, "\r\n0.0,7.0,");
  for (const std::string& text : {names, "\xef\xbb\xbf" + names, of_pandas}) {
    CHECK(looks_like_ncu_csv(text));
    const auto metrics = read(text);
    if (!metrics) FAIL(metrics.error().text);
    REQUIRE(metrics->kernels().size() == 1);
    const ProfiledKernel& kernel = metrics->kernels()[0];
    CHECK(kernel.name == "f(int, int)");
    CHECK(duration(*metrics, kernel) == 5'500);
    CHECK(kernel.detail.grid[0] == 1024);
    CHECK(kernel.detail.block[1] == 8);
  }
}

TEST_CASE("a table whose numbers make no sense reads as far as it does") {
  const auto metrics =
      read(std::string(kHeader) +
           ",\"gpu__time_duration.sum\",\"launch__registers_per_thread\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\"\n"
           "\"\"\n\"0\",\"-1\",\"\",\"\",\"x\",\"99999999999999\",\"(4294967295, 4294967295, 4294967295)\",\"()\",\"\",\"...\",\"1e308\",\"nan\",\"inf\"\n");
  if (!metrics) FAIL(metrics.error().text);
  const ProfiledKernel& kernel = metrics->kernels()[0];
  CHECK(duration(*metrics, kernel) == 0);  // nobody measures a time of 1e308
  CHECK(sections(*metrics, kernel).size() < 5);
  CHECK(judge(*metrics, kernel).bound == Bound::kUnknown);  // infinite is treated as not measured

  // Sums that overflow give no estimate.
  const auto beyond = read(std::string(kHeader) +
                           ",\"gpu__time_duration.sum\",\"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum\",\"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum\"\n"
                           "\"\"\n\"0\",\"1\",\"a\",\"k\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"10\",\"1e308\",\"1e308\"\n");
  REQUIRE(beyond);
  for (const Advice& advice : judge(*beyond, beyond->kernels()[0]).advice) CHECK((advice.gain >= 0 && advice.gain <= 1));
  for (const Section& section : sections(*beyond, beyond->kernels()[0]))
    for (const SectionRow& row : section.rows) CHECK((row.value >= 0 && row.value <= 1e17));

  std::string wide = kHeader;
  for (int i = 0; i < 100'000; ++i) wide += ",\"a__b.sum\"";
  const auto refused = read(wide + "\n\n");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text.find("more than 65536 columns") != std::string::npos);
}

TEST_CASE("rooflines are what exact counts of instructions and bytes make of the kernels' times") {
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) {
    WARN("no corpus: skipped");
    return;
  }
  // Lanes of FMA that the programs execute; bytes and times as printed by ncu (clocks: DRAM 3.20 GHz, SM by its cycles).
  struct Known {
    const char* kernel;
    const char* precision;
    double lanes, nanoseconds, cycles, dram_bytes;  // 0: negligible
  };
  for (const Known& known : {Known{"saxpy", "FP32", 33'554'432, 121'660, 182'100, 384.4e6}, Known{"gemm_naive", "FP32", 1'073'741'824, 543'460, 832'900, 8.4e6},
                             Known{"fp64", "FP64", 524'288'000, 46'210, 68'500, 0}}) {
    CAPTURE(known.kernel);
    const auto kernel = std::find_if(metrics->kernels().begin(), metrics->kernels().end(),
                                     [&](const ProfiledKernel& each) { return each.name.find(known.kernel) != std::string::npos; });
    REQUIRE(kernel != metrics->kernels().end());
    const Roofline all = roofline(*metrics, *kernel);
    const double clock = known.cycles / known.nanoseconds * 1e9;
    REQUIRE(all.ceilings.size() == 3);
    CHECK(all.ceilings[0].operations == Approx(2 * 16'896 * clock).epsilon(0.02));
    CHECK(all.ceilings[1].operations == Approx(16'896 * clock).epsilon(0.02));
    CHECK(all.ceilings[2].precision == "FP16 and BF16");
    CHECK(all.ceilings[2].operations == Approx(67'584 * clock).epsilon(0.02));  // 256 in each multiprocessor, each with two operations
    // Constants that are moved by half-precision multiply-adds are no arithmetic: in fp64 these are two in a thousand, in gemm_naive one.
    for (const RooflinePoint& each : all.points) CHECK(each.ceiling.precision == known.precision);
    REQUIRE(all.roofs.size() == 3);
    CHECK(all.roofs[0].bytes == Approx(4.81e12).epsilon(0.02));
    CHECK(all.roofs[1].bytes == Approx(188 * 32 * 1.68e9).epsilon(0.02));
    CHECK(all.roofs[2].bytes == Approx(132 * 128 * clock).epsilon(0.02));
    const auto point = std::find_if(all.points.begin(), all.points.end(), [&](const RooflinePoint& each) { return each.ceiling.precision == known.precision; });
    REQUIRE(point != all.points.end());
    CHECK(point->operations == Approx(2 * known.lanes / known.nanoseconds * 1e9).epsilon(0.03));
    CHECK(point->attainable() <= point->ceiling.operations);
    if (known.dram_bytes > 0) CHECK(point->intensity() == Approx(2 * known.lanes / known.dram_bytes).epsilon(0.03));
    // The section gives the numbers that the chart draws.
    const std::vector<Section> sections_of_it = sections(*metrics, *kernel);
    const std::string precision = known.precision;
    CHECK(row(sections_of_it, "SpeedOfLight_RooflineChart", precision + ": arithmetic") == Approx(2 * known.lanes / known.nanoseconds * 1e9).epsilon(0.03));
    CHECK(row(sections_of_it, "SpeedOfLight_RooflineChart", precision + ": at most") ==
          Approx((known.precision == std::string("FP64") ? 1 : 2) * 16'896 * clock).epsilon(0.02));
    if (known.dram_bytes > 0)
      CHECK(row(sections_of_it, "SpeedOfLight_RooflineChart", precision + ": operations for a byte of DRAM") ==
            Approx(2 * known.lanes / known.dram_bytes).epsilon(0.03));
  }
}

TEST_CASE("arithmetic of half precision counts both values of an instruction") {
  constexpr double kClock = 2e9, kMoved = 1e12;
  const std::string counted = "smsp__sass_thread_inst_executed_op_";
  KernelMetrics metrics({{"sm__cycles_elapsed.avg.per_second", "hz"},
                         {"sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", ""},
                         {counted + "hadd_pred_on.sum.per_cycle_elapsed", ""},
                         {counted + "hmul_pred_on.sum.per_cycle_elapsed", ""},
                         {counted + "hfma_pred_on.sum.per_cycle_elapsed", ""},
                         {"dram__bytes.sum.per_second", "byte/s"},
                         {"dram__bytes.sum.peak_sustained", ""},
                         {"dram__cycles_elapsed.avg.per_second", "hz"}});
  ProfiledKernel kernel;
  kernel.values = {kClock, 16'896, 10, 20, 1'000, kMoved, 1'500, 3.2e9};
  const Roofline all = roofline(metrics, kernel);
  REQUIRE(all.ceilings.size() == 1);
  CHECK(all.ceilings[0].precision == "FP16 and BF16");
  CHECK(all.ceilings[0].operations == Approx(4 * 16'896 * kClock));
  REQUIRE(all.points.size() == 1);
  CHECK(all.points[0].operations == Approx((2 * 10 + 2 * 20 + 4 * 1'000) * kClock));
}

TEST_CASE("tensor cores have a ceiling of their own in the format that a kernel multiplies in, and no other") {
  constexpr double kClock = 1.5e9, kPeak = 270'336, kDone = 1'000, kMoved = 3e12;  // per second, per cycle, per cycle, bytes per second
  KernelMetrics metrics({{"gpc__cycles_elapsed.avg.per_second", "hz"},
                         {"sm__ops_path_tensor_src_tf32_dst_fp32.sum.per_cycle_elapsed", ""},
                         {"sm__ops_path_tensor_src_tf32_dst_fp32.sum.peak_sustained", ""},
                         {"sm__ops_path_tensor_src_fp16.sum.per_cycle_elapsed", ""},
                         {"sm__ops_path_tensor_src_fp16.sum.peak_sustained", ""},
                         {"dram__bytes.sum.per_second", "byte/s"},
                         {"dram__bytes.sum.peak_sustained", ""},
                         {"dram__cycles_elapsed.avg.per_second", "hz"}});
  ProfiledKernel kernel;
  kernel.values = {kClock, kDone, kPeak, 0, 2 * kPeak, kMoved, 1'500, 3.2e9};
  const Roofline all = roofline(metrics, kernel);
  REQUIRE(all.ceilings.size() == 1);
  CHECK(all.ceilings[0].precision == "TF32 tensor");
  CHECK(all.ceilings[0].operations == Approx(kPeak * kClock));
  REQUIRE(all.points.size() == 1);
  CHECK(all.points[0].operations == Approx(kDone * kClock));
  CHECK(all.points[0].intensity() == Approx(0.5));
  CHECK(all.points[0].attainable() == Approx(2.4e12));  // half an operation for each of 4.8e12 bytes a second
}

TEST_CASE("no rate of hits is beyond 100 %, as where hits and look-ups are of different passes") {
  KernelMetrics metrics(
      {{"lts__t_sector_op_write_hit_rate.pct", "%"}, {"lts__t_sector_hit_rate.pct", "%"}, {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"}});
  ProfiledKernel kernel;
  kernel.values = {171.420940, 33.5, 101};
  metrics.add(kernel);
  CHECK(metrics.value(metrics.kernels()[0], "lts__t_sector_op_write_hit_rate.pct") == 100.0);
  CHECK(metrics.value(metrics.kernels()[0], "lts__t_sector_hit_rate.pct") == 33.5);
  CHECK(metrics.value(metrics.kernels()[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed") == 101.0);
}

TEST_CASE("a table has no more kernels than any of its size") {
  std::string rows;
  for (int i = 0; i < 400'000; ++i) rows += "\"1\",,,\n";  // each has seven bytes: Nsight Compute writes a kilobyte and more
  const auto table = read("\"ID\",\"Process ID\",\"Process Name\",\"launch__waves\"\n,,,\n" + rows);
  REQUIRE(!table);
  CHECK_THAT(table.error().text, contains_text("it holds more kernels than any table of its size does"));
}

namespace {

// A kernel with these metrics.
struct Made {
  explicit Made(const std::vector<std::pair<std::string, double>>& values) : metrics(names_of(values)) {
    ProfiledKernel kernel;
    for (const auto& [name, value] : values) kernel.values.push_back(value);
    metrics.add(std::move(kernel));
  }
  static std::vector<Metric> names_of(const std::vector<std::pair<std::string, double>>& values) {
    std::vector<Metric> names;
    for (const auto& [name, value] : values) names.push_back({name, ""});
    return names;
  }
  [[nodiscard]] Verdict verdict() const { return judge(metrics, metrics.kernels()[0]); }
  [[nodiscard]] const Advice* advice(std::string_view rule) {
    judged = verdict();
    for (const Advice& each : judged.advice)
      if (each.rule == rule) return &each;
    return nullptr;
  }
  KernelMetrics metrics;
  Verdict judged;
};

std::string operation(const char* name) { return std::string("smsp__sass_thread_inst_executed_op_") + name + "_pred_on.sum.per_cycle_elapsed"; }

}  // namespace

// A cause that is there, but has little of what the kernel does. The counters are those of real kernels, with some values of another one.
TEST_CASE("what could be won at a level of memory is at most what these accesses have of its use") {
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  const auto gain = [&](std::string_view name, std::string_view rule, const std::map<std::string, double>& changed) {
    for (ProfiledKernel kernel : metrics->kernels()) {
      if (!kernel.name.starts_with(name)) continue;
      for (std::size_t i = 0; i < kernel.values.size(); ++i)
        if (const auto value = changed.find(metrics->metrics()[i].name); value != changed.end()) kernel.values[i] = value->second;
      KernelMetrics alone(std::vector<Metric>(metrics->metrics().begin(), metrics->metrics().end()));
      alone.add(std::move(kernel));
      for (const Advice& advice : judge(alone, alone.kernels()[0]).advice)
        if (advice.rule == rule) return advice.gain;
    }
    return 0.0;
  };
  // The product loads from global memory and keeps L1 busy for 92 % of the time. Shared memory has 0.06 % of that, whatever share of it are conflicts.
  CHECK(gain("gemm_naive", "bank_conflicts", {{"memory_l1_wavefronts_shared", 65'536}, {"memory_l1_wavefronts_shared_ideal", 16'384}}) == 0);
  // 35,530,710 wavefronts of 132 multiprocessors in 316,232 cycles, of which 32,505,856 in 34,603,008 are conflicts.
  CHECK(gain("transpose_shared", "bank_conflicts", {}) == Approx(35'530'710.0 / (132 * 316'231.62) * 32'505'856 / 34'603'008).epsilon(0.001));
  // Conflicts keep L1 busy. A thousand loads of 4 in 32 bytes have no part in that, nor in the 8 million sectors of the L2 cache.
  const std::string bytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
  CHECK(gain("transpose_shared", "global_access", {{bytes, 4}, {sectors, 1'000}}) == 0);
  CHECK(gain("transpose_padded", "global_access", {{bytes, 4}, {sectors, 1'000}}) == 0);
  // All loads like this: half of the sectors of the L2 cache, which is the busiest level with 86.05 %.
  CHECK(gain("transpose_padded", "global_access", {{bytes, 4}}) == Approx(0.875 * 0.8605 / 2).epsilon(0.001));
  CHECK(gain("transpose_padded", "global_access", {{"memory_l2_theoretical_sectors_global", 1'000}, {"memory_l2_theoretical_sectors_global_ideal", 10}}) == 0);
}

TEST_CASE("sums and products that could be one instruction are told, and sums alone are not") {
  const std::string pipe = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", elapsed = "sm__cycles_elapsed.avg", active = "sm__cycles_active.avg";
  // 40 of 100 could be pairs: each of 30 products with one of 50 sums. The pipe is busy for 0.8 * 70 % of the time.
  Made unfused({{operation("fadd"), 50}, {operation("fmul"), 30}, {operation("ffma"), 20}, {pipe, 70}, {elapsed, 100}, {active, 80}});
  const Advice* const found = unfused.advice("fusion");
  REQUIRE(found != nullptr);
  CHECK(found->gain == Approx(0.3 * 0.8 * 0.7));
  CHECK(found->seen.english() == "Of the FP32 operations, 50 % are sums and 30 % products that stand alone: a pair of them could be one multiply-add.");
  // The busy pipe follows from this, and is no separate cause.
  Made busy({{operation("fadd"), 50}, {operation("fmul"), 50}, {operation("ffma"), 0}, {pipe, 95}});
  REQUIRE(busy.advice("fusion") != nullptr);
  CHECK(busy.advice("fusion")->gain == Approx(0.475));
  CHECK(busy.advice("pipe") == nullptr);
  CHECK(Made({{operation("fadd"), 90}, {operation("fmul"), 5}, {operation("ffma"), 5}, {pipe, 70}}).advice("fusion") == nullptr);
  // In the zoo, low_occ and strided only add; ncu reports this as not fused.
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  for (const ProfiledKernel& kernel : metrics->kernels())
    for (const Advice& advice : judge(*metrics, kernel).advice) CHECK((advice.rule != "fusion" && advice.rule != "partial_warps" && advice.rule != "pipe"));
}

TEST_CASE("the busiest pipe is named with how busy it is, and as a cause where it holds the kernel up") {
  const std::string fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", xu = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active";
  const std::string memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  Made busy({{fma, 31}, {xu, 92}, {memory, 24}});
  const Advice* const found = busy.advice("pipe");
  REQUIRE(found != nullptr);
  CHECK(found->gain == Approx(0.92 - 0.31));  // the rest above the next busiest unit
  CHECK(found->seen.english() == "The pipe XU is used to 92 % of its peak, what is used most beside it to 31 %.");
  CHECK(Made({{fma, 92}, {xu, 31}, {memory, 88}}).advice("pipe")->gain == Approx(0.04));
  CHECK(Made({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 92}}).advice("pipe") == nullptr);  // this is the desired state
  CHECK(Made({{fma, 79.9}}).advice("pipe") == nullptr);
  // By ncu's values and the thresholds of its rule, 20, 60 and 80 %.
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  const std::map<std::string, std::string> known{
      {"transpose_naive", "No pipe of a multiprocessor is used much: the busiest, ADU, to 6.21 % of its peak."},
      {"transpose_padded", "The busiest pipe of a multiprocessor, LSU, is used to 34.6 % of its peak: none holds the kernel up."},
      {"divergent", "The busiest pipe of a multiprocessor, FMA, is used well, to 74 % of its peak: much more work of its kind would be held up by it."},
      {"fp64", "The busiest pipe of a multiprocessor, FP64, is used to 96.7 % of its peak, and holds the kernel up."}};
  for (const ProfiledKernel& kernel : metrics->kernels())
    if (const auto text = known.find(kernel.name.substr(0, kernel.name.find('('))); text != known.end())
      CHECK(judge(*metrics, kernel).pipes.english() == text->second);
}

TEST_CASE("blocks that are no whole warps are told once, and not as threads that diverge") {
  const auto verdict_of = [](std::uint32_t block, double threads) {
    KernelMetrics metrics({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"}, {"smsp__thread_inst_executed_per_inst_executed.ratio", ""}});
    ProfiledKernel kernel;
    kernel.values = {80, threads};
    kernel.detail.grid[0] = 100'000;
    kernel.detail.block[0] = block;
    kernel.detail.grid[1] = kernel.detail.grid[2] = kernel.detail.block[1] = kernel.detail.block[2] = 1;
    metrics.add(kernel);
    std::map<std::string, double> gains;
    for (const Advice& advice : judge(metrics, metrics.kernels()[0]).advice) gains[std::string(advice.rule)] = advice.gain;
    return gains;
  };
  CHECK(verdict_of(128, 32).empty());
  CHECK(verdict_of(48, 24) == std::map<std::string, double>{{"partial_warps", 0.25 * 0.8}});  // two warps, in which 16 of 64 threads do not exist
  const auto both = verdict_of(48, 8);
  CHECK(both.at("divergence") == Approx(0.75 * 0.8));
  CHECK(both.contains("partial_warps"));
}

TEST_CASE("counters of requests tell a stride as far as they can") {
  const std::string ld = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                    bytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", dram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
  const auto seen = [&](double sectors, double used) {
    Made made({{ld, 1'000 * sectors}, {requests, 1'000}, {bytes, used}, {dram, 80}});
    const Advice* const advice = made.advice("global_access");
    return advice == nullptr ? std::string() : advice->seen.english();
  };
  CHECK(seen(8, 16) == "Of each sector of 32 B, loads use 16 B, and such a request of a warp takes 8 sectors, as with a stride of 2 or more elements.");
  CHECK(seen(32, 4) ==
        "Of each sector of 32 B, loads use 4 B, and such a request of a warp takes 32 sectors, one for each thread, as with a stride of 32 B or more.");
  CHECK(seen(5, 25.6) == "Of each sector of 32 B, loads use 25.6 B.");  // adjacent, starting in the middle of a sector
  const auto metrics = zoo("zoo_raw.csv");
  if (!metrics) return;
  for (const ProfiledKernel& kernel : metrics->kernels()) {
    const std::string name = kernel.name.substr(0, kernel.name.find('('));
    for (const Advice& advice : judge(*metrics, kernel).advice) {
      if (advice.rule != "global_access") continue;
      CAPTURE(name);
      const bool is_apart = advice.seen.english().find("one for each thread, as with a stride of 32 B or more") != std::string::npos;
      CHECK(is_apart == (name == "transpose_naive" || name == "strided"));
    }
  }
}

TEST_CASE("instances of a metric are read where they were exported: the instruction mix") {
  const std::string header = std::string(kHeader) +
                             ",\"sass__inst_executed_per_opcode\",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n"
                             "\"0\",\"7\",\"zoo\",\"f(int)\",\"1\",\"7\",\"(32, 8, 1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"";
  const std::string cell = GENERATE("6,291,456 (FFMA: 1,048,576; IMAD: 4,194,304; LDG: 1,048,576)",
                                    "6,291,456 (FFMA: 1,048,576, IMAD: 4,194,304, LDG: 1,048,576)", "6291456 (FFMA: 1048576; IMAD: 4194304; LDG: 1048576)");
  const auto metrics = read(header + cell + "\",\"5.5\"\n");
  if (!metrics) FAIL(metrics.error().text);
  const ProfiledKernel& kernel = metrics->kernels()[0];
  CHECK(metrics->value(kernel, "sass__inst_executed_per_opcode") == 6'291'456);
  REQUIRE(kernel.opcodes.size() == 3);
  CHECK(kernel.opcodes[0].opcode == "IMAD");
  CHECK(kernel.opcodes[0].executed == 4'194'304);
  CHECK(row(sections(*metrics, kernel), "InstructionStats", "FFMA") == 1'048'576);
  CHECK(duration(*metrics, kernel) == 5'500);
}
