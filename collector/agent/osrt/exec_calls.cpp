// The functions by which a process becomes another program. What the agent holds of CUPTI's records would be gone with the old one: it is
// handed over first. Where the agent is preloaded they stand before the C library's; elsewhere cupti/exit_hook.h leads to them.
//
// They hold nothing while the real call runs, which seldom returns. In the child of a vfork, where most programs begin, they only pass on.
#include <cstdarg>
#include <cstddef>
#include <cstring>

#include <alloca.h>
#include <unistd.h>

#include "agent/osrt/trace.h"

#if LANESCOPE_HAVE_CUPTI
#include "agent/cupti/exit_hook.h"
#include "agent/cupti/injection.h"
#endif

namespace {

using lanescope::agent::osrt::Function;
using Texts = char* const*;

constinit Function real_execve{"execve", nullptr};
constinit Function real_execv{"execv", nullptr};
constinit Function real_execvp{"execvp", nullptr};
constinit Function real_execvpe{"execvpe", nullptr};
constinit Function real_fexecve{"fexecve", nullptr};

void hand_over() noexcept {
#if LANESCOPE_HAVE_CUPTI
  lanescope::agent::cupti::hand_over();
#endif
}

// Programs look for others by trying: what can't be run ends nothing.
void hand_over_for(const char* file) noexcept {
  const bool is_path = file != nullptr && std::strchr(file, '/') != nullptr;
  if (!is_path || access(file, X_OK) == 0) hand_over();
}

template <typename... Parameters>
int go_on(Function& function, Parameters... parameters) noexcept {
  return reinterpret_cast<int (*)(Parameters...)>(function.address())(parameters...);
}

// Of a list that ends in a null pointer, that one included.
std::size_t count(const char* first, std::va_list& others) noexcept {
  std::size_t number = 1;
  for (const char* text = first; text != nullptr; text = va_arg(others, const char*)) ++number;
  return number;
}

void copy(const char* first, std::va_list& others, char** arguments) noexcept {
  for (const char* text = first; text != nullptr; text = va_arg(others, const char*)) *arguments++ = const_cast<char*>(text);
  *arguments = nullptr;
}

}  // namespace

#define LANESCOPE_HIDDEN __attribute__((visibility("hidden")))
#define LANESCOPE_EXPORT __attribute__((visibility("default")))

// Two names each, as in wrappers.cpp.
#define LANESCOPE_ALSO_AS(name, ...) \
  extern "C" LANESCOPE_EXPORT __attribute__((alias("own_" #name))) int lanescope_##name(__VA_ARGS__) __asm__(#name);

extern "C" LANESCOPE_HIDDEN int own_execve(const char* path, Texts arguments, Texts environment) {
  hand_over_for(path);
  return go_on(real_execve, path, arguments, environment);
}
LANESCOPE_ALSO_AS(execve, const char*, Texts, Texts)

extern "C" LANESCOPE_HIDDEN int own_execv(const char* path, Texts arguments) {
  hand_over_for(path);
  return go_on(real_execv, path, arguments);
}
LANESCOPE_ALSO_AS(execv, const char*, Texts)

extern "C" LANESCOPE_HIDDEN int own_execvp(const char* file, Texts arguments) {
  hand_over_for(file);
  return go_on(real_execvp, file, arguments);
}
LANESCOPE_ALSO_AS(execvp, const char*, Texts)

extern "C" LANESCOPE_HIDDEN int own_execvpe(const char* file, Texts arguments, Texts environment) {
  hand_over_for(file);
  return go_on(real_execvpe, file, arguments, environment);
}
LANESCOPE_ALSO_AS(execvpe, const char*, Texts, Texts)

extern "C" LANESCOPE_HIDDEN int own_fexecve(int file, Texts arguments, Texts environment) {
  hand_over();
  return go_on(real_fexecve, file, arguments, environment);
}
LANESCOPE_ALSO_AS(fexecve, int, Texts, Texts)

// Puts the arguments behind `first` into an array of this function's own, named `arguments`, and leaves `others` behind their end.
#define LANESCOPE_GATHER(first)                                                         \
  std::va_list others;                                                                  \
  va_start(others, first);                                                              \
  char** arguments = static_cast<char**>(alloca(count(first, others) * sizeof(char*))); \
  va_end(others);                                                                       \
  va_start(others, first);                                                              \
  copy(first, others, arguments);

extern "C" LANESCOPE_HIDDEN int own_execl(const char* path, const char* first, ...) {
  LANESCOPE_GATHER(first)
  va_end(others);
  return own_execv(path, arguments);
}
LANESCOPE_ALSO_AS(execl, const char*, const char*, ...)

extern "C" LANESCOPE_HIDDEN int own_execlp(const char* file, const char* first, ...) {
  LANESCOPE_GATHER(first)
  va_end(others);
  return own_execvp(file, arguments);
}
LANESCOPE_ALSO_AS(execlp, const char*, const char*, ...)

extern "C" LANESCOPE_HIDDEN int own_execle(const char* path, const char* first, ...) {
  LANESCOPE_GATHER(first)
  const auto environment = va_arg(others, Texts);
  va_end(others);
  return own_execve(path, arguments, environment);
}
LANESCOPE_ALSO_AS(execle, const char*, const char*, ...)

// While the agent is loaded, as in wrappers.cpp.
__attribute__((constructor)) static void find_exec_functions() {
  for (Function* function : {&real_execve, &real_execv, &real_execvp, &real_execvpe, &real_fexecve}) function->address();
#if LANESCOPE_HAVE_CUPTI
  static constexpr auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  static const lanescope::agent::cupti::Replacement replacements[] = {
      {"execve", address(own_execve)},   {"execv", address(own_execv)}, {"execvp", address(own_execvp)}, {"execvpe", address(own_execvpe)},
      {"fexecve", address(own_fexecve)}, {"execl", address(own_execl)}, {"execlp", address(own_execlp)}, {"execle", address(own_execle)},
  };
  lanescope::agent::cupti::exec_replacements = replacements;
#endif
}
