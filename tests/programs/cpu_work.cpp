// Threads with known times of running and waiting, and with known code. The first argument chooses the work:
//
//   duty      a thread "duty" runs 3 ms of processor time, then sleeps 7 ms, 40 times
//   lock      a thread "holder" holds a lock for 10 ms of sleep, 20 times, for which a thread "waiter" waits
//   share     main runs: 60 % of its processor time in sixty(), 40 % in forty(), which both burn it in an inlined function
//   path      main runs in inner_call, called by middle_call, by outer_call; and in recursive(), 10 calls deep
//   late      main sleeps 100 ms, then starts a thread "late" that runs 50 ms of processor time
//   family    a forked child runs 30 ms; another one becomes /bin/true; a third sleeps 20 ms
//   clock     main asks for the time of the wall clock, again and again
//   steady    main prints "ready", then runs as in `share` and sleeps for twice as long, again and again, until it is killed
//   generated main runs code that it made itself, named "made_at_run_time" in its perf map
//
// Prints "THREAD-NAME PROCESSOR-NS WALL-NS" for each thread, as the thread itself measured it.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#define OWN_CALL __attribute__((noinline, noclone))

namespace {

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

volatile std::uint64_t sink = 0;
constexpr std::int64_t kMillisecond = 1'000'000;

// Reads the clock seldom, so that samples fall into our code.
__attribute__((always_inline)) inline void burn(std::int64_t nanoseconds) {
  const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end)
    for (int i = 0; i < 100'000; ++i) sink = sink + static_cast<std::uint64_t>(i);
}

void sleep_for(std::int64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

class Report {
 public:
  explicit Report(const char* name) : name_(name), processor_(now(CLOCK_THREAD_CPUTIME_ID)), wall_(now(CLOCK_MONOTONIC)) {
    pthread_setname_np(pthread_self(), name);
  }
  ~Report() {
    const std::int64_t processor = now(CLOCK_THREAD_CPUTIME_ID) - processor_;
    const std::int64_t wall = now(CLOCK_MONOTONIC) - wall_;
    std::printf("%s %lld %lld\n", name_, static_cast<long long>(processor), static_cast<long long>(wall));
  }

 private:
  const char* name_;
  std::int64_t processor_;
  std::int64_t wall_;
};

}  // namespace

OWN_CALL void sixty() { burn(6 * kMillisecond); }
OWN_CALL void forty() { burn(4 * kMillisecond); }

OWN_CALL void inner_call() {
  burn(2 * kMillisecond);
  sink = sink + 1;
}
OWN_CALL void middle_call() {
  inner_call();
  sink = sink + 1;
}
OWN_CALL void outer_call() {
  middle_call();
  sink = sink + 1;
}
OWN_CALL void recursive(int depth) {
  if (depth > 1) {
    recursive(depth - 1);
  } else {
    burn(2 * kMillisecond);
  }
  sink = sink + 1;
}

namespace {

void duty() {
  std::thread([] {
    const Report report("duty");
    for (int i = 0; i < 40; ++i) {
      burn(3 * kMillisecond);
      sleep_for(7 * kMillisecond);
    }
  }).join();
}

void lock() {
  pthread_barrier_t both;
  pthread_barrier_init(&both, nullptr, 2);
  std::mutex mutex;
  std::thread holder([&] {
    const Report report("holder");
    for (int i = 0; i < 20; ++i) {
      mutex.lock();
      pthread_barrier_wait(&both);
      sleep_for(10 * kMillisecond);
      mutex.unlock();
      pthread_barrier_wait(&both);
    }
  });
  std::thread waiter([&] {
    const Report report("waiter");
    for (int i = 0; i < 20; ++i) {
      pthread_barrier_wait(&both);
      mutex.lock();
      mutex.unlock();
      pthread_barrier_wait(&both);
    }
  });
  holder.join();
  waiter.join();
}

void ask_for_the_time() {
  const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 300 * kMillisecond;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end)
    for (int i = 0; i < 100'000; ++i) sink = sink + static_cast<std::uint64_t>(now(CLOCK_MONOTONIC));
}

void late() {
  sleep_for(100 * kMillisecond);
  std::thread([] {
    const Report report("late");
    burn(50 * kMillisecond);
  }).join();
}

void family() {
  std::fflush(stdout);
  if (fork() == 0) {
    burn(30 * kMillisecond);
    _exit(0);
  }
  if (fork() == 0) {
    execl("/bin/true", "true", static_cast<char*>(nullptr));
    _exit(127);
  }
  if (fork() == 0) {
    sleep_for(20 * kMillisecond);
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}

// A loop in memory: mov rcx, N; dec rcx; jnz; ret, with a frame.
void generated() {
#if defined(__x86_64__)
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xc7, 0xc1, 0x00, 0x00, 0x10, 0x00, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(memory, code, sizeof(code));
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  if (std::FILE* map = std::fopen(path.c_str(), "w")) {
    std::fprintf(map, "%lx %zx made_at_run_time\n", reinterpret_cast<unsigned long>(memory), sizeof(code));
    std::fclose(map);
  }
  const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 300 * kMillisecond;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) reinterpret_cast<void (*)()>(memory)();
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const Report report("main");
  if (what == "duty") duty();
  if (what == "lock") lock();
  if (what == "late") late();
  if (what == "family") family();
  if (what == "clock") ask_for_the_time();
  if (what == "generated") generated();
  if (what == "share")
    for (int i = 0; i < 60; ++i) {
      sixty();
      forty();
    }
  if (what == "steady") {
    std::puts("ready");
    std::fflush(stdout);
    for (;;) {
      sixty();
      forty();
      sleep_for(20 * kMillisecond);
    }
  }
  if (what == "path")
    for (int i = 0; i < 100; ++i) {
      outer_call();
      recursive(10);
    }
}
