// Counts of instructions: from CUPTI's records, through the agent and its file, to messages of the trace.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "agent/kernel_counters/collection.h"
#include "kernel_metrics/evaluation.h"
#include "kernel_metrics/instruction_image.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/records.h"
#include "mock_range_profiler.h"
#include "plan_file.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernel_metrics;
namespace counters = lanescope::agent::kernel_counters;

namespace {

const std::vector<std::string> kMetrics{"smsp__sass_inst_executed", "smsp__sass_of_another_chip", "smsp__sass_sectors_mem_global"};

// A program whose instructions are counted.
class CountedProgram {
 public:
  explicit CountedProgram(const channel::LaunchChoice& choice) {
    std::filesystem::create_directory(folder_.path() / channel::kCounterRecordFolder);
    std::ofstream(folder_.path() / channel::kCounterCodeFile).flush();
    REQUIRE(PlanWriter(kMetrics, choice).write(folder_.path()));
    setenv(channel::kKernelCountersVariable, folder_.path().c_str(), 1);
    REQUIRE(dlopen(LANESCOPE_MOCK_DRIVER, RTLD_NOW | RTLD_GLOBAL) != nullptr);
    library_ = dlopen(LANESCOPE_MOCK_RANGE_PROFILER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
    mock_ = function<MockRangeProfiler*()>("mock_range_profiler")();
    *mock_ = {};
    function<void()>("mock_sass_begin_process")();
    counters::begin(dlsym(library_, "cuptiGetResultString"), nullptr);
  }
  ~CountedProgram() { counters::forget_all(); }

  [[nodiscard]] MockRangeProfiler& mock() { return *mock_; }
  void load(const std::array<std::byte, kMockCodeBytes>& code) { counters::follow_module(code); }
  // Returns true if the launch was counted.
  bool launch(const char* name, unsigned grid = 128) {
    cuLaunchKernel_params parameters{};
    parameters.gridDimX = grid;
    CUpti_CallbackData call{};
    call.symbolName = name;
    call.functionParams = &parameters;
    call.correlationId = ++correlation_;
    call.context = reinterpret_cast<CUcontext>(0x10);
    call.callbackSite = CUPTI_API_ENTER;
    counters::follow_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, call);
    const bool was_on = mock_->is_started;
    function<void(const char*)>("mock_sass_launch")(name);
    call.callbackSite = CUPTI_API_EXIT;
    counters::follow_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, call);
    CHECK_FALSE(mock_->is_started);
    return was_on;
  }
  [[nodiscard]] Evaluated evaluated() const {
    Evaluation evaluation(nullptr, *read_plan(folder_.path()));
    for (const auto& file : std::filesystem::directory_iterator(folder_.path() / channel::kCounterRecordFolder)) return evaluation.evaluate(file.path());
    return {};
  }

 private:
  template <typename Signature>
  Signature* function(const char* name) {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }
  test::TemporaryFolder folder_;
  void* library_ = nullptr;
  MockRangeProfiler* mock_ = nullptr;
  std::uint32_t correlation_ = 0;
};

channel::LaunchChoice one_launch_of(const char* name, unsigned grid, unsigned skip) {
  channel::LaunchChoice choice{};
  choice.kinds = 1;
  choice.chosen[0].kind = channel::launch_kind(name, {grid, 0, 0, 0, 0, 0, 0});
  choice.skip = skip;
  choice.count = 1;
  return choice;
}

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(value));
}

}  // namespace

TEST_CASE("one launch of a kernel and shape is counted, with its code") {
  CountedProgram program(one_launch_of("_Z4gemmv", 64, 1));
  CHECK(counters::excludes_activity());
  std::array<std::byte, kMockCodeBytes> code{};
  code.fill(std::byte{7});
  program.load(code);
  CHECK_FALSE(program.launch("_Z4gemmv"));       // of another shape
  CHECK_FALSE(program.launch("_Z5otherv", 64));  // of another name
  CHECK_FALSE(program.launch("_Z4gemmv", 64));   // skipped
  CHECK(program.launch("_Z4gemmv", 64));
  CHECK_FALSE(program.launch("_Z4gemmv", 64));
  const Evaluated result = program.evaluated();
  REQUIRE(result.instructions.size() == 1);
  const proto::InstructionCounts& counts = result.instructions[0];
  CHECK(counts.correlation() == 4);
  // Metrics that the chip lacks are left out, and so are instructions without counts.
  REQUIRE(counts.metrics_size() == 2);
  CHECK(counts.metrics(0) == kMetrics[0]);
  CHECK(counts.metrics(1) == kMetrics[2]);
  REQUIRE(counts.functions_size() == 1);
  CHECK(counts.functions(0).code_object() == kMockCrc + kMockCodeBytes);  // CUPTI gives only its last 32 bits
  CHECK(counts.functions(0).index() == 0);
  CHECK(counts.functions(0).name() == "_Z4gemmv");
  CHECK(std::vector<std::int64_t>(counts.pc_delta().begin(), counts.pc_delta().end()) == std::vector<std::int64_t>{0, 0x10, 0x10});
  CHECK(std::vector<std::uint64_t>(counts.values().begin(), counts.values().end()) == std::vector<std::uint64_t>{1024, 1024, 1024, 0, 8192, 0});
  REQUIRE(result.code.size() == 1);
  CHECK(result.code[0].crc() == kMockCrc + kMockCodeBytes);
  CHECK(result.code[0].image() == std::string(kMockCodeBytes, '\7'));
  CHECK(result.metrics.front().left_out_size() == 0);
}

TEST_CASE("a kernel of which CUPTI counts nothing is left out with a reason") {
  channel::LaunchChoice choice{};
  choice.count = 2;
  CountedProgram program(choice);
  CHECK(program.launch("_Z4gemmv"));
  CHECK(program.launch("_Z5otherv"));
  const Evaluated result = program.evaluated();
  CHECK(result.instructions.size() == 1);
  REQUIRE(result.metrics.front().left_out_size() == 1);
  CHECK(result.metrics.front().left_out(0).kernel() == "_Z5otherv");
  CHECK_FALSE(result.metrics.front().left_out(0).reason().empty());
}

TEST_CASE("where CUPTI refuses to count instructions, the program goes on") {
  const char* function = GENERATE("cuptiSassMetricsGetProperties", "cuptiSassMetricsSetConfig", "cuptiSassMetricsEnable", "cuptiSassMetricsGetDataProperties",
                                  "cuptiSassMetricsFlushData", "cuptiSassMetricsDisable");
  CAPTURE(function);
  CountedProgram program(channel::LaunchChoice{});
  program.mock().refused = function;
  program.mock().result = GENERATE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_NOT_COMPATIBLE);
  program.launch("_Z4gemmv");
  CHECK_FALSE(program.launch("_Z4gemmv"));
  CHECK(program.evaluated().instructions.empty());
}

TEST_CASE("an image of counts that makes no sense is none") {
  std::vector<std::uint8_t> image;
  append(image, channel::InstructionImage{3, 1, 2, 7});
  append(image, channel::CountedFunction{1, 2, 3});
  for (const char letter : {'f', 'o', 'o'}) append(image, letter);
  append(image, channel::InstructionRow{0, 0x20});
  append(image, channel::InstructionRow{0, 0x10});
  for (std::uint64_t value = 1; value <= 6; ++value) append(image, value);
  const auto whole = instruction_counts(image, kMetrics);
  REQUIRE(whole.size() == 1);
  CHECK(std::vector<std::uint64_t>(whole[0].values().begin(), whole[0].values().end()) == std::vector<std::uint64_t>{4, 1, 5, 2, 6, 3});
  for (std::size_t bytes = 0; bytes < image.size(); ++bytes) CHECK(instruction_counts(std::span(image).first(bytes), kMetrics).empty());
  CHECK(instruction_counts(image, std::span(kMetrics).first(2)).empty());
  std::vector<std::uint8_t> elsewhere = image;
  elsewhere[sizeof(channel::InstructionImage) + sizeof(channel::CountedFunction) + 3] = 1;  // a function that is not there
  CHECK(instruction_counts(elsewhere, kMetrics).empty());
  for (const std::size_t field : {4, 8, 15}) {  // counts of functions and rows
    std::vector<std::uint8_t> large = image;
    large[field] = 0xff;
    CHECK(instruction_counts(large, kMetrics).empty());
  }
}
