// Shows a program's use of OpenACC as NVTX ranges of the domain "OpenACC": compute constructs with their launches, data regions with their copies, updates,
// waits, and the begin and end of devices.
//
// A runtime with the profiling interface of OpenACC 2.6 (NVIDIA's, GCC's) finds acc_register_library here through ACC_PROFLIB. It calls the registered
// functions on the thread that they describe, each begin before its end. So ranges nest as the runtime's events do.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <nvtx3/nvToolsExt.h>

#include "agent/openacc/acc_prof.h"

namespace lanescope::agent::openacc {
namespace {

enum class Kind : std::uint32_t { kConstruct = 1, kLaunch, kData, kWait, kDevice };  // categories

struct Sort {
  Event begin;
  Kind kind;
  const char* name;
};
constexpr Sort kSorts[] = {{kDeviceInitBegin, Kind::kDevice, "init device"},
                           {kDeviceShutdownBegin, Kind::kDevice, "shut down device"},
                           {kEnterDataBegin, Kind::kData, "enter data"},
                           {kExitDataBegin, Kind::kData, "exit data"},
                           {kUpdateBegin, Kind::kData, "update"},
                           {kComputeConstructBegin, Kind::kConstruct, "compute construct"},
                           {kLaunchBegin, Kind::kLaunch, "launch"},
                           {kUploadBegin, Kind::kData, "upload"},
                           {kDownloadBegin, Kind::kData, "download"},
                           {kWaitBegin, Kind::kWait, "wait"}};
constexpr std::size_t kLongestText = 256;

// Set once, before the runtime calls anything.
nvtxDomainHandle_t domain = nullptr;

// True if the runtime has filled the structure up to this member.
template <typename Info, typename Member>
bool has(const Info* info, const Member* member) noexcept {
  const auto* const end = reinterpret_cast<const char*>(member) + sizeof(Member);
  return info != nullptr && info->valid_bytes >= end - reinterpret_cast<const char*>(info);
}

const Sort& sort_of(Event event) noexcept {
  for (const Sort& sort : kSorts)
    if (sort.begin == event) return sort;
  return kSorts[0];
}

const char* construct_name(const EventInfo* event) noexcept {
  if (!has(event, &event->construct)) return "compute construct";
  switch (event->construct) {
    case Construct::kParallel:
      return "parallel";
    case Construct::kKernels:
      return "kernels";
    case Construct::kSerial:
      return "serial";
  }
  return "compute construct";
}

bool is_of_something(Event event) noexcept { return event == kLaunchBegin || event == kUploadBegin || event == kDownloadBegin; }

void begin(ProfileInfo* info, EventInfo* event, ApiInfo*) {
  const Sort& sort = sort_of(has(info, &info->event) ? info->event : kDeviceInitBegin);
  char text[kLongestText];
  std::size_t length = 0;
  const auto put = [&](const char* part) {
    const std::size_t room = sizeof(text) - 1 - length;
    const std::size_t bytes = strnlen(part, room);
    std::memcpy(text + length, part, bytes);
    length += bytes;
    text[length] = '\0';
  };
  put(sort.begin == kComputeConstructBegin ? construct_name(event) : sort.name);
  if (is_of_something(sort.begin) && has(event, &event->name) && event->name != nullptr && *event->name != '\0') {
    put(" ");
    put(event->name);
  }
  if (has(info, &info->line) && info->source_file != nullptr && *info->source_file != '\0' && info->line > 0) {
    const char* const slash = std::strrchr(info->source_file, '/');
    char line[16];
    std::snprintf(line, sizeof(line), ":%d", info->line);
    put(", ");
    put(slash != nullptr ? slash + 1 : info->source_file);
    put(line);
  }
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = static_cast<std::uint32_t>(sort.kind);
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  if ((sort.begin == kUploadBegin || sort.begin == kDownloadBegin) && has(event, &event->bytes)) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = event->bytes;
  }
  nvtxDomainRangePushEx(domain, &attributes);
}

void end(ProfileInfo*, EventInfo*, ApiInfo*) { nvtxDomainRangePop(domain); }

}  // namespace
}  // namespace lanescope::agent::openacc

extern "C" __attribute__((visibility("default"))) void acc_register_library(lanescope::agent::openacc::Register add, lanescope::agent::openacc::Register,
                                                                            lanescope::agent::openacc::LookUp) {
  using namespace lanescope::agent::openacc;
  domain = nvtxDomainCreateA("OpenACC");
  if (domain == nullptr) return;  // nobody records
  const char* const kinds[] = {"construct", "launch", "data", "wait", "device"};
  for (std::uint32_t kind = 0; kind < 5; ++kind) nvtxDomainNameCategoryA(domain, kind + 1, kinds[kind]);
  for (const Sort& sort : kSorts) {
    add(sort.begin, begin, Registration::kAlways);
    add(static_cast<Event>(sort.begin + 1), end, Registration::kAlways);
  }
}
