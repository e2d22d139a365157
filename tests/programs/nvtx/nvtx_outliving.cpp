// A target that outlives its recorder: it and its children make ranges, 1,000 a millisecond, until SIGTERM comes; then it ends them and exits with 5. SIGUSR1
// makes it fork a child.
//
// nvtx_outliving NUMBERS [closes]: each process appends a line with its number to that file once it has made ranges, without a system call between two of
// them. With `closes`, it first closes all descriptors that it does not know, as daemons do.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

namespace {

volatile std::sig_atomic_t is_to_fork = 0;
volatile std::sig_atomic_t is_to_end = 0;

void make_ranges() {
  for (int i = 0; i < 1'000; ++i) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void note_number(const char* file) {
  make_ranges();
  std::FILE* const numbers = std::fopen(file, "a");
  std::fprintf(numbers, "%d\n", static_cast<int>(getpid()));
  std::fclose(numbers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::signal(SIGUSR1, [](int) { is_to_fork = 1; });
  std::signal(SIGTERM, [](int) { is_to_end = 1; });
  std::vector<pid_t> children;
  make_ranges();
  if (argc > 2 && std::string_view(argv[2]) == "closes") syscall(SYS_close_range, 3u, ~0u, 0u);
  note_number(argv[1]);
  while (is_to_end == 0) {
    make_ranges();
    if (is_to_fork == 0) continue;
    is_to_fork = 0;
    children.push_back(fork());
    if (children.back() != 0) continue;
    children.clear();
    note_number(argv[1]);
  }
  for (const pid_t child : children) {
    int status = 0;
    kill(child, SIGTERM);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5) return 1;
  }
  std::printf("ended as it should\n");
  return 5;
}
