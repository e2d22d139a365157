// Replaces NVIDIA's libraries in tests that need only their ranges: each marks a call "work" in its domain if its variable is 1 or more, and a call "query"
// if it is 2, as the libraries do. cuSPARSE marks both only at 2, NCCL always marks the first. The program has a range "own" in the default domain.
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>

namespace {

struct Library {
  const char* domain;
  const char* variable;  // null: it always marks its calls
  int lowest_level = 1;  // at which it marks calls
};
constexpr Library kLibraries[] = {{"NCCL", nullptr},
                                  {"cuBLAS", "CUBLAS_NVTX_LEVEL"},
                                  {"cuDNN", "CUDNN_NVTX_LEVEL"},
                                  {"cusolverDn", "CUSOLVERDN_NVTX_LEVEL"},
                                  {"CUSPARSE", "CUSPARSE_NVTX_LEVEL", 2}};

void mark(nvtxDomainHandle_t domain, const char* call) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = call;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
}

}  // namespace

int main() {
  nvtxRangePushA("own");
  for (const Library& library : kLibraries) {
    const char* value = library.variable == nullptr ? "1" : std::getenv(library.variable);
    const int level = value == nullptr ? 0 : std::atoi(value);
    if (level < library.lowest_level) continue;
    const nvtxDomainHandle_t domain = nvtxDomainCreateA(library.domain);
    mark(domain, "work");
    if (level > 1) mark(domain, "query");
  }
  nvtxRangePop();
}
