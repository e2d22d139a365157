// The functions by which a process becomes another program, except syscall() (kept_callers.h). If the agent is preloaded, they stand before the C library's;
// otherwise cupti/exit_hook.h redirects calls to them.
//
// They hold nothing while the real call runs, which seldom returns. In the child of a vfork, where most programs begin, they only pass the call on.
#include "agent/osrt/exec_calls.h"

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstring>

#include <alloca.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/channel/membership.h"
#include "agent/core/system_calls.h"
#include "agent/osrt/filter_calls.h"
#include "agent/osrt/kept_callers.h"
#include "agent/osrt/trace.h"
#include "agent/process/call_filters.h"

#if LANESCOPE_HAVE_CUPTI
#include "agent/cupti/exit_hook.h"
#include "agent/cupti/library/injection.h"
#endif

namespace {

using lanescope::agent::osrt::Function;
using lanescope::agent::osrt::hand_over_before_exec;
using Texts = char* const*;

constinit Function real_execve{"execve", nullptr};
constinit Function real_execv{"execv", nullptr};
constinit Function real_execvp{"execvp", nullptr};
constinit Function real_execvpe{"execvpe", nullptr};
constinit Function real_fexecve{"fexecve", nullptr};
constinit Function real_execl{"execl", nullptr};
constinit Function real_execlp{"execlp", nullptr};
constinit Function real_execle{"execle", nullptr};

// Searches as the C library does: in the folders of PATH if the name has no slash.
void hand_over_before_search(const char* file) noexcept { hand_over_before_exec(std::strchr(file, '/') != nullptr ? file : nullptr); }

template <typename... Parameters>
int go_on(Function& function, Parameters... parameters) noexcept {
  return reinterpret_cast<int (*)(Parameters...)>(function.address())(parameters...);
}

bool is_program(const char* path) noexcept {
  struct stat status {};
  return lanescope::agent::system::file_status(path, status) && S_ISREG(status.st_mode) && (status.st_mode & 0111) != 0;
}

// Number of elements of a list that ends in a null pointer, including that one.
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

void lanescope::agent::osrt::hand_over_before_exec(const char* path) noexcept {
  if (path != nullptr && may_look_at_session() && !is_program(path)) return;
  if (!may_do_all() || has_filter_of_its_own()) tell_of_program_left_alone();
#if LANESCOPE_HAVE_CUPTI
  cupti::hand_over();
#endif
}

#define LANESCOPE_HIDDEN __attribute__((visibility("hidden")))
#define LANESCOPE_EXPORT __attribute__((visibility("default")))

// Two names each, as in wrappers.cpp.
#define LANESCOPE_ALSO_AS(name, ...) extern "C" LANESCOPE_EXPORT __attribute__((nothrow, alias("own_" #name))) int lanescope_##name(__VA_ARGS__) __asm__(#name);

extern "C" LANESCOPE_HIDDEN int own_execve(const char* path, Texts arguments, Texts environment) {
  hand_over_before_exec(path);
  return go_on(real_execve, path, arguments, environment);
}
LANESCOPE_ALSO_AS(execve, const char*, Texts, Texts)

extern "C" LANESCOPE_HIDDEN int own_execv(const char* path, Texts arguments) {
  hand_over_before_exec(path);
  return go_on(real_execv, path, arguments);
}
LANESCOPE_ALSO_AS(execv, const char*, Texts)

extern "C" LANESCOPE_HIDDEN int own_execvp(const char* file, Texts arguments) {
  hand_over_before_search(file);
  return go_on(real_execvp, file, arguments);
}
LANESCOPE_ALSO_AS(execvp, const char*, Texts)

extern "C" LANESCOPE_HIDDEN int own_execvpe(const char* file, Texts arguments, Texts environment) {
  hand_over_before_search(file);
  return go_on(real_execvpe, file, arguments, environment);
}
LANESCOPE_ALSO_AS(execvpe, const char*, Texts, Texts)

extern "C" LANESCOPE_HIDDEN int own_fexecve(int file, Texts arguments, Texts environment) {
  hand_over_before_exec(nullptr);
  return go_on(real_fexecve, file, arguments, environment);
}
LANESCOPE_ALSO_AS(fexecve, int, Texts, Texts)

// Puts the arguments after `first` into a local array named `arguments`, and leaves `others` after their end.
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

std::array<lanescope::agent::Redirection, lanescope::agent::osrt::kExecCalls> lanescope::agent::osrt::redirected_exec_calls() noexcept {
  return {real_execve.redirected_to(own_execve),   real_execv.redirected_to(own_execv),     real_execvp.redirected_to(own_execvp),
          real_execvpe.redirected_to(own_execvpe), real_fexecve.redirected_to(own_fexecve), real_execl.redirected_to(own_execl),
          real_execlp.redirected_to(own_execlp),   real_execle.redirected_to(own_execle)};
}

// While the agent is loaded, as in wrappers.cpp.
__attribute__((constructor)) static void find_exec_functions() {
  for (Function* function : {&real_execve, &real_execv, &real_execvp, &real_execvpe, &real_fexecve, &real_execl, &real_execlp, &real_execle})
    function->address();
#if LANESCOPE_HAVE_CUPTI
  static constinit lanescope::agent::Redirection redirections[lanescope::agent::osrt::kExecCalls + 1];
  const auto calls = lanescope::agent::osrt::redirected_exec_calls();
  *std::copy(calls.begin(), calls.end(), redirections) = lanescope::agent::osrt::redirected_kept_callers().syscall;
  lanescope::agent::cupti::exec_redirections = redirections;
#endif
}
