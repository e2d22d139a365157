// A process of two threads that has loaded a library with much data forks for the first time. Prints by how many KiB the part of that library in its memory
// has grown.
//
//   fork_beside_wide_library LIBRARY
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

// From /proc/self/smaps.
long resident_kib(const std::string& library) {
  std::ifstream maps("/proc/self/smaps");
  const std::string name = library.substr(library.rfind('/'));
  bool is_of_library = false;
  long sum = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t word_end = line.find(' ');
    if (word_end != std::string::npos && word_end > 0 && line[word_end - 1] != ':') is_of_library = line.ends_with(name);
    if (is_of_library && line.starts_with("Rss:")) sum += std::atol(line.c_str() + 4);
  }
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 || dlopen(arguments[1], RTLD_NOW) == nullptr) return 2;
  std::atomic<bool> is_over{false};
  std::thread other([&] { is_over.wait(false); });
  const long before = resident_kib(arguments[1]);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  const long after = resident_kib(arguments[1]);
  is_over = true;
  is_over.notify_one();
  other.join();
  std::printf("%ld\n", after - before);
  return status == 0 && before > 0 ? 0 : 1;
}
