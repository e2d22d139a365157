#include "collector/session/library_traces.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lanescope::session {
namespace {

enum class Switch {
  kNone,      // it always marks its calls
  kVariable,  // if variables of its environment have a level
  kMarker,    // by a library of ours that is loaded in front of it, or by it
};

struct Library {
  std::string_view trace;
  const char* domain;
  std::array<const char*, 3> variables;  // null: fewer than three
  const char* level;
  Switch on;
  MarkedLibrary marked = {};  // kMarker
};

// Level 1 marks calls that do work, level 2 all calls. cuSPARSE marks nothing at level 1.
constexpr std::array kLibraries{
    Library{"nccl", "NCCL", {}, nullptr, Switch::kNone},
    Library{"cublas", "cuBLAS", {"CUBLAS_NVTX_LEVEL", "CUBLASLT_NVTX_LEVEL", "CUBLASXT_NVTX_LEVEL"}, "1", Switch::kVariable},
    Library{"cublas-verbose", "cuBLAS", {"CUBLAS_NVTX_LEVEL", "CUBLASLT_NVTX_LEVEL", "CUBLASXT_NVTX_LEVEL"}, "2", Switch::kVariable},
    Library{"cudnn", "cuDNN", {"CUDNN_NVTX_LEVEL"}, "1", Switch::kVariable},
    Library{"cusparse", "CUSPARSE", {"CUSPARSE_NVTX_LEVEL"}, "2", Switch::kVariable},
    Library{"cusparse-verbose", "CUSPARSE", {"CUSPARSE_NVTX_LEVEL"}, "2", Switch::kVariable},
    Library{"cusolver", "cusolverDn", {"CUSOLVERDN_NVTX_LEVEL"}, "1", Switch::kVariable},
    Library{"cusolver-verbose", "cusolverDn", {"CUSOLVERDN_NVTX_LEVEL"}, "2", Switch::kVariable},
    Library{"mpi", "MPI", {}, nullptr, Switch::kMarker, MarkedLibrary::kMpi},
    Library{"ucx", "UCX", {}, nullptr, Switch::kMarker, MarkedLibrary::kUcx},
    Library{"openmp", "OpenMP", {}, nullptr, Switch::kMarker, MarkedLibrary::kOpenMp},
    Library{"openacc", "OpenACC", {}, nullptr, Switch::kMarker, MarkedLibrary::kOpenAcc},
    Library{"opengl", "OpenGL", {}, nullptr, Switch::kMarker, MarkedLibrary::kOpenGl},
};

bool lists(std::span<const std::string> traces, std::string_view trace) { return std::find(traces.begin(), traces.end(), trace) != traces.end(); }

}  // namespace

std::vector<std::string> library_traces() {
  std::vector<std::string> traces;
  for (const Library& library : kLibraries) traces.emplace_back(library.trace);
  return traces;
}

bool needs_launch(std::string_view trace) {
  return std::any_of(kLibraries.begin(), kLibraries.end(), [&](const Library& library) { return library.trace == trace && library.on != Switch::kNone; });
}

void add_library_traces(std::span<const std::string> traces, CaptureSettings& settings) {
  for (const Library& library : kLibraries) {
    if (!lists(traces, library.trace)) continue;
    settings.trace_cuda |= library.on == Switch::kVariable;
    const bool is_marked = std::find(settings.marked.begin(), settings.marked.end(), library.marked) != settings.marked.end();
    if (library.on == Switch::kMarker && !is_marked) settings.marked.push_back(library.marked);
    if (!settings.trace_nvtx) {
      settings.trace_nvtx = true;
      settings.domain_rule = DomainRule::kOnlyListed;
      settings.domains.clear();
    }
    const bool is_needed = settings.domain_rule == DomainRule::kOnlyListed && !lists(settings.domains, library.domain);
    if (is_needed) settings.domains.emplace_back(library.domain);
  }
}

std::vector<EnvironmentChange> library_variables(std::span<const std::string> traces) {
  std::vector<EnvironmentChange> changes;
  for (const Library& library : kLibraries) {
    if (!lists(traces, library.trace)) continue;
    for (const char* variable : library.variables)
      if (variable != nullptr && std::getenv(variable) == nullptr) changes.push_back({variable, library.level});
  }
  return changes;
}

}  // namespace lanescope::session
