// Rules on kernels' launch shapes: traces with one known fault each, and what the rule for it reports.
#include <cstdint>
#include <string>

#include "answers.h"
#include "model/analysis/rule.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

// Blocks of 1,024 threads with few registers: a multiprocessor holds two, an H200 264.
KernelDetail shape(std::uint32_t blocks, std::uint32_t threads = 1024, std::uint32_t registers = 16) {
  KernelDetail detail;
  detail.grid[0] = blocks;
  detail.block[0] = threads;
  detail.grid[1] = detail.grid[2] = detail.block[1] = detail.block[2] = 1;
  detail.registers_per_thread = registers;
  return detail;
}

}  // namespace

TEST_CASE("a grid of fewer blocks than multiprocessors costs what it leaves empty while it runs alone") {
  Scenario program;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.shaped_kernel("reduce", shape(33), t, t + 400 * kMicrosecond);
    program.shaped_kernel("other", shape(264), t + 300 * kMicrosecond, t + 500 * kMicrosecond, 8);               // 100 us of it at the same time as the other
    program.shaped_kernel("ncclDevKernel_AllReduce", shape(1), t + 500 * kMicrosecond, t + 900 * kMicrosecond);  // waits for other work
    program.shaped_kernel("tiny", shape(2), t + 900 * kMicrosecond, t + 904 * kMicrosecond);
  }
  const RuleAnswer small = answer(*program.trace(), "small_grid");
  REQUIRE(small.findings.size() == 1);
  CHECK(small.findings[0].cost == 10 * 300 * kMicrosecond * 3 / 4);  // 99 of 132 multiprocessors
  CHECK_THAT(small.findings[0].title, contains_text("reduce has 33 blocks for 132 multiprocessors"));
  CHECK_THAT(small.findings[0].seen, contains_text("10 runs took 4.00 ms in all, 3.00 ms of that without another kernel beside it"));
  const stats::Table& table = table_named(small, "small_grid");
  CHECK(table.row_count() == 1);
  CHECK(integer(table, 0, "Alone") == 10 * 300 * kMicrosecond);
  CHECK(answer(*program.trace(), "small_grid:duration=500us").findings.empty());
}

TEST_CASE("launches whose counters were read are launches of the same shape") {
  Scenario program;
  KernelDetail detail = shape(33);
  detail.dynamic_shared_memory = 36'352;
  detail.shared_memory_executed = 233'472;
  KernelDetail measured = detail;
  measured.shared_memory_executed = 32'768;  // less than one block needs
  KernelDetail crowded = detail;
  crowded.shared_memory_executed = 65'536;  // room for one block, not for two
  for (int i = 0; i < 10; ++i) program.shaped_kernel("reduce", i == 5 ? measured : detail, i * kMillisecond, i * kMillisecond + 400 * kMicrosecond);
  program.shaped_kernel("reduce", crowded, 10 * kMillisecond, 10 * kMillisecond + 400 * kMicrosecond);
  const RuleAnswer small = answer(*program.trace(), "small_grid");
  REQUIRE(small.findings.size() == 2);
  CHECK(small.findings[0].cost == 10 * 400 * kMicrosecond * 3 / 4);
  CHECK(small.findings[1].cost == 400 * kMicrosecond * 3 / 4);
}

TEST_CASE("what a kernel of one block would win from more of them can't be told") {
  Scenario program;
  program.shaped_kernel("serial", shape(1), 0, kMillisecond);
  const RuleAnswer small = answer(*program.trace(), "small_grid");
  REQUIRE(small.findings.size() == 1);
  CHECK(small.findings[0].cost == 0);
  CHECK_THAT(small.findings[0].title, contains_text("serial runs as one block on one of 132 multiprocessors"));
}

TEST_CASE("the last wave of few costs the places that it leaves empty") {
  Scenario program;
  for (int i = 0; i < 4; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.shaped_kernel("two waves", shape(396), t, t + 200 * kMicrosecond);  // one and a half
    program.shaped_kernel("whole", shape(528), t + 200 * kMicrosecond, t + 400 * kMicrosecond);
    program.shaped_kernel("many", shape(10 * 264 + 1), t + 400 * kMicrosecond, t + 900 * kMicrosecond);  // the last wave is one of eleven
  }
  const RuleAnswer tail = answer(*program.trace(), "tail_wave");
  REQUIRE(tail.findings.size() == 1);
  CHECK(tail.findings[0].cost == 4 * 200 * kMicrosecond / 4);  // a quarter: half of the second of two waves
  CHECK_THAT(tail.findings[0].title, contains_text("two waves runs in 1.5 waves"));
  CHECK_THAT(tail.findings[0].seen, contains_text("holds 264 blocks of it at once; behind 1 full wave a last one of 132 blocks"));
  CHECK(answer(*program.trace(), "tail_wave:waves=10").findings.size() == 2);
}

TEST_CASE("low occupancy is named with its limiter and what would lift it, and costs nothing that could be told") {
  Scenario program;
  program.shaped_kernel("spilling", shape(2048, 128, 255), 0, kMillisecond);  // two blocks of four warps each
  program.shaped_kernel("full", shape(2048, 256, 32), kMillisecond, 2 * kMillisecond);
  const RuleAnswer low = answer(*program.trace(), "low_occupancy");
  REQUIRE(low.findings.size() == 1);
  CHECK(low.findings[0].cost == 0);
  CHECK_THAT(
      low.findings[0].title,
      contains_text("Of kernel spilling a multiprocessor holds no more than 2 blocks at once, 12.5 % of the warps that it could: limited by registers."));
  CHECK_THAT(low.findings[0].seen, contains_text("168 registers or fewer a thread (255 now): 18.75 %"));
  CHECK_THAT(low.findings[0].seen, contains_text("more warps could save 875 µs at most"));  // 7 of 8 parts of 1 ms
  CHECK(integer(table_named(low, "low_occupancy"), 0, "Winnable at Most") == kMillisecond * 7 / 8);
  CHECK(answer(*program.trace(), "low_occupancy:occupancy=10").findings.empty());
}

TEST_CASE("what launch shapes cost is weighed by a recording's time without that in which counters were read, and by no less than that of kernels") {
  Scenario program;
  // Reading counters of the first launch took nearly as long as the time before the last launch, or twice that time.
  const Nanoseconds spent = GENERATE(9'998 * kMillisecond, 20'000 * kMillisecond);
  program.shaped_kernel("reduce", shape(33), 0, kMillisecond);
  program.shaped_kernel("two waves", shape(396), kMillisecond, 2 * kMillisecond);
  program.shaped_kernel("spilling", shape(2048, 128, 255), 10'000 * kMillisecond, 10'001 * kMillisecond);
  CHECK(answer(*program.trace(), "small_grid").findings.empty());  // no counters were read
  program.builder()->add(MeasuredLaunch{0, 1, KernelReplay::kKernel, 30, {}, spent, {}});
  CHECK(answer(*program.trace(), "small_grid:share=24").findings.size() == 1);  // 0.75 of 3 ms
  CHECK(answer(*program.trace(), "small_grid:share=26").findings.empty());
  CHECK(answer(*program.trace(), "tail_wave:share=8").findings.size() == 1);  // 0.25 of 3 ms
  CHECK(answer(*program.trace(), "tail_wave:share=9").findings.empty());
  CHECK(answer(*program.trace(), "low_occupancy:share=33").findings.size() == 1);  // 1 of 3 ms
  CHECK(answer(*program.trace(), "low_occupancy:share=34").findings.empty());
}

TEST_CASE("low occupancy is named where several limits bind, and says in which command its program stands") {
  Scenario program;
  KernelDetail detail = shape(2048, 384, 168);  // one block of 12 warps, as limited by 168 registers and by 150 KiB of shared memory
  detail.dynamic_shared_memory = 150 * 1024;
  program.shaped_kernel("product", detail, 0, kMillisecond);
  const RuleAnswer low = answer(*program.trace(), "low_occupancy");
  REQUIRE(low.findings.size() == 1);
  CHECK_THAT(
      low.findings[0].title,
      contains_text(
          "Of kernel product a multiprocessor holds no more than 1 block at once, 18.8 % of the warps that it could: limited by registers and shared memory."));
  // Two blocks: each of 4 partitions of 16,384 registers holds 6 warps with 80 registers; each block has half of 228 KiB less 1 KiB.
  CHECK_THAT(low.findings[0].seen,
             contains_text("80 registers or fewer a thread (168 now) and 113 KiB of shared memory or less a block (150 KiB now): 37.5 %"));
  CHECK_THAT(low.findings[0].advice, contains_text("lanescope kernels --section WarpStateStats -- PROGRAM"));
}

TEST_CASE("low occupancy is not named where more warps would not help") {
  Scenario program;
  auto add = [&, t = Nanoseconds{0}](const std::string& name, std::uint32_t blocks) mutable {
    program.shaped_kernel(name, shape(blocks, 128, 255), t, t + kMillisecond);  // two blocks on each multiprocessor, 264 in total
    t += kMillisecond;
  };
  add("all blocks at once", 264);
  add("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 2048);
  add("cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4", 2048);
  add("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma", 2048);  // fp32_products reports it
  add("one block more", 265);
  add("my_gemm", 2048);
  const RuleAnswer low = answer(*program.trace(), "low_occupancy");
  REQUIRE(low.findings.size() == 2);
  CHECK_THAT(low.findings[0].title, contains_text("Of kernel one block more a multiprocessor"));
  CHECK_THAT(low.findings[1].title, contains_text("Of kernel my_gemm a multiprocessor"));
  CHECK(table_named(low, "low_occupancy").row_count() == 2);
}

TEST_CASE("of kernels whose counters were read, low occupancy is named where they say that it is a cause") {
  const auto trace = load_trace(test::data_file("kernel_counters.trace"));
  REQUIRE(trace);
  // For one kernel, which holds an eighth of the warps, local memory keeps the L2 cache at 90 %; the other waits with two warps on each multiprocessor (ncu
  // says the same).
  const RuleAnswer low = answer(**trace, "low_occupancy:share=0");
  REQUIRE(low.findings.size() == 1);
  CHECK_THAT(low.findings[0].title, contains_text("Of kernel low_occ a multiprocessor"));
}

TEST_CASE("matrix products in FP32 cost what tensor cores would save") {
  Scenario program;
  const std::string product = "ampere_sgemm_128x64_tn", on_tensor_cores = "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32";
  for (int i = 0; i < 4; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.shaped_kernel(product, shape(128), t, t + 400 * kMicrosecond);
    program.shaped_kernel(on_tensor_cores, shape(128), t + 400 * kMicrosecond, t + 500 * kMicrosecond);
    program.shaped_kernel("softmax", shape(128), t + 500 * kMicrosecond, t + 600 * kMicrosecond);
  }
  const RuleAnswer products = answer(*program.trace(), "fp32_products");
  REQUIRE(products.findings.size() == 1);
  CHECK(products.findings[0].cost == 4 * 400 * kMicrosecond * 7 / 8 * 128 / 132);  // a block for each multiprocessor except four
  CHECK_THAT(products.findings[0].seen, contains_text("1 kernel of such products took 1.60 ms in 4 runs, 67 % of the time of all kernels"));
  CHECK_THAT(products.findings[0].advice, contains_text("TF32"));
  CHECK(table_named(products, "fp32_products").row_count() == 1);
  CHECK(answer(*program.trace(), "fp32_products:share=90").findings.empty());
}

TEST_CASE("products that run beside each other are saved once") {
  Scenario program;
  for (int i = 0; i < 4; ++i)
    for (const std::uint32_t stream : {7u, 8u, 9u})
      program.shaped_kernel("ampere_sgemm_128x64_tn", shape(132), i * kMillisecond, i * kMillisecond + 400 * kMicrosecond, stream);
  const RuleAnswer products = answer(*program.trace(), "fp32_products");
  REQUIRE(products.findings.size() == 1);
  CHECK(products.findings[0].cost == 4 * 400 * kMicrosecond * 7 / 8);
  CHECK_THAT(products.findings[0].seen, contains_text("took 4.80 ms in 12 runs, 100 % of the time of all kernels"));
}

TEST_CASE("rules of launch shapes say so where a trace knows no shapes") {
  Scenario program;
  program.kernel("k", 0, 10, 20, kMillisecond);
  for (const char* rule : {"small_grid", "tail_wave", "low_occupancy"}) {
    const RuleAnswer answered = answer(*program.trace(), rule);
    CHECK(answered.findings.empty());
    CHECK_THAT(answered.message, contains_text("lacks the shapes of kernels"));
  }
}

TEST_CASE("more occupancy is no cause where all blocks of a kernel fit at once") {
  const auto trace = load_trace(test::data_file("transformer_tf32.trace"));
  REQUIRE(trace);
  const RuleAnswer bounds = answer(**trace, "kernel_bounds:share=0");
  std::size_t occupancy = 0;
  for (const Finding& finding : bounds.findings) {
    if (finding.key != "occupancy") continue;
    ++occupancy;
    CHECK(finding.title.english().find("sm90_xmma_gemm") == std::string::npos);  // 96 blocks, one on each of 96 multiprocessors
  }
  CHECK(occupancy > 0);  // attention has more blocks than places; its registers admit an eighth of the warps
}
