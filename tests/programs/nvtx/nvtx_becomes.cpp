// A target that becomes something else before or between its ranges, as real programs do: it sets its title, restarts itself, or runs from memory.
//
// nvtx_becomes WAYS RANGES: WAYS are letters, done in order: a range (r), its title written over its arguments (t), a restart, once (x), a restart from a
// file that exists only in memory, once (m), another program, `sleep`, for 0.3 s (s), a pause of 100 ms (p). Then RANGES ranges, one a millisecond.
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>

namespace {

void make_range() {
  nvtxRangePushA("range");
  nvtxRangePop();
}

void pause_for(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// The started program does the rest of the ways.
[[noreturn]] void begin_anew(int file, const std::string& path, char** arguments, const char* rest) {
  std::vector<char*> again(arguments, arguments + 3);
  std::string ways(*rest == '\0' ? "-" : rest);
  again[1] = ways.data();
  again.push_back(nullptr);
  if (file >= 0) fexecve(file, again.data(), environ);
  execv(path.c_str(), again.data());
  std::_Exit(3);
}

// A program can be run from it only by its descriptor.
int copy_in_memory() {
  const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int to = memfd_create("nvtx_becomes", MFD_CLOEXEC);
  char buffer[1 << 16];
  for (ssize_t got = 0; (got = read(from, buffer, sizeof(buffer))) > 0;)
    if (write(to, buffer, static_cast<std::size_t>(got)) != got) std::_Exit(3);
  close(from);
  return to;
}

void set_title(int count, char** arguments) {
  char* const end = arguments[count - 1] + std::strlen(arguments[count - 1]);
  std::memset(arguments[0], 0, static_cast<std::size_t>(end - arguments[0]));
  std::strcpy(arguments[0], "engine 1");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string ways = arguments[1];
  const int ranges = std::atoi(arguments[2]);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i] == 'r') make_range();
    if (ways[i] == 'p') pause_for(100);
    if (ways[i] == 't') set_title(count, arguments);
    if (ways[i] == 'x') begin_anew(-1, "/proc/self/exe", arguments, ways.c_str() + i + 1);
    if (ways[i] == 's') execl("/bin/sleep", "sleep", "0.3", nullptr);
    if (ways[i] == 'm') begin_anew(copy_in_memory(), "", arguments, ways.c_str() + i + 1);
  }
  for (int i = 0; i < ranges; ++i) {
    make_range();
    pause_for(1);
  }
  return 0;
}
