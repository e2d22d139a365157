// Calls into the C library with known numbers and least durations.
//
// 20 x usleep of 1 ms, 5 x poll of 2 ms, one pthread_cond_wait for 20 ms by another thread, one pthread_mutex_lock that waits 20 ms, one
// pthread_cond_clockwait of 3 ms; 2 x popen and pclose, which waits 20 ms for a sleep; a child by vfork and exec, and a forked child with 3 x usleep of 1 ms.
// Prints "errno 9" if a failed close left errno as it should be.
#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_barrier_t both;
bool go = false;

// True if a thread waits for the mutex, from glibc's fields.
bool is_waited_for() { return __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) > 1; }

void* other_thread(void*) {
  pthread_mutex_lock(&mutex);
  pthread_barrier_wait(&both);
  while (!go) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&mutex);  // held by main for 20 ms
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

// The number of libraries next to the program that found others: two that only they can find (RUNPATH, RPATH), and one that only the third can't find (-z
// nodefaultlib).
int load_neighbours() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length < 0) return 0;
  std::string folder(path, static_cast<std::size_t>(length));
  folder.resize(folder.rfind('/') + 1);
  int found = 0;
  for (const char* name : {"liblanescope_program_nodefaultlib.so", "liblanescope_program_runpath.so", "liblanescope_program_rpath.so"}) {
    void* library = dlopen((folder + name).c_str(), RTLD_NOW);
    if (library == nullptr) continue;
    found += reinterpret_cast<int (*)()>(dlsym(library, "finds_neighbour"))();
  }
  return found;
}

}  // namespace

int main() {
  pthread_t thread;
  pthread_barrier_init(&both, nullptr, 2);
  pthread_create(&thread, nullptr, other_thread, nullptr);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&mutex);  // the other thread has released it and waits for the condition
  pthread_mutex_unlock(&mutex);
  usleep(20'000);
  pthread_mutex_lock(&mutex);
  go = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&mutex);
  pthread_barrier_wait(&both);
  while (!is_waited_for()) sched_yield();
  usleep(20'000);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);

  for (int i = 0; i < 18; ++i) usleep(1'000);
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 3'000'000;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  pthread_mutex_lock(&mutex);
  pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&mutex);
  // One wait by futex, made as a system call.
  int word = 0;
  const timespec patience{.tv_sec = 0, .tv_nsec = 4'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &patience, nullptr, 0);
  std::printf("neighbours %d\n", load_neighbours());
  std::fflush(stdout);
  for (int i = 0; i < 5; ++i) poll(nullptr, 0, 2);
  for (int i = 0; i < 2; ++i) {
    FILE* const sleeper = popen("sleep 0.02", "r");
    if (sleeper != nullptr) pclose(sleeper);
  }
  const pid_t child = vfork();
  if (child == 0) {
    close(999);
    execl("/bin/true", "true", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const pid_t forked = fork();
  if (forked == 0) {
    for (int i = 0; i < 3; ++i) usleep(1'000);
    _exit(0);
  }
  waitpid(forked, nullptr, 0);
  errno = 0;
  close(999);
  std::printf("errno %d, child %d\n", errno, WEXITSTATUS(status));
  return 0;
}
