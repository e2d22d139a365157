// Counts at instructions of tests/programs/gpu/transpositions.cu, made up from its source: from frames to lines, and to a file and back.
#include "model/kernels/instructions/instruction_counts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lanescope/kernel_metrics.pb.h"
#include "model/export/trace_file_export.h"
#include "model/kernels/code/kernel_code.h"
#include "model/kernels/instructions/access_stride.h"
#include "model/kernels/instructions/costly_line.h"
#include "model/kernels/instructions/instruction_mix.h"
#include "model/kernels/launch_kinds.h"
#include "model/kernels/program.h"
#include "model/stats/report.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "recording.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;
using namespace lanescope::test;

namespace {

constexpr std::uint64_t kCrc = 0xfff2'a5e2;
constexpr auto kCountsFrame = static_cast<proto::FrameType>(proto::FRAME_INSTRUCTION_COUNTS);
constexpr auto kCountsSource = static_cast<proto::FrameSource>(proto::SOURCE_KERNEL_METRICS);
constexpr std::uint64_t kWarps = 1'000, kSectors = 32'000, kIdeal = 4'000;

std::string cubin_image() { return content(data_file("kernels/transpositions.cubin")); }

const CubinFunction& by_columns(const Cubin& cubin) {
  for (const CubinFunction& function : cubin.functions())
    if (function.name.find("transpose_by_columns") != std::string_view::npos) return function;
  FAIL("no such function");
  std::abort();
}

// `kWarps` warps execute each instruction; each store to global memory requests eight times the sectors that it needs.
proto::InstructionCounts counts_of(const Cubin& cubin, std::uint32_t correlation) {
  const CubinFunction& function = by_columns(cubin);
  proto::InstructionCounts counts;
  counts.set_correlation(correlation);
  for (const char* metric :
       {"smsp__sass_inst_executed", "smsp__sass_of_a_later_version", "smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"})
    counts.add_metrics(metric);
  proto::GpuFunction& named = *counts.add_functions();
  named.set_code_object(kCrc);
  named.set_index(function.index);
  named.set_name(std::string(function.name));
  const auto code = cubin.code(function);
  const auto count = static_cast<int>(code.size() / kInstructionBytes);
  const auto stores = [&](int i) { return opcode_name(code.subspan(static_cast<std::size_t>(i) * kInstructionBytes)) == "STG"; };
  for (int i = 0; i < count; ++i) {
    counts.add_function(0);
    counts.add_pc_delta(i == 0 ? 0 : static_cast<std::int64_t>(kInstructionBytes));
  }
  for (int i = 0; i < count; ++i) counts.add_values(kWarps);
  for (int i = 0; i < count; ++i) counts.add_values(7);
  for (int i = 0; i < count; ++i) counts.add_values(stores(i) ? kSectors : 0);
  for (int i = 0; i < count; ++i) counts.add_values(stores(i) ? kIdeal : 0);
  return counts;
}

struct Counted {
  explicit Counted(std::uint32_t launches) {
    const std::string image = cubin_image();
    const auto cubin = Cubin::read(image);
    REQUIRE(cubin);
    proto::CodeObject code;
    code.set_crc(kCrc);
    code.set_size(image.size());
    code.set_image(image);
    recording.add(proto::FRAME_CODE_OBJECT, 1, kCountsSource, code);
    for (std::uint32_t i = 0; i < launches; ++i) recording.add(kCountsFrame, 1, kCountsSource, counts_of(*cubin, 5 + i));
    instructions = cubin->code(by_columns(*cubin)).size() / kInstructionBytes;
  }
  Recording recording;
  std::size_t instructions = 0;  // of the kernel
};

std::string line_of(std::uint32_t number) {
  std::ifstream program(data_file("../programs/gpu/transpositions.cu"));
  std::string line;
  for (std::uint32_t i = 0; i < number; ++i) std::getline(program, line);
  return line;
}

}  // namespace

TEST_CASE("counts of launches add up at instructions, lines and the kernel") {
  Counted made(2);
  CHECK(made.recording.malformed() == 0);
  const auto trace = made.recording.trace();
  const NameId kernel = trace->kernel_records().functions.at(0).name;
  const auto code = kernel_code(*trace, 0, kernel);
  REQUIRE(code);
  CHECK(code->samples == 0);
  CHECK(code->counts.of(Count::kExecuted) == 2 * kWarps * made.instructions);
  CHECK(code->counts.has(Count::kGlobalSectors));
  CHECK_FALSE(code->counts.has(Count::kThreads));  // this one was not counted
  for (const CodeInstruction& each : code->instructions) {
    CHECK(each.counts.of(Count::kExecuted) == 2 * kWarps);
    CHECK(each.counts.excess_sectors() == (each.text == "STG" ? 2 * (kSectors - kIdeal) : 0));
  }
  // Four stores, all on one line.
  std::uint64_t executed = 0;
  for (const CodeLine& line : code->lines) {
    executed += line.counts.of(Count::kExecuted);
    const bool stores = line_of(line.line).find("out[place(column, row + i, kRows)] =") != std::string::npos;
    CHECK(line.counts.excess_sectors() == (stores ? 4 * 2 * (kSectors - kIdeal) : 0));
  }
  CHECK(executed == code->counts.of(Count::kExecuted));

  const auto lines = sum_counts(*trace, SumBy::kLine);
  CHECK(lines.size() == code->lines.size());
  CHECK(sum_counts(*trace, SumBy::kInstruction).size() == made.instructions);
  const auto kernels = sum_counts(*trace, SumBy::kKernel);
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].counts.of(Count::kExecuted) == code->counts.of(Count::kExecuted));
  CHECK(sum_counts(*trace, SumBy::kKernel, TimeRange{0, 1'000}).empty());  // the trace has no kernels for these launches

  const auto report = stats::make_report(*stats::find_report("line_count_sum"), *trace);
  REQUIRE(report);
  CHECK(report->row_count() == lines.size());
}

TEST_CASE("counts are kept in files, and in a trace that is put together of several") {
  const auto trace = Counted(2).recording.trace();
  const TemporaryFolder folder;
  REQUIRE(export_trace_file(*trace, folder.path() / "counts.trace", Overwrite::kRefuse));
  const auto loaded = load_trace(folder.path() / "counts.trace");
  REQUIRE(loaded);
  const auto& before = trace->kernel_records().counted;
  const auto& after = (*loaded)->kernel_records().counted;
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i]->correlation == before[i]->correlation);
    CHECK(after[i]->values == before[i]->values);
  }
  CHECK(kernel_code(**loaded, 0, (*loaded)->kernel_records().functions.at(0).name)->counts.of(Count::kGlobalSectors) == 4 * 2 * kSectors);

  const auto both = combine_traces(std::vector<TraceSource>{{trace, "a", 0}, {*loaded, "b", 0}});
  const auto kernels = sum_counts(*both, SumBy::kKernel);
  REQUIRE(kernels.size() == 2);  // of two processes
  CHECK(kernels[0].counts.values == kernels[1].counts.values);
}

TEST_CASE("functions of one name are one, whether their position is told or not") {
  const auto cubin = Cubin::read(cubin_image());
  REQUIRE(cubin);
  const std::uint32_t index = by_columns(*cubin).index;
  proto::InstructionCounts nameless = counts_of(*cubin, 1), named = counts_of(*cubin, 2), other = counts_of(*cubin, 3);
  nameless.mutable_functions(0)->set_index(0);
  other.mutable_functions(0)->set_index(0);
  other.mutable_functions(0)->set_name("_Z5otherv");
  Recording recording;
  for (const auto& counts : {nameless, named, other}) recording.add(kCountsFrame, 1, kCountsSource, counts);
  const KernelRecords& records = recording.trace()->kernel_records();
  REQUIRE(records.functions.size() == 2);
  CHECK(records.functions[0].index == index);
  CHECK(records.functions[1].index == 0);
}

// Recorded on an H200. By the program's source, 262,144 warps execute each instruction of a transposition once: 8,192 x 4,096 numbers, four for each thread.
TEST_CASE("recorded counts of the transpositions are those of their source") {
  constexpr std::uint64_t kAllWarps = 8192ULL * 4096 / 4 / 32, kLoads = 4 * kAllWarps, kWhole = 4, kScattered = 32;
  const auto trace = load_trace(data_file("transpositions_counts.trace"));
  REQUIRE(trace);
  const auto kernels = sum_counts(**trace, SumBy::kKernel);
  REQUIRE(kernels.size() == 3);
  for (const CountSum& kernel : kernels) {
    const std::string_view name = (*trace)->name(kernel.kernel);
    INFO(name);
    const bool by_columns = name.starts_with("transpose_by_columns"), conflicts = name.starts_with("transpose_shared");
    CHECK(kernel.counts.of(Count::kGlobalSectors) == kLoads * kWhole + kLoads * (by_columns ? kScattered : kWhole));
    CHECK(kernel.counts.of(Count::kGlobalSectorsIdeal) == 2 * kLoads * kWhole);
    CHECK(kernel.counts.of(Count::kSharedWavefronts) == (by_columns ? 0 : kLoads + kLoads * (conflicts ? 32 : 1)));
    CHECK(kernel.counts.of(Count::kSharedWavefrontsIdeal) == (by_columns ? 0 : 2 * kLoads));
    const auto code = kernel_code(**trace, kernel.process, kernel.kernel);
    REQUIRE(code);
    CHECK(code->counts.values == kernel.counts.values);
    // After the end of a kernel there is a jump to itself, and padding, which no warp executes.
    std::size_t executed = 0;
    for (const CodeInstruction& each : code->instructions) {
      if (each.counts.of(Count::kExecuted) == 0) continue;
      ++executed;
      CHECK(each.counts.of(Count::kExecuted) == kAllWarps);
      CHECK(each.counts.of(Count::kThreads) == 32 * kAllWarps);
    }
    CHECK(kernel.counts.of(Count::kExecuted) == executed * kAllWarps);
    for (const CodeLine& line : code->lines) {
      const bool scatters = line_of(line.line).find("out[place(column, row + i, kRows)] =") != std::string::npos;
      CHECK(line.counts.excess_sectors() == (by_columns && scatters ? kLoads * (kScattered - kWhole) : 0));
    }
  }
  const auto report = stats::make_report(*stats::find_report("line_count_sum"), **trace);
  REQUIRE(report);
  CHECK(report->row_count() > kernels.size());  // lines of each kernel, and not one row for all
}

// Recorded on an H200; printed by ncu 2025.3.1 for the same kernels: smsp__inst_executed.sum, memory_l2_theoretical_sectors_global and its ideal,
// memory_l1_wavefronts_shared and its ideal, memory_l2_theoretical_sectors_local.
TEST_CASE("recorded counts of twelve kernels are Nsight Compute's") {
  struct Known {
    std::string_view name;
    std::uint64_t executed, sectors, ideal, wavefronts, ideal_wavefronts, local, divergent;
  };
  constexpr Known kKnown[] = {
      {"transpose_naive", 25'165'824, 37'748'736, 8'388'608, 0, 0, 0, 0},
      {"transpose_shared", 11'796'480, 8'388'608, 8'388'608, 34'603'008, 2'097'152, 0, 0},
      {"transpose_padded", 11'796'480, 8'388'608, 8'388'608, 2'097'152, 2'097'152, 0, 0},
      {"saxpy", 19'922'944, 12'582'912, 12'582'912, 0, 0, 0, 0},
      {"strided", 46'137'344, 67'108'864, 8'388'608, 0, 0, 0, 0},
      {"gemm_naive", 154'468'352, 134'348'800, 134'348'800, 0, 0, 0, 0},
      {"divergent", 26'476'544, 131'072, 131'072, 0, 0, 0, 1'081'344},
      {"atomics", 557'056, 32'768, 32'768, 0, 0, 0, 0},
      {"spill", 41'975'808, 32'768, 32'768, 0, 0, 458'752'000, 0},
      {"fp64", 16'908'288, 262'144, 262'144, 0, 0, 0, 0},
      {"small_grid", 1'621'616, 64, 64, 0, 0, 0, 0},
      {"low_occ", 5'685'248, 16'384, 16'384, 1'232'896, 1'232'896, 0, 0},
  };
  const auto trace = load_trace(data_file("zoo_counts.trace"));
  REQUIRE(trace);
  const auto kernels = sum_counts(**trace, SumBy::kKernel);
  REQUIRE(kernels.size() == std::size(kKnown));
  for (const Known& known : kKnown) {
    INFO(known.name);
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const CountSum& kernel) { return (*trace)->name(kernel.kernel).starts_with(known.name); });
    REQUIRE(found != kernels.end());
    CHECK(found->counts.of(Count::kExecuted) == known.executed);
    CHECK(found->counts.of(Count::kGlobalSectors) == known.sectors);
    CHECK(found->counts.of(Count::kGlobalSectorsIdeal) == known.ideal);
    CHECK(found->counts.of(Count::kSharedWavefronts) == known.wavefronts);
    CHECK(found->counts.of(Count::kSharedWavefrontsIdeal) == known.ideal_wavefronts);
    CHECK(found->counts.of(Count::kLocalSectors) == known.local);
    CHECK(found->counts.of(Count::kDivergentThreads) == known.divergent);
    const auto code = kernel_code(**trace, found->process, found->kernel);
    REQUIRE(code);
    CHECK(code->counts.values == found->counts.values);
    CHECK_FALSE(code->lines.empty());
  }
}

// Printed by ncu 2025.3.1 for each instruction (page source) of the same two kernels, by opcode.
TEST_CASE("recorded counts by opcode are those of Nsight Compute's instructions") {
  using Mix = std::map<std::string, std::uint64_t>;
  const std::map<std::string, Mix> printed{{"transpose_naive",
                                            {{"LDC", 1'048'576},
                                             {"S2R", 4'194'304},
                                             {"IMAD", 4'194'304},
                                             {"ISETP", 2'097'152},
                                             {"EXIT", 2'097'152},
                                             {"SHF", 2'097'152},
                                             {"ULDC", 3'145'728},
                                             {"LEA", 4'194'304},
                                             {"LDG", 1'048'576},
                                             {"STG", 1'048'576}}},
                                           {"transpose_shared",
                                            {{"LDC", 262'144},
                                             {"S2R", 1'048'576},
                                             {"ULDC", 786'432},
                                             {"IMAD", 2'097'152},
                                             {"SHF", 524'288},
                                             {"LEA", 1'572'864},
                                             {"LDG", 1'048'576},
                                             {"S2UR", 262'144},
                                             {"UMOV", 262'144},
                                             {"ULEA", 262'144},
                                             {"STS", 1'048'576},
                                             {"BAR", 262'144},
                                             {"LDS", 1'048'576},
                                             {"STG", 1'048'576},
                                             {"EXIT", 262'144}}}};
  const auto trace = load_trace(data_file("zoo_counts.trace"));
  REQUIRE(trace);
  const std::vector<InstructionMix> mixes = instruction_mixes(**trace);
  CHECK(mixes.size() == 12);
  for (const auto& [name, known] : printed) {
    INFO(name);
    const auto found = std::find_if(mixes.begin(), mixes.end(), [&](const InstructionMix& mix) { return (*trace)->name(mix.kernel).starts_with(name); });
    REQUIRE(found != mixes.end());
    Mix ours;
    for (const OpcodeCount& each : found->opcodes) {
      ours[each.opcode] = each.executed;
      CHECK(each.threads <= 32 * each.executed);
    }
    CHECK(ours == known);
    CHECK(found->opcodes.front().executed >= found->opcodes.back().executed);
    CHECK(found->launches == 1);
    InstructionMix three = *found;  // as if each of three launches had executed as much
    three.launches = 3;
    for (OpcodeCount& each : three.opcodes) each.executed *= 3;
    CHECK(opcodes_of_a_launch(three).front().executed == found->opcodes.front().executed);
  }
  const auto report = stats::make_report(*stats::find_report("opcode_count_sum"), **trace);
  REQUIRE(report);
  std::size_t rows = 0;
  for (const InstructionMix& mix : mixes) rows += mix.opcodes.size();
  CHECK(report->row_count() == rows);
}

// access_sizes.ptx loads and stores 1, 2, 4, 8 and 16 bytes, in this order.
TEST_CASE("an instruction says how many bytes a thread loads or stores") {
  const auto cubin = Cubin::read(content(data_file("kernels/access_sizes.cubin")));
  REQUIRE(cubin);
  std::vector<std::uint32_t> loads, stores;
  for (const CubinFunction& function : cubin->functions()) {
    const auto code = cubin->code(function);
    for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
      const auto instruction = code.subspan(at, kInstructionBytes);
      if (opcode_name(instruction) == "LDG")
        loads.push_back(access_bytes(instruction));
      else if (opcode_name(instruction) == "STG")
        stores.push_back(access_bytes(instruction));
      else
        CHECK(access_bytes(instruction) == 0);
    }
  }
  CHECK(loads == std::vector<std::uint32_t>{1, 2, 4, 8, 16});
  CHECK(stores == loads);
  CHECK(access_bytes({}) == 0);
}

// local_memory.cu says how many bytes ptxas reports as spilled.
TEST_CASE("accesses to spilled registers have fixed addresses, and those to an array that is indexed at run time do not") {
  const auto cubin = Cubin::read(content(data_file("kernels/local_memory.cubin")));
  REQUIRE(cubin);
  struct Accesses {
    std::uint32_t loaded = 0, stored = 0;  // bytes, by instructions with fixed addresses
    int computed = 0;
  };
  std::map<std::string, Accesses> by_function;
  for (const CubinFunction& function : cubin->functions()) {
    const auto code = cubin->code(function);
    for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
      const auto instruction = code.subspan(at, kInstructionBytes);
      Accesses& accesses = by_function[std::string(function.name)];
      const LocalAddress address = local_address(instruction);
      if (address == LocalAddress::kComputed) ++accesses.computed;
      if (address == LocalAddress::kFixed) (opcode_name(instruction) == "LDL" ? accesses.loaded : accesses.stored) += access_bytes(instruction);
    }
  }
  CHECK(by_function.at("spilled").stored == 236);
  CHECK(by_function.at("spilled").loaded == 272);
  CHECK(by_function.at("spilled").computed == 0);
  CHECK(by_function.at("indexed").computed > 0);
  CHECK(by_function.at("indexed").stored == 64 * sizeof(float));  // filled in an unrolled loop
  CHECK(local_address({}) == LocalAddress::kNone);
}

// Sectors of a warp whose threads are this many elements apart, counted one by one.
TEST_CASE("a stride below a sector is told from the sectors that it touches, and a larger one as one of at least a sector") {
  const std::uint32_t bytes = GENERATE(1, 2, 4, 8, 16), elements = GENERATE(1, 2, 3, 4, 8, 17, 1024);
  CAPTURE(bytes, elements);
  std::set<std::uint64_t> sectors;
  for (std::uint64_t thread = 0; thread < 32; ++thread) sectors.insert(thread * elements * bytes / 32);
  const auto found = access_stride(static_cast<double>(sectors.size()), std::max(1.0, bytes * 32.0 / 32), bytes);
  if (elements == 1) {
    CHECK_FALSE(found);
    return;
  }
  REQUIRE(found);
  if (elements * bytes >= 32) {
    CHECK(found->is_least);
    CHECK(found->elements <= elements + 1e-9);
    CHECK(found->elements * bytes >= 31);
  } else {
    CHECK_FALSE(found->is_least);
    CHECK(found->elements == Approx(elements).epsilon(0.13));
  }
}

// Wavefronts of a warp's request whose threads are this many elements apart: threads that are served together, and the words of each bank, counted one by one.
TEST_CASE("a stride of shared memory is told from the wavefronts that it takes, and with one element more there are no conflicts") {
  const auto wavefronts = [](std::uint32_t bytes, std::uint32_t elements) {
    const std::uint32_t together = 32 / (bytes / 4);
    std::size_t sum = 0;
    for (std::uint32_t first = 0; first < 32; first += together) {
      std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
      for (std::uint32_t thread = first; thread < first + together; ++thread)
        for (std::uint32_t byte = 0; byte < bytes; ++byte) {
          const std::uint32_t word = (thread * elements * bytes + byte) / 4;
          words_of_bank[word % 32].insert(word);
        }
      std::size_t most = 0;
      for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
      sum += most;
    }
    return static_cast<double>(sum);
  };
  const std::uint32_t bytes = GENERATE(4, 8, 16);
  const double ideal = bytes / 4.0;
  for (std::uint32_t elements = 1; elements <= 1024; ++elements) {
    CAPTURE(bytes, elements);
    const double taken = wavefronts(bytes, elements);
    const auto found = bank_stride(taken, ideal, bytes);
    if (taken == ideal) REQUIRE_FALSE(found);
    if (!found) continue;
    REQUIRE(found->bytes == bytes);
    REQUIRE(elements % found->elements == 0);
    REQUIRE(wavefronts(bytes, elements + 1) == ideal);
  }
  REQUIRE(bank_stride(wavefronts(bytes, 1024), ideal, bytes));
  CHECK_FALSE(bank_stride(3 * ideal, ideal, bytes));
  CHECK_FALSE(bank_stride(32, 1, 2));
}

TEST_CASE("strides of recorded kernels are those of their source") {
  const auto stride_at = [](const Trace& trace, std::string_view kernel, const auto& is_it) {
    for (const CountSum& each : sum_counts(trace, SumBy::kLine))
      if (trace.name(each.kernel).starts_with(kernel) && is_it(each)) return each.stride ? stride_text(*each.stride).english() : std::string("none");
    return std::string("no such line");
  };
  const auto zoo = load_trace(data_file("zoo_counts.trace"));
  REQUIRE(zoo);
  const auto accesses = [](const CountSum& each) { return each.counts.of(Count::kGlobalSectors) > 0; };
  CHECK(stride_at(**zoo, "strided", accesses) == "8 or more elements of 4 B");  // 17, of floats
  CHECK(stride_at(**zoo, "transpose_naive", accesses) == "8 or more elements of 4 B");
  CHECK(stride_at(**zoo, "saxpy", accesses) == "none");
  CHECK(stride_at(**zoo, "fp64", accesses) == "none");
  CHECK(stride_at(**zoo, "gemm_naive", accesses) == "none");  // half of a warp reads the same address
  const auto triton = load_trace(data_file("triton_counts.trace"));
  REQUIRE(triton);
  CHECK(stride_at(**triton, "", [](const CountSum& each) { return each.line.ends_with("kernels_triton.py:36"); }) == "8 or more elements of 4 B");
  CHECK(stride_at(**triton, "", [](const CountSum& each) { return each.line.ends_with("kernels_triton.py:35"); }) == "none");
}

TEST_CASE("the line of a cause is that of the kernel's source, by counts") {
  const auto trace = load_trace(data_file("transpositions_counts.trace"));
  REQUIRE(trace);
  for (const CountSum& kernel : sum_counts(**trace, SumBy::kKernel)) {
    const std::string_view name = (*trace)->name(kernel.kernel);
    INFO(name);
    const bool by_columns = name.starts_with("transpose_by_columns"), conflicts = name.starts_with("transpose_shared");
    const auto access = costly_line(**trace, kernel.process, kernel.kernel, {.rule = "global_access"});
    REQUIRE(access.has_value() == by_columns);
    if (access) {
      CHECK(access->place.starts_with("transpositions.cu:"));
      CHECK(line_of(static_cast<std::uint32_t>(std::stoul(access->place.substr(access->place.find(':') + 1)))).find("out[place(column, row + i, kRows)] =") !=
            std::string::npos);
      CHECK(access->share == Approx(1));
      CHECK(access->stride.english() == "8 or more elements of 4 B");
    }
    const auto banks = costly_line(**trace, kernel.process, kernel.kernel, {.rule = "bank_conflicts"});
    REQUIRE(banks.has_value() == conflicts);
    if (banks) CHECK(banks->bank_stride.english() == "a multiple of 32 elements of 4 B");  // the columns of float tile[32][32]
    if (banks) CHECK(line_of(static_cast<std::uint32_t>(std::stoul(banks->place.substr(banks->place.find(':') + 1)))).find("tile[") != std::string::npos);
    CHECK_FALSE(costly_line(**trace, kernel.process, kernel.kernel, {.rule = "local_memory"}));
    CHECK_FALSE(costly_line(**trace, kernel.process, kernel.kernel, {.rule = "imbalance"}));
  }
}

// Recorded on an H200: tests/gpu/kernels_triton.py adds 2^22 pairs of floats and stores each sum twice, the second time 32 bytes apart.
TEST_CASE("counts of a Triton kernel stand at the lines of its Python file") {
  constexpr std::uint64_t kPieces = (1ULL << 22) * sizeof(float) / 32;
  constexpr std::pair<std::string_view, std::uint64_t> kAsked[] = {
      {"kernels_triton.py:33", kPieces}, {"kernels_triton.py:34", kPieces}, {"kernels_triton.py:35", kPieces}, {"kernels_triton.py:36", 8 * kPieces}};
  const auto trace = load_trace(data_file("triton_counts.trace"));
  REQUIRE(trace);
  const std::vector<CountSum> lines = sum_counts(**trace, SumBy::kLine);
  CHECK(std::all_of(lines.begin(), lines.end(), [](const CountSum& line) { return line.line.find("kernels_triton.py:") != std::string::npos; }));
  for (const auto& [place, asked] : kAsked) {
    INFO(place);
    const auto found = std::find_if(lines.begin(), lines.end(), [place = place](const CountSum& line) { return line.line.ends_with(place); });
    REQUIRE(found != lines.end());
    CHECK(found->counts.of(Count::kGlobalSectors) == asked);
    CHECK(found->counts.of(Count::kGlobalSectorsIdeal) == kPieces);
  }
}

TEST_CASE("counts whose columns disagree, or that have no place, are skipped") {
  const auto cubin = Cubin::read(cubin_image());
  REQUIRE(cubin);
  proto::InstructionCounts few = counts_of(*cubin, 1), nowhere = few, before = few, more = few;
  few.mutable_values()->RemoveLast();
  nowhere.set_function(3, 1);
  before.set_pc_delta(0, -16);
  more.add_function(0);
  Recording recording;
  for (const auto& counts : {few, nowhere, before, more}) recording.add(kCountsFrame, 1, kCountsSource, counts);
  CHECK(recording.malformed() == 4);
  CHECK(recording.trace()->kernel_records().counted.empty());
}

TEST_CASE("the program of a trace is its command, in its folder where that is here") {
  TraceBuilder builder;
  Provenance provenance;
  CHECK_FALSE(program_of(*builder.snapshot()));
  provenance.command = {"python", "train.py"};
  const TemporaryFolder folder;
  for (const std::string& place : {folder.path().string(), (folder.path() / "gone").string(), std::string(".")}) {
    provenance.working_directory = place;
    TraceBuilder told;
    told.provenance() = provenance;
    const auto program = program_of(*told.snapshot());
    REQUIRE(program);
    CHECK(program->command == provenance.command);
    CHECK(program->folder == (place == folder.path().string() ? folder.path() : std::filesystem::path()));
  }
}

TEST_CASE("the program of a process of several recordings is that of its own recording") {
  const auto recording = [](const std::string& program) {
    TraceBuilder builder;
    builder.provenance().command = {program};
    builder.provenance().working_directory = "/nowhere/" + program;
    const ProcessId process = builder.process_of_instance(1);
    const TrackKey key{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
    builder.add(key, {{0, 10, builder.intern("work of " + program), 0, 0}});
    return builder.snapshot();
  };
  const auto both = combine_traces(std::vector<TraceSource>{{recording("server"), "a", 0}, {recording("client"), "b", 0}});
  REQUIRE(both->processes().size() == 2);
  for (ProcessId process = 0; process < 2; ++process) {
    const auto program = program_of(*both, process);
    REQUIRE(program);
    const std::string expected = process == 0 ? "server" : "client";
    CHECK(program->command == std::vector<std::string>{expected});
    CHECK(program->recorded_folder == "/nowhere/" + expected);
    CHECK(program->folder.empty());
  }
  CHECK(program_of(*recording("alone"), 0)->command == std::vector<std::string>{"alone"});
}

TEST_CASE("kinds of launches that take equally long come by name, in whichever order names were recorded") {
  const auto order = [](const std::vector<std::string>& names) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    const TrackKey key{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const NameId name = builder.intern(names[i]);
      KernelDetail detail;
      detail.mangled_name = detail.short_name = name;
      builder.add(key, {{static_cast<Nanoseconds>(i) * 100, names[i] == "longest" ? 20 : 10, name, 0, builder.intern(detail)}});
    }
    const auto trace = builder.snapshot();
    std::vector<std::string> listed;
    for (const LaunchKind& kind : launch_kinds(
             *trace, [](const KernelNameOf&) { return true; }, 0))
      listed.emplace_back(trace->name(kind.name));
    return listed;
  };
  const std::vector<std::string> expected{"longest", "a", "b", "c"};
  CHECK(order({"a", "b", "c", "longest"}) == expected);
  CHECK(order({"c", "longest", "b", "a"}) == expected);
}

TEST_CASE("launches are of one kind by kernel and shape, and those to be skipped are counted") {
  const auto trace = load_trace(data_file("kernel_counters.trace"));
  REQUIRE(trace);
  const auto all = launch_kinds(
      **trace, [](const KernelNameOf&) { return true; }, 0);
  CHECK(all.size() == 12);  // tests/gpu/kernels.sh: twelve kernels, each run once
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].time >= all[i].time);
  CHECK((*trace)->name(all.front().name).starts_with("spill"));
  const auto transpositions = launch_kinds(
      **trace, [](const KernelNameOf& name) { return name.function.starts_with("transpose_"); }, 1);
  REQUIRE(transpositions.size() == 2);  // the first one in time is skipped
  for (const LaunchKind& kind : transpositions) CHECK_FALSE((*trace)->name(kind.name).starts_with("transpose_naive"));

  const auto rounds = load_trace(data_file("transpositions.trace"));
  REQUIRE(rounds);
  const auto later = launch_kinds(
      **rounds, [](const KernelNameOf& name) { return name.function == "transpose_by_columns"; }, 30);
  REQUIRE(later.size() == 1);
  CHECK(later[0].launches == 100);
  CHECK(later[0].before == 30);
  // Its duration is about the median, and no earlier launch except the first is like that.
  std::vector<Nanoseconds> durations;
  for (const Track& track : (*rounds)->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; track.key.kind == TrackKind::kKernels && i < (*rounds)->lane(id).size(); ++i)
        if ((*rounds)->event({id, i}).name == later[0].name) durations.push_back((*rounds)->event({id, i}).duration);
  REQUIRE(durations.size() == 100);
  std::vector<Nanoseconds> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  const auto is_about_the_median = [&](Nanoseconds duration) { return duration >= sorted[39] && duration <= sorted[59]; };
  CHECK(is_about_the_median(durations.at(later[0].typical)));
  for (std::uint64_t i = 1; i < later[0].typical; ++i) CHECK_FALSE(is_about_the_median(durations[i]));
}

TEST_CASE("the launch that stands for its kind is typical and comes early") {
  const auto typical = [](const std::vector<Nanoseconds>& durations) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    KernelDetail detail;
    detail.short_name = builder.intern("kernel");
    Nanoseconds start = 0;
    for (const Nanoseconds duration : durations) {
      builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)},
                  {{start, duration, detail.short_name, 0, builder.intern(detail)}});
      start += duration;
    }
    const auto kinds = launch_kinds(
        *builder.snapshot(), [](const KernelNameOf&) { return true; }, 0);
    REQUIRE(kinds.size() == 1);
    return kinds[0].typical;
  };
  CHECK(typical({500}) == 0);
  CHECK(typical({500, 100}) == 1);
  CHECK(typical({100, 500, 110}) == 2);
  std::vector<Nanoseconds> durations;  // a slow start, then all durations from 100 to 199 ns in turn
  for (Nanoseconds i = 0; i < 1'000; ++i) durations.push_back(i < 10 ? 900 : 100 + i % 100);
  const std::uint64_t number = typical(durations);
  CHECK(number >= 38);  // 40 % of them are shorter
  CHECK(number <= 42);
}
