// Ranges to capture: rounds of 10 marks "outside", then a range "wanted" around 20 ranges "inside", then 10 marks "outside" again.
//
// nvtx_captures KIND [ROUNDS [FILE]]: KIND says how "wanted" is made. plain: a push of a C string in the default domain; registered: a push of a registered
// string in the domain "app"; ascii: a push of a C string there; start: nvtxRangeStart, ended by another thread; left: a push by a thread that ends without a
// pop; working: as plain, with 0.1 s of work inside. After the line "ready" it waits for FILE. Exits with code 3.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace {

nvtxDomainHandle_t domain = nullptr;
nvtxStringHandle_t registered = nullptr;

void push_in_domain(bool as_registered) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = as_registered ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (as_registered) {
    attributes.message.registered = registered;
  } else {
    attributes.message.ascii = "wanted";
  }
  nvtxDomainRangePushEx(domain, &attributes);
}

void inside() {
  for (int i = 0; i < 20; ++i) {
    nvtxRangePushA("inside");
    nvtxRangePop();
  }
}

void outside() {
  for (int i = 0; i < 10; ++i) nvtxMarkA("outside");
}

void round(const char* kind) {
  outside();
  if (std::strcmp(kind, "plain") == 0) {
    nvtxRangePushA("wanted");
    inside();
    nvtxRangePop();
  } else if (std::strcmp(kind, "working") == 0) {
    nvtxRangePushA("wanted");
    inside();
    for (const std::clock_t begin = std::clock(); std::clock() - begin < CLOCKS_PER_SEC / 10;) continue;
    nvtxRangePop();
  } else if (std::strcmp(kind, "start") == 0) {
    const nvtxRangeId_t range = nvtxRangeStartA("wanted");
    inside();
    std::thread([range] { nvtxRangeEnd(range); }).join();
  } else if (std::strcmp(kind, "left") == 0) {
    std::thread([] {
      nvtxRangePushA("wanted");
      inside();
    }).join();
  } else {
    push_in_domain(std::strcmp(kind, "registered") == 0);
    inside();
    nvtxDomainRangePop(domain);
  }
  outside();
}

}  // namespace

int main(int argc, char** argv) {
  domain = nvtxDomainCreateA("app");
  registered = nvtxDomainRegisterStringA(domain, "wanted");
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  if (argc > 3) {
    std::puts("ready");
    std::fflush(stdout);
    while (access(argv[3], F_OK) != 0) usleep(1'000);
  }
  for (int i = 0; i < rounds; ++i) round(argv[1]);
  std::puts("done");
  return 3;
}
