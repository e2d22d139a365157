// The entry point of liblanescope-kernels.so.
#include <cstddef>
#include <new>

#include "agent/kernels/collector.h"
#include "agent/kernels/functions.h"
#include "agent/kernels/pc_collector.h"

extern "C" __attribute__((visibility("default"))) lanescope::agent::kernels::Collector* lanescope_kernels_open(std::uint32_t interface_version,
                                                                                                               lanescope::agent::kernels::Host& host,
                                                                                                               void* cupti) {
  using namespace lanescope::agent::kernels;
  alignas(PcCollector) static std::byte storage[sizeof(PcCollector)];
  Functions functions;
  if (interface_version != kInterfaceVersion || !resolve(cupti, functions)) return nullptr;
  return ::new (storage) PcCollector(host, functions);
}
