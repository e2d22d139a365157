// Stands for a program of the recorder that is a part of lanescope, so that packages have what both are linked with once: runs the lanescope that
// lies beside it, which knows by the first argument what it is to be (app/cli/main.cpp). A link would do, but wheels hold none.
#include <unistd.h>
#include <climits>
#include <cstdio>
#include <cstring>

int main(int count, char** arguments) {
  static char path[PATH_MAX];
  static char name[PATH_MAX];
  constexpr char kWhole[] = "lanescope";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  char* const last = length > 0 ? std::strrchr(path, '/') : nullptr;
  if (count == 0 || last == nullptr || static_cast<std::size_t>(last + 1 - path) + sizeof(kWhole) > sizeof(path)) {
    std::fputs("This part of Lanescope does not find its folder: /proc can't be read.\n", stderr);
    return 127;
  }
  std::strcpy(name, last + 1);
  std::strcpy(last + 1, kWhole);
  arguments[0] = name;
  execv(path, arguments);
  std::perror(path);
  return 127;
}
