// Functions of the loader: the C library's, or those of another tool that stands before it, but never the agent's own of these names
// (osrt/kept_callers.h, core/place_in_list.cpp).
//
// Not where a lock of the agent's is held: the loader has its own. Any thread.
#pragma once

#include <cstddef>

#include <link.h>

namespace lanescope::agent {

// As dlopen().
void* load_file(const char* path, int mode) noexcept;

// As dl_iterate_phdr().
using VisitFile = int (*)(dl_phdr_info*, std::size_t, void*);
int visit_loaded_files(VisitFile visit, void* data) noexcept;

}  // namespace lanescope::agent
