// Gives a number of names: nvtx_names WHAT COUNT. WHAT: threads, categories, domains, each with a name of its own; strings, each with another text; the-same,
// one text that is registered repeatedly. At the end it makes a mark in the last domain, or with the last string, and prints the processor time of all that,
// in milliseconds.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string_view what = arguments[1];
  const int many = std::atoi(arguments[2]);
  nvtxDomainHandle_t domain = nullptr;
  nvtxStringHandle_t string = nullptr;
  nvtxMarkA("begin");
  const std::clock_t begin = std::clock();
  for (int i = 0; i < many; ++i) {
    constexpr int kFirstThread = 1'000'000;
    const std::string name = "the name of number " + std::to_string(i);
    if (what == "threads") nvtxNameOsThreadA(static_cast<uint32_t>(kFirstThread + i), name.c_str());
    if (what == "categories") nvtxNameCategoryA(static_cast<uint32_t>(i + 1), name.c_str());
    if (what == "domains") domain = nvtxDomainCreateA(name.c_str());
    if (what == "strings") string = nvtxDomainRegisterStringA(nullptr, name.c_str());
    if (what == "the-same") string = nvtxDomainRegisterStringA(nullptr, "a step");
  }
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = string != nullptr ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (string != nullptr)
    attributes.message.registered = string;
  else
    attributes.message.ascii = "end";
  nvtxDomainMarkEx(domain, &attributes);
  std::printf("%ld\n", static_cast<long>((std::clock() - begin) * 1000 / CLOCKS_PER_SEC));
  return 0;
}
