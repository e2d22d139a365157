// dlsym(), by which programs ask for functions of OpenGL. If another function is asked for, or if the caller matters (RTLD_NEXT), a few instructions jump to
// the real dlsym(), which finds the stack and the registers as its caller left them.
#include <atomic>

#include <dlfcn.h>

#include "agent/core/kept_caller.h"
#include "agent/opengl/functions.h"

#if defined(__x86_64__)

namespace {

using Find = void* (*)(void*, const char*);

constinit std::atomic<Find> real{nullptr};

// The C library's, or that of another tool that stands before it and after us.
Find real_dlsym() noexcept {
  Find known = real.load(std::memory_order_relaxed);
  if (known == nullptr) real.store(known = reinterpret_cast<Find>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5")), std::memory_order_relaxed);
  return known;
}

void* find_in_library(void* library, const char* name) { return lanescope::agent::opengl::answer(name, real_dlsym()(library, name)); }

// A program that searches everything that is loaded finds our function even if OpenGL is not loaded: then the answer must be that there is none.
void* find_anywhere(void* everywhere, const char* name) {
  void* const ours = real_dlsym()(everywhere, name);
  return lanescope::agent::opengl::next_of(name) != nullptr ? ours : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) void* lanescope_choose_dlsym(void* library, const char* name) {
  if (library == RTLD_NEXT || !lanescope::agent::opengl::is_stood_before(name)) return reinterpret_cast<void*>(real_dlsym());
  return reinterpret_cast<void*>(library == RTLD_DEFAULT ? &find_anywhere : &find_in_library);
}

__asm__(LANESCOPE_CODE LANESCOPE_LABEL_OF_ALL("dlsym") LANESCOPE_JUMP_TO_CHOSEN("lanescope_choose_dlsym", "") LANESCOPE_END_OF_LABEL("dlsym"));

#endif
