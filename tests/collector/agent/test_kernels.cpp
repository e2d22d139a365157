// The real agent and its library for kernels, over a CUPTI that a test controls.
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>

#include "agent/kernels/gpu_claim.h"
#include "lanescope/trace.pb.h"
#include "mock_cupti.h"
#include "model/file/frame_codec.h"
#include "support/catch.h"
#include "test_host.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = lanescope::test::mock_cupti;

namespace {

const std::string kProgram = program("mock_cuda_program").string();

// What was written about kernels besides their times, and how many kernels were recorded.
struct Written {
  std::size_t kernels = 0;
  std::map<std::string, std::string> code;  // images, by name in hexadecimal
  std::vector<proto::PcSamples> samples;
  std::vector<std::string> told;

  [[nodiscard]] std::uint64_t sum(const std::string& reason, bool not_issued) const {
    std::uint64_t sum = 0;
    std::map<std::uint32_t, std::string> reasons;
    for (const proto::PcSamples& window : samples) {
      for (int i = 0; i < window.reasons_size(); ++i) reasons[window.first_reason() + static_cast<std::uint32_t>(i)] = window.reasons(i);
      for (int i = 0; i < window.reason_size(); ++i)
        if (reasons.at(window.reason(i)) == "smsp__pcsamp_warps_issue_stalled_" + reason)
          sum += not_issued ? (i < window.not_issued_size() ? window.not_issued(i) : 0) : window.samples(i);
    }
    return sum;
  }
};

Written run(std::map<std::string, std::string> environment) {
  environment["LANESCOPE_CUPTI_LIBRARY"] = LANESCOPE_MOCK_CUPTI;
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.flush_interval_ms = 20;
    settings.kernel_collection = static_cast<std::uint32_t>(channel::KernelCollection::kPcSamples);
  };
  REQUIRE(host.run({kProgram, "100", "samples"}, environment) == 0);
  Written written;
  for (const auto& record : host.processes[0]->metadata)
    if (record.record.type == channel::RecordType::kDiagnostic) written.told.push_back(record.text);
  for (const std::vector<std::byte>& frame : host.processes[0]->frames) {
    FrameView view;
    std::memcpy(&view.header, frame.data(), sizeof(view.header));
    view.stored = std::span(frame).subspan(sizeof(view.header));
    REQUIRE(frame_is_sound(view));
    const auto payload = open_frame(view);
    REQUIRE(payload);
    if (view.header.type == proto::FRAME_CODE_OBJECT) {
      proto::CodeObject object;
      REQUIRE(object.ParseFromString(*payload));
      CHECK(object.size() == object.image().size());
      CHECK(written.code.emplace(std::to_string(object.crc()), object.image()).second);
    }
    if (view.header.type == proto::FRAME_PC_SAMPLES) REQUIRE(written.samples.emplace_back().ParseFromString(*payload));
    proto::EventChunk chunk;
    if (view.header.type == proto::FRAME_EVENTS && chunk.ParseFromString(*payload))
      written.kernels += static_cast<std::size_t>(chunk.kernels().start_delta_size());
  }
  return written;
}

bool tells(const Written& written, const std::string& words) {
  for (const std::string& text : written.told)
    if (text.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("PC samples of a context arrive whole, those that CUPTI has at the end too, and the code that they are of") {
  const Written written = run({});
  CHECK(written.sum("long_scoreboard", false) == facts::kRounds * facts::kLongScoreboard);
  CHECK(written.sum("long_scoreboard", true) == facts::kRounds * facts::kLongScoreboardNotIssued);
  CHECK(written.sum("wait", false) == facts::kRounds * facts::kWait);
  CHECK(written.sum("selected", false) == facts::kRounds * facts::kSelected);
  std::uint64_t dropped = 0, others = 0;
  std::set<std::uint64_t> functions;
  for (const proto::PcSamples& window : written.samples) {
    dropped += window.dropped();
    others += window.other_samples();
    CHECK(window.context() == facts::kContext);
    CHECK(window.device() == facts::kDevice);
    CHECK(window.period() == 1u << facts::kPeriod);
    for (const proto::GpuFunction& function : window.functions()) {
      CHECK(function.index() == facts::kSampledFunction);
      CHECK(function.name() == "_Z3foov");
      functions.insert(function.code_object());
    }
    std::int64_t pc = 0;
    for (int i = 0; i < window.pc_delta_size(); ++i) {
      pc += window.pc_delta(i);
      CHECK((pc == facts::kSampledPc || pc == 0));
    }
  }
  CHECK(dropped == facts::kRounds * facts::kDroppedSamples);
  CHECK(others == facts::kRounds * facts::kOtherSamples);
  REQUIRE(written.code.size() == 1);
  CHECK(written.code.begin()->second == std::string(facts::kImage, sizeof(facts::kImage)));
  REQUIRE(functions.size() == 1);
  CHECK(std::to_string(*functions.begin()) == written.code.begin()->first);
  CHECK(written.kernels == 100 + facts::kUnfinished);
}

TEST_CASE("a second context of a GPU is not sampled, which would break CUPTI, and the user is told") {
  CHECK(tells(run({}), "one CUDA context of a GPU at a time"));
}

TEST_CASE("where CUPTI refuses PC samples the user is told why, and the rest is recorded") {
  const auto [code, words] =
      GENERATE(table<std::string, std::string>({{"35", "only administrators"}, {"26", "another program holds"}, {"7", "CUPTI answered 7"}}));
  const Written written = run({{"MOCK_CUPTI_PC_SAMPLING", code}});
  CHECK(tells(written, words));
  CHECK(written.samples.empty());
  CHECK(written.kernels == 100 + facts::kUnfinished);
}

TEST_CASE("a full buffer of the hardware is told with the samples") {
  const Written written = run({{"MOCK_CUPTI_PC_FULL", "1"}});
  REQUIRE(!written.samples.empty());
  CHECK(written.samples[0].buffer_was_full());
}

TEST_CASE("a fault of CUPTI in PC sampling costs the samples alone") {
  const Written written = run({{"MOCK_CUPTI_PC_FAULTS", "1"}});
  CHECK(tells(written, "CUPTI faulted when it was asked for them"));
  CHECK(written.kernels == 100 + facts::kUnfinished);
}

TEST_CASE("a GPU is claimed by one, who lets go of it beside a forked child, and closes nothing of the program's") {
  const std::string gpu = "test-" + std::to_string(getpid());
  agent::kernels::GpuClaim first, second;
  REQUIRE(first.take(gpu.c_str()));
  CHECK_FALSE(second.take(gpu.c_str()));
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    first.give_back();  // as the agent does in a forked child
    char wait = 0;
    close(ends[1]);
    static_cast<void>(!read(ends[0], &wait, 1));
    _exit(0);
  }
  int status = 0;
  close(ends[0]);
  first.give_back();
  for (int look = 0; look < 6'000 && !second.take(gpu.c_str()); ++look) usleep(10'000);  // until the child has given it back
  CHECK(second.take(gpu.c_str()));
  close(ends[1]);
  waitpid(child, &status, 0);

  // The program closes every descriptor that it does not know, and opens a file in its place.
  constexpr int kBeyondOurs = 600;
  std::vector<int> theirs;
  for (int number = 500; number < kBeyondOurs; ++number) theirs.push_back(dup2(STDERR_FILENO, number));
  second.give_back();
  for (const int number : theirs) CHECK(close(number) == 0);
}
