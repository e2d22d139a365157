// Starts a program several times, as torchrun does: each child has its rank in its environment, and the launcher has no rank.
//
// rank_launcher COUNT [NAME=VALUE...] PROGRAM [ARGUMENTS...]: further variables for all of them; "{}" in a value is the rank. Waits for all; its
// exit code is that of the last child that failed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void set_variables(int rank, int count, char** assignments, char** end) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
  for (; assignments != end; ++assignments) {
    const std::string text = *assignments;
    const std::size_t equals = text.find('=');
    std::string value = text.substr(equals + 1);
    if (const std::size_t place = value.find("{}"); place != std::string::npos) value.replace(place, 2, std::to_string(rank));
    setenv(text.substr(0, equals).c_str(), value.c_str(), 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 2 ? std::atoi(argv[1]) : 0;
  char** program = argv + 2;
  while (count > 0 && *program != nullptr && std::strchr(*program, '=') != nullptr) ++program;
  if (count <= 0 || *program == nullptr) {
    std::fprintf(stderr, "rank_launcher COUNT [NAME=VALUE...] PROGRAM [ARGUMENTS...]\n");
    return 2;
  }
  for (int rank = 0; rank < count; ++rank) {
    if (fork() != 0) continue;
    set_variables(rank, count, argv + 2, program);
    execvp(*program, program);
    std::perror(*program);
    _exit(127);
  }
  std::printf("launched %d\n", count);
  std::fflush(stdout);
  int failed = 0;
  int status = 0;
  while (wait(&status) > 0)
    if (status != 0) failed = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return failed;
}
