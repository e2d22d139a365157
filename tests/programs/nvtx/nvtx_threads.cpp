// A target that uses everything of NVTX that a timeline shows, on several threads and in a forked child, without a GPU.
//
// nvtx_threads [STEPS]: prints what it did; everything is countable by construction (nvtx_threads_facts.h).
#include "nvtx_threads_facts.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace lanescope::test::nvtx_threads;

nvtxDomainHandle_t pipeline;
nvtxStringHandle_t step_name;

nvtxEventAttributes_t empty_attributes() {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

nvtxEventAttributes_t ascii(const char* text) {
  nvtxEventAttributes_t attributes = empty_attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

void step(std::uint64_t number) {
  nvtxEventAttributes_t attributes = empty_attributes();
  attributes.category = kComputeCategory;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = kStepColor;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = number;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = step_name;
  nvtxDomainRangePushEx(pipeline, &attributes);

  nvtxEventAttributes_t load = ascii("load");
  load.category = kDefaultCategory;
  nvtxRangePushEx(&load);
  nvtxRangePop();
  nvtxRangePushA("compute");
  nvtxRangePushW(L"größe π");
  nvtxRangePop();
  nvtxRangePop();
  if (number % kMarkEvery == 0) nvtxMarkA("checkpoint");

  nvtxDomainRangePop(pipeline);
}

void worker(std::uint64_t index, std::uint64_t steps, const std::array<nvtxRangeId_t, kRequests>& requests) {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), ("worker " + std::to_string(index)).c_str());
  for (std::uint64_t number = 0; number < steps; ++number) step(number);
  for (std::uint64_t request = index; request < kRequests; request += kWorkers) nvtxDomainRangeEnd(pipeline, requests[request]);
}

void mark_payloads() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateW(L"payloads");
  const auto mark = [domain](const char* text, int type, auto set) {
    nvtxEventAttributes_t attributes = ascii(text);
    attributes.payloadType = type;
    set(attributes.payload);
    nvtxDomainMarkEx(domain, &attributes);
  };
  mark("unsigned 64", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& payload) { payload.ullValue = ~0ull; });
  mark("signed 64", NVTX_PAYLOAD_TYPE_INT64, [](auto& payload) { payload.llValue = kNegativePayload; });
  mark("double", NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& payload) { payload.dValue = kRealPayload; });
  mark("unsigned 32", NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [](auto& payload) { payload.uiValue = 4'000'000'000u; });
  mark("signed 32", NVTX_PAYLOAD_TYPE_INT32, [](auto& payload) { payload.iValue = -5; });
  mark("float", NVTX_PAYLOAD_TYPE_FLOAT, [](auto& payload) { payload.fValue = static_cast<float>(kRealPayload); });
}

// The child inherits the domain and the registered string, and makes a domain of its own.
int run_forked_child() {
  const pid_t child = fork();
  if (child == 0) {
    nvtxDomainRangePop(pipeline);  // the parent's open ranges are not open here
    const nvtxDomainHandle_t own = nvtxDomainCreateA("child");
    nvtxEventAttributes_t attributes = ascii("only in the child");
    nvtxDomainMarkEx(own, &attributes);
    for (std::uint64_t number = 0; number < kChildSteps; ++number) step(number);
    _exit(0);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t steps = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kSteps;
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "conductor");
  pipeline = nvtxDomainCreateA("pipeline");
  step_name = nvtxDomainRegisterStringW(pipeline, L"step");
  nvtxDomainNameCategoryA(pipeline, kComputeCategory, "compute");
  nvtxNameCategoryW(kDefaultCategory, L"io");

  nvtxRangePushA("whole run");
  std::array<nvtxRangeId_t, kRequests> requests{};
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    const std::string name = "request " + std::to_string(i);
    const nvtxEventAttributes_t attributes = ascii(name.c_str());
    requests[i] = nvtxDomainRangeStartEx(pipeline, &attributes);
  }
  std::vector<std::thread> workers;
  for (std::uint64_t index = 0; index < kWorkers; ++index) workers.emplace_back(worker, index, steps, std::cref(requests));
  for (std::thread& thread : workers) thread.join();

  mark_payloads();
  nvtxDomainRangePushEx(pipeline, nullptr);
  const int child_status = run_forked_child();
  nvtxDomainRangePop(pipeline);
  nvtxRangePop();

  const std::uint64_t marks = kWorkers * ((steps + kMarkEvery - 1) / kMarkEvery) + kPayloadMarks;
  std::printf("%llu push/pop ranges, %llu start/end ranges, %llu marks; child ended with %d\n",
              static_cast<unsigned long long>(kWorkers * steps * kRangesPerStep + 2), static_cast<unsigned long long>(kRequests),
              static_cast<unsigned long long>(marks), child_status);
  return child_status == 0 ? 0 : 1;
}
