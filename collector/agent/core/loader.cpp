#include "agent/core/loader.h"

#include <atomic>

#include <dlfcn.h>

namespace lanescope::agent {
namespace {

using Load = void* (*)(const char*, int);
using Iterate = int (*)(VisitFile, void*);

constinit std::atomic<Load> next_load{nullptr};
constinit std::atomic<Iterate> next_iterate{nullptr};

template <typename Function>
Function next(std::atomic<Function>& known, const char* name) noexcept {
  Function function = known.load(std::memory_order_relaxed);
  if (function == nullptr) known.store(function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)), std::memory_order_relaxed);
  return function;
}

}  // namespace

void* load_file(const char* path, int mode) noexcept {
  const Load load = next(next_load, "dlopen");
  return load != nullptr ? load(path, mode) : nullptr;
}

int visit_loaded_files(VisitFile visit, void* data) noexcept {
  const Iterate iterate = next(next_iterate, "dl_iterate_phdr");
  return iterate != nullptr ? iterate(visit, data) : 0;
}

}  // namespace lanescope::agent
