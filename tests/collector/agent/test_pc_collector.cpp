// When PC sampling may begin and end: a CUPTI whose calls are counted, and an agent whose launches return or do not.
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/kernels/pc_collector.h"
#include "collector/channel/clock.h"
#include "lanescope/trace.pb.h"
#include "support/catch.h"

using namespace lanescope::agent::kernels;

namespace {

struct Calls {
  int enabled = 0;
  int disabled = 0;
  int stopped = 0;
};
Calls calls;

class Agent final : public Host {
 public:
  bool are_back = true;  // the program's launches have returned
  bool is_held = false;
  std::int64_t shift = 0;  // ns, of the recorder's clock relative to the program's
  int frames = 0;          // of samples
  lanescope::proto::PcSamples written;
  std::function<void()> while_held = [] {};
  std::vector<std::string> told;

  void write_frame(std::uint16_t type, std::span<const std::byte> payload) noexcept override {
    if (type == lanescope::proto::FRAME_PC_SAMPLES && written.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) ++frames;
  }
  std::int64_t event_time(std::int64_t monotonic) const noexcept override { return monotonic + shift; }
  void tell(Outcome, const char* sentence) noexcept override { told.emplace_back(sentence); }
  void follow_launches() noexcept override {}
  void leave_launches() noexcept override {}
  bool hold_launches(std::int64_t) noexcept override {
    is_held = true;
    while_held();
    return are_back;
  }
  void let_launches_go() noexcept override { is_held = false; }
  void follow_launched_code() noexcept override {}
};

Functions functions() {
  calls = {};
  Functions f;
  f.get_result_string = [](CUptiResult, const char**) { return CUPTI_SUCCESS; };
  f.get_context_id = [](CUcontext, std::uint32_t*) { return CUPTI_SUCCESS; };
  f.get_device_id = [](CUcontext context, std::uint32_t* device) {
    *device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context));
    return CUPTI_SUCCESS;
  };
  f.enable = [](CUpti_PCSamplingEnableParams*) {
    ++calls.enabled;
    return CUPTI_SUCCESS;
  };
  f.disable = [](CUpti_PCSamplingDisableParams*) {
    ++calls.disabled;
    return CUPTI_SUCCESS;
  };
  f.start = [](CUpti_PCSamplingStartParams*) { return CUPTI_SUCCESS; };
  f.stop = [](CUpti_PCSamplingStopParams*) {
    ++calls.stopped;
    return CUPTI_SUCCESS;
  };
  f.get_data = [](CUpti_PCSamplingGetDataParams* parameters) {
    static_cast<CUpti_PCSamplingData*>(parameters->pcSamplingData)->totalNumPcs = 0;
    return CUPTI_SUCCESS;
  };
  f.get_reason_count = [](CUpti_PCSamplingGetNumStallReasonsParams* parameters) {
    *parameters->numStallReasons = 1;
    return CUPTI_SUCCESS;
  };
  f.get_reasons = [](CUpti_PCSamplingGetStallReasonsParams* parameters) {
    std::strcpy(parameters->stallReasons[0], "smsp__pcsamp_warps_issue_stalled_wait");
    return CUPTI_SUCCESS;
  };
  f.configure = [](CUpti_PCSamplingConfigurationInfoParams*) { return CUPTI_SUCCESS; };
  f.get_configuration = [](CUpti_PCSamplingConfigurationInfoParams*) { return CUPTI_SUCCESS; };
  return f;
}

CUcontext context_of(std::uintptr_t device) { return reinterpret_cast<CUcontext>(device); }
const Request kAlways{lanescope::channel::KernelCollection::kPcSamples, 20, 0, 0, Request::Contexts::kAllTold};
const Request kWindows{lanescope::channel::KernelCollection::kPcSamples, 20, 1, 1, Request::Contexts::kAllTold};

}  // namespace

TEST_CASE("where a launch does not come back sampling stays on, which is told, and ends with the next recording") {
  const Request request = GENERATE(kAlways, kWindows);
  Agent agent;
  PcCollector collector(agent, functions());
  collector.begin(request);
  collector.context_created(context_of(1));
  REQUIRE(calls.enabled == 1);
  collector.collect();  // a window begins
  agent.are_back = false;
  agent.told.clear();
  collector.end();
  CHECK(calls.disabled == 0);
  CHECK(calls.stopped == 0);
  CHECK_FALSE(agent.is_held);
  REQUIRE(agent.told.size() == 1);
  CHECK(agent.told[0].find("stays on") != std::string::npos);

  collector.begin_session();
  collector.begin(request);  // it still does not return
  CHECK(calls.disabled == 0);
  agent.are_back = true;
  collector.end();
  CHECK(calls.disabled == 1);
  CHECK(calls.stopped == (request.window != 0 ? 1 : 0));

  collector.begin_session();
  agent.are_back = false;
  collector.begin(request);
  collector.collect();
  CHECK(calls.enabled == 1);
  agent.are_back = true;
  collector.collect();
  CHECK(calls.enabled == 2);
  CHECK_FALSE(agent.is_held);
  collector.end();
  CHECK(calls.disabled == 2);
}

TEST_CASE("samples have times of the recorder's clock, also from another time namespace") {
  Agent agent;
  agent.shift = -5'000'000'000'000'000;
  PcCollector collector(agent, functions());
  const std::int64_t before = lanescope::channel::monotonic_now() + agent.shift;
  collector.begin(kWindows);
  collector.context_created(context_of(1));
  while (agent.frames == 0) collector.collect();
  const std::int64_t after = lanescope::channel::monotonic_now() + agent.shift;
  CHECK(agent.written.begin() >= before);
  CHECK(agent.written.begin() + static_cast<std::int64_t>(agent.written.duration()) <= after);
  collector.end();
}

TEST_CASE("a recording ends what the one before had to leave on, and begins with its own settings") {
  Agent agent;
  PcCollector collector(agent, functions());
  collector.begin(kAlways);
  collector.context_created(context_of(1));
  agent.are_back = false;
  collector.end();
  agent.are_back = true;
  collector.begin_session();
  collector.begin(kWindows);
  CHECK(calls.disabled == 1);
  CHECK(calls.enabled == 2);
  collector.end();
  CHECK(calls.disabled == 2);
}

TEST_CASE("a context beside others, which may be launching, is sampled once launches wait") {
  Agent agent;
  PcCollector collector(agent, functions());
  collector.begin(kAlways);
  collector.context_created(context_of(1));
  collector.context_created(context_of(2));
  CHECK(calls.enabled == 1);
  agent.are_back = false;
  collector.collect();
  CHECK(calls.enabled == 1);
  agent.are_back = true;
  collector.collect();
  CHECK(calls.enabled == 2);
  collector.end();
  CHECK(calls.disabled == 2);
}

TEST_CASE("sampling of a context that ends while others launch ends once these wait, and is lost where they do not come back") {
  Agent agent;
  PcCollector collector(agent, functions());
  collector.begin(kAlways);
  collector.context_created(context_of(1));
  bool was_held = false;
  agent.while_held = [&] { was_held = calls.disabled == 0; };
  collector.context_ends(context_of(1));
  CHECK(was_held);
  CHECK(calls.disabled == 1);
  CHECK_FALSE(agent.is_held);
  collector.collect();

  collector.context_created(context_of(2));
  REQUIRE(calls.enabled == 2);
  agent.are_back = false;
  collector.context_ends(context_of(2));
  CHECK(calls.disabled == 1);
  REQUIRE(agent.told.size() == 1);
  CHECK(agent.told[0].find("are lost") != std::string::npos);
  agent.are_back = true;
  collector.collect();
  collector.end();
  CHECK(calls.disabled == 1);  // nothing more is asked of a context that is gone
}

TEST_CASE("a context that ends or begins while the collector is at work is known to it later") {
  Agent agent;
  PcCollector collector(agent, functions());
  collector.begin(kWindows);
  collector.context_created(context_of(1));
  bool has_come = false;
  agent.while_held = [&] {
    if (std::exchange(has_come, true)) return;
    std::thread([&] {
      collector.context_ends(context_of(1));
      collector.context_created(context_of(2));
    }).join();
  };
  collector.collect();  // a window of the first begins
  CHECK(calls.enabled == 1);
  collector.collect();
  CHECK(calls.enabled == 2);
  collector.end();
  CHECK(calls.disabled == 1);
}

TEST_CASE("in a program that was there before, sampling of its first context that is told of begins once launches wait") {
  Agent agent;
  PcCollector collector(agent, functions());
  Request request = kAlways;
  request.contexts = Request::Contexts::kSomeBefore;
  collector.begin(request);
  collector.context_created(context_of(1));
  CHECK(calls.enabled == 0);
  agent.while_held = [&] { CHECK(calls.enabled == 0); };
  collector.collect();
  CHECK(calls.enabled == 1);
  agent.while_held = [] {};
  collector.end();
}
