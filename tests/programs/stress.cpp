// Everything at once, for a number of seconds: short-lived threads, children by fork, _Fork and vfork, other programs, signals whose handlers make ranges,
// libraries that are loaded and unloaded, locks and pipes for which threads wait. Prints "as it should be" and exits with 23 if every child ended as it was
// told to and every call did what it should.
//
//   stress SECONDS
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

extern char** environ;

namespace {

std::atomic<bool> is_over{false};
std::atomic<int> faults{0};
pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

void check(bool holds, const char* what) {
  if (!holds && faults.fetch_add(1) < 5) std::fprintf(stderr, "stress: %s (errno %d)\n", what, errno);
}

// Repeats the call while it is interrupted.
int exit_code_of(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void work() {
  nvtxRangePushA("work");
  pthread_mutex_lock(&shared_lock);
  usleep(1);
  pthread_mutex_unlock(&shared_lock);
  nvtxRangePop();
}

void churn() {
  while (!is_over) {
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
  }
}

void fork_often() {
  for (int code = 1; !is_over; code = code % 100 + 1) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 10; ++i) {
        nvtxRangePushA("in the child");
        nvtxRangePop();
      }
      std::thread([] { usleep(1); }).join();
      _exit(code);
    }
    check(child > 0 && exit_code_of(child) == code, "a forked child");
  }
}

// Forks without the handlers of fork().
void fork_unannounced() {
  for (int code = 1; !is_over; code = code % 100 + 1) {
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
      for (int i = 0; i < 10; ++i) {
        nvtxRangePushA("in an unannounced child");
        nvtxRangePop();
      }
      syscall(SYS_exit_group, code);
    }
    check(child > 0 && exit_code_of(child) == code, "a cloned child");
    usleep(500);
  }
}

void start_programs() {
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  while (!is_over) {
    pid_t spawned = 0;
    check(posix_spawn(&spawned, name, nullptr, nullptr, arguments, environ) == 0 && exit_code_of(spawned) == 0, "a spawned program");
    const pid_t shared = vfork();
    if (shared == 0) {
      execl("/nonexistent/program", "program", static_cast<char*>(nullptr));
      _exit(9);
    }
    check(exit_code_of(shared) == 9, "the child of a vfork");
    const pid_t child = fork();
    if (child == 0) {
      execv(name, arguments);
      _exit(127);
    }
    check(exit_code_of(child) == 0, "a program behind fork");
  }
}

void load_and_unload() {
  while (!is_over) {
    for (const char* name : {"libresolv.so.2", "libnsl.so.1", "libthread_db.so.1", "libanl.so.1"})
      if (void* library = dlopen(name, RTLD_NOW)) dlclose(library);
    usleep(100);
  }
}

void talk_through_pipes() {
  int ends[2];
  if (pipe(ends) != 0) return check(false, "a pipe");
  while (!is_over) {
    char letter = 'a';
    std::thread writer([&] {
      usleep(10);
      check(write(ends[1], &letter, 1) == 1, "a write");
    });
    pollfd source{ends[0], POLLIN, 0};
    int ready = 0;
    do ready = poll(&source, 1, -1);
    while (ready < 0 && errno == EINTR);
    char answer = 0;
    check(ready == 1 && read(ends[0], &answer, 1) == 1 && answer == letter, "a read");
    writer.join();
  }
  close(ends[0]);
  close(ends[1]);
}

void on_signal(int) {
  const int saved = errno;
  nvtxRangePushA("in a handler");
  nvtxRangePop();
  errno = saved;
}

void send_signals() {
  while (!is_over) {
    kill(getpid(), SIGUSR1);
    usleep(300);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  nvtxMarkA("begin");
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (void (*task)() : {churn, churn, fork_often, fork_unannounced, start_programs, load_and_unload, talk_through_pipes, send_signals})
    threads.emplace_back(task);
  timespec left{.tv_sec = static_cast<time_t>(seconds), .tv_nsec = static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  std::puts(faults == 0 ? "as it should be" : "not as it should be");
  return faults == 0 ? 23 : 24;
}
