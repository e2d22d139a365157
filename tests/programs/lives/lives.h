// Shared declarations of the ways to live and end, and the lists of these ways.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace lives {

inline constexpr int kCode = 7;  // the exit code of most ways
inline constexpr uid_t kNobody = 65534;

extern char** arguments;  // of the program: its name, the way, and the way's argument

void steps(int count);      // ranges "step"
int number(int otherwise);  // the way's argument
void must(bool succeeded, const char* what);
int code_of(pid_t child);  // waits for it; 128 + signal if a signal ended it
void wait_for_all();
[[noreturn]] void become(const char* way, const char* argument = nullptr);
int child_with_steps(const std::function<pid_t()>& make);

enum class Begin {
  kWithSteps,   // ranges and lines come first
  kWithItsWay,  // the way comes before the agent is there
};
struct Way {
  const char* name;
  int (*live)();  // returns the exit code, if it returns
  Begin begin = Begin::kWithSteps;
};
std::vector<Way> endings();
std::vector<Way> families();
std::vector<Way> confinement();
std::vector<Way> talking();

}  // namespace lives
