// Copies and streams that prevent a GPU from working at several things at once.
#include <array>
#include <optional>

#include "answers.h"
#include "model/analysis/rule.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

TEST_CASE("copies and kernels that take turns could run beside each other") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * 2 * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + kMillisecond);
    program.kernel("k", t + 5'000, t + 10'000, t + kMillisecond, t + 1'700'000);
  }
  const auto trace = program.trace();
  CHECK(findings(*trace)[0].rule == "no_overlap");
  CHECK(findings(*trace)[0].cost == 20 * 700'000);  // of the kernels, which are shorter than the copies
  CHECK(answer(*trace, "pageable").findings.empty());
}

TEST_CASE("where copies take most of the time, copying less comes before copying beside kernels") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + 960'000);
    program.kernel("k", t + 5'000, t + 10'000, t + 960'000, t + 965'000);  // 0.5 % of the time: less than the least gain that is reported
  }
  const std::vector<Finding> found = answer(*program.trace(), "no_overlap").findings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost == 19 * 950'000);  // all copies except the first, which lies before the work that repeats
  CHECK_THAT(found[0].title, contains_text("18.1 ms of that no kernel of the same process ran (95 % of") && contains_text("the program mostly copies"));
  CHECK_THAT(found[0].seen, contains_text("Run beside each other, they could save up to 100 µs"));
  CHECK_THAT(found[0].advice, contains_text("Copy less first") && contains_text("keep data on the GPU") && contains_text("many small copies as one"));
  CHECK(answer(*program.trace(), "no_overlap:most=96").findings.empty());
}

TEST_CASE("kernels that would hide less than half of the copies get the advice to copy less, at the cost of what they could hide") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 10'000'000, t, t + 5'000, t + 10'000, t + 410'000);
    program.kernel("k", t + 5'000, t + 10'000, t + 410'000, t + 510'000);
  }
  const std::vector<Finding> found = answer(*program.trace(), "no_overlap").findings;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost == 20 * 100'000);
  CHECK_THAT(found[0].title, contains_text("copies and kernels take turns"));
  CHECK_THAT(found[0].advice, contains_text("Copy less first"));
}

TEST_CASE("copies of pageable memory that take most of the time are to become less before they become faster") {
  Scenario program;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds t = i * 10 * kMillisecond;
    program.copy("cudaMemcpy", MemoryKind::kPageable, 50'000'000, t, t + 9'500'000, t, t + 9'500'000);
    program.kernel("k", t + 9'500'000, t + 9'510'000, t + 9'510'000, t + 9'600'000);
  }
  const std::vector<Finding> found = answer(*program.trace(), "pageable").findings;
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].advice, contains_text("Copy less first") && contains_text("cudaMallocHost"));
}

TEST_CASE("copies that hide behind kernels are left alone") {
  Scenario program;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds t = i * 2 * kMillisecond;
    program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 25'000'000, t, t + 5'000, t + 10'000, t + kMillisecond, 8);
    program.kernel("k", t + 5'000, t + 10'000, t + 11'000, t + 1'700'000, 7);
  }
  CHECK(answer(*program.trace(), "no_overlap").findings.empty());
}

TEST_CASE("pageable copies are measured against the trace's own pinned ones") {
  Scenario program;
  program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 50'000'000, 0, 5'000, 10'000, 1'010'000);  // 50 GB/s
  for (int i = 1; i <= 10; ++i) {
    const Nanoseconds t = i * 10 * kMillisecond;
    program.copy("cudaMemcpy", MemoryKind::kPageable, 50'000'000, t, t + 9 * kMillisecond, t + 10'000, t + 9 * kMillisecond);
  }
  const auto trace = program.trace();
  const std::vector<Finding> found = findings(*trace);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].rule == "pageable");
  CHECK(found[0].cost == 10 * (9 * kMillisecond - 10'000 - kMillisecond));
}

TEST_CASE("chunks on one stream are told of where it is known to be none of the default ones") {
  const auto findings_of = [](std::uint32_t kind, std::optional<std::uint32_t> default_stream = std::nullopt) {
    Scenario program;
    if (default_stream) program.builder()->set_context({program.process(), 1, 0, *default_stream});
    program.builder()->set_stream({program.process(), 1, 7, 0, kind, {}});
    for (int i = 0; i < 8; ++i) {
      const Nanoseconds t = i * 3 * kMillisecond;
      program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, t, t + 5'000, t + 10'000, t + kMillisecond);
      program.kernel("k", t + 6'000, t + 9'000, t + kMillisecond, t + 2 * kMillisecond);
      program.copy_back("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, t + 10'000, t + 15'000, t + 2 * kMillisecond, t + 3 * kMillisecond);
    }
    return answer(*program.trace(), "one_stream").findings.size();
  };
  constexpr std::uint32_t kUnknown = 0, kNonBlocking = 2, kNull = 3;  // proto::StreamKind
  CHECK(findings_of(kNonBlocking) == 1);
  CHECK(findings_of(kNull) == 0);
  CHECK(findings_of(kUnknown) == 0);     // PyTorch's traces do not say which stream is the default one,
  CHECK(findings_of(kUnknown, 0) == 0);  // but they say which contexts there are
  CHECK(findings_of(kUnknown, 7) == 0);
  CHECK(findings_of(kUnknown, 13) == 1);
}

TEST_CASE("several streams were created and one was used") {
  Scenario program;
  for (int i = 0; i < 4; ++i) program.call("cudaStreamCreate", i * 10, i * 10 + 5);
  program.kernel("k", 100, 110, 120, 200, 7);
  const auto one = answer(*program.trace(), "one_stream");
  REQUIRE(one.findings.size() == 1);
  CHECK_THAT(one.findings[0].title, contains_text("created 4 streams"));
  program.kernel("k", 200, 210, 220, 300, 13);
  CHECK_THAT(answer(*program.trace(), "one_stream").findings.at(0).title, contains_text("ran on only 2"));
  program.kernel("k", 300, 310, 320, 400, 14);
  program.kernel("k", 400, 410, 420, 500, 15);
  CHECK(answer(*program.trace(), "one_stream").findings.empty());
}

TEST_CASE("of several files, copies that nothing runs beside name the file whose GPU copied") {
  const auto run = [](Nanoseconds copied) {
    Scenario program;
    for (int i = 0; i < 20; ++i) {
      const Nanoseconds t = i * 10 * kMillisecond;
      program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, t, t + 5'000, t + 10'000, t + 10'000 + copied);
      program.kernel("k", t + 10'000, t + 15'000, t + 5 * kMillisecond, t + 9 * kMillisecond);
    }
    return program.trace();
  };
  const std::array sources{TraceSource{run(0), "a.trace", {}, "", false, ""}, TraceSource{run(4 * kMillisecond), "b.trace", {}, "", false, ""}};
  const RuleAnswer copies = answer(*combine_traces(sources), "no_overlap");
  REQUIRE(copies.findings.size() == 1);
  CHECK_THAT(copies.findings[0].title, contains_text("b.trace: GPU 0 copied for 76.0 ms"));  // the first copy lies before the work that repeats
  CHECK_THAT(answer(*run(4 * kMillisecond), "no_overlap").findings.at(0).title, !contains_text("trace"));
}

TEST_CASE("migrations of unified memory are no copies that streams could hide") {
  const auto trace = load_trace(test::data_file("unified_memory.trace"));  // without a copy
  REQUIRE(trace);
  CHECK(answer(**trace, "no_overlap:hidden=90").findings.empty());
}

TEST_CASE("the rate of an even number of pinned copies lies midway between the two in the middle") {
  Scenario program;
  program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, 0, 5'000, 10'000, 30'000);        // 50 B/ns
  program.copy("cudaMemcpyAsync", MemoryKind::kPinned, 1'000'000, 30'000, 35'000, 40'000, 80'000);  // 25 B/ns
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds t = (i + 1) * 2 * kMillisecond;
    program.copy("cudaMemcpy", MemoryKind::kPageable, 1'500'000, t, t + kMillisecond + 20'000, t + 10'000, t + 10'000 + kMillisecond);
  }
  const RuleAnswer pageable = answer(*program.trace(), "pageable");
  REQUIRE(pageable.findings.size() == 1);
  CHECK(pageable.findings[0].cost == 3 * (1'000'000 - 40'000));  // at 37.5 B/ns
}
