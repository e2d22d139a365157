// The agent's own locks, threads and forks, in this process.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <link.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channel/handshake.h"
#include "agent/core/clock.h"
#include "agent/core/forks_under_way.h"
#include "agent/core/loader/loader.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"
#include "agent/process/held_signals.h"
#include "agent/process/lock.h"
#include "agent/process/own_descriptor.h"
#include "agent/process/this_thread.h"
#include "agent/process/threads.h"
#include "collector/channel/layout.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::agent;

namespace {

// Registered before the agent watches forks, so that it runs after the agent's own preparation.
std::atomic<bool> forks_take_time{false};
std::atomic<int> forks_to_come{0};  // each fork waits for these
[[maybe_unused]] const int is_prepared = pthread_atfork(
    [] {
      if (forks_take_time) usleep(5'000);
      if (forks_to_come == 0) return;
      --forks_to_come;
      while (forks_to_come > 0) usleep(1'000);
    },
    nullptr, nullptr);

// Runs `work` in a child that no handler of fork() knows of. Returns its exit code.
template <typename Work>
int in_unannounced_child(Work work) {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) syscall(SYS_exit_group, work());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a lock lets one thread in at a time") {
  static Lock lock;
  constexpr int kThreads = 8;
  constexpr int kTimes = 20'000;
  long long inside = 0;  // not atomic: that is what the lock is for
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        const ScopedLock locked(lock);
        ++inside;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(inside == kThreads * kTimes);
}

TEST_CASE("a lock whose holder ended with it goes to the next, as does one that its own thread lost by a fault") {
  process_generation();
  static Lock lock;
  int inside = 0;
  const auto enter = [&] {
    const ScopedLock locked(lock);
    ++inside;
  };
  std::thread([] { lock.lock(); }).join();
  enter();
  lock.lock();
  enter();
  std::thread(enter).join();
  CHECK(inside == 3);
}

TEST_CASE("a thread that holds a lock to fork may lock it again meanwhile, and keeps it until behind the fork") {
  process_generation();
  static Lock lock;
  static std::atomic<std::int64_t> entered{0};
  static std::atomic<std::int64_t> begun{0};
  const HeldSignals held;
  lock.lock_to_fork();
  { const ScopedLock again(lock); }
  std::thread other([] {
    begun = monotonic_now();
    const ScopedLock locked(lock);
    entered = monotonic_now();
  });
  usleep(kForkPatience / 1000 / 4);
  const std::int64_t unlocked = monotonic_now();
  lock.unlock_behind_fork();
  other.join();
  CHECK((entered >= unlocked || entered - begun >= kForkPatience));  // the latter if this thread had no processor for long
}

TEST_CASE("no signal handler runs on a thread that holds a lock") {
  static std::atomic<int> handled{0};
  const auto before = std::signal(SIGUSR1, [](int) { ++handled; });
  static Lock lock;
  {
    const ScopedLock locked(lock);
    pthread_kill(pthread_self(), SIGUSR1);
    CHECK(handled == 0);
  }
  CHECK(handled == 1);
  std::signal(SIGUSR1, before);
}

TEST_CASE("threads that live at once have states of their own, and later ones take those over") {
  process_generation();
  constexpr int kThreads = 64;
  std::set<ThreadState*> states;
  for (int round = 0; round < 20; ++round) {
    std::vector<ThreadState*> taken(kThreads);
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        taken[i] = begin_thread();
        for (++started; started < kThreads;) std::this_thread::yield();
        end_thread(*taken[i]);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(std::set<ThreadState*>(taken.begin(), taken.end()).size() == kThreads);
    states.insert(taken.begin(), taken.end());
  }
  CHECK(states.size() == kThreads);
}

TEST_CASE("states of threads that ended without a word are found again") {
  process_generation();
  std::set<ThreadState*> states;
  bool is_new = true;
  for (int i = 0; is_new && i < 50'000; ++i) std::thread([&] { is_new = states.insert(begin_thread()).second; }).join();
  CHECK_FALSE(is_new);
}

TEST_CASE("a child that was made by system call alone knows that it is one, and its locks are free") {
  const std::uint32_t generation = process_generation();
  CHECK(is_own_process());
  static Lock lock;
  hold_across_forks(lock);
  static std::atomic<int> forgotten{0};
  on_fork_child([] { ++forgotten; });
  lock.lock();
  const int child = in_unannounced_child([&] {
    const bool is_unknown = last_generation() == 0;
    const bool is_next = process_generation() == generation + 1 && process_generation() == generation + 1;
    { const ScopedLock locked(lock); }
    return is_unknown && is_next && is_own_process() && forgotten == 1 ? 7 : 1;
  });
  lock.unlock();
  CHECK(child == 7);
  CHECK(process_generation() == generation);
  CHECK(forgotten == 0);
}

// Thread numbers begin anew in a namespace of processes.
TEST_CASE("a lock that another thread held at a fork is free in the child, even where a thread of the child has that thread's number") {
  constexpr int kUntested = 9;
  static Lock lock;
  static std::atomic<std::uint32_t> holder{0};
  static std::atomic<bool> is_over{false};
  const auto in_namespace_of_its_own = [](auto work) {
    const auto child = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child < 0) return kUntested;
    if (child == 0) {
      alarm(10);
      syscall(SYS_exit_group, work());
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  };
  const int code = in_namespace_of_its_own([&] {
    process_generation();
    std::thread other([] {
      const ScopedLock locked(lock);
      holder = system::thread_id();
      while (!is_over) usleep(1'000);
    });
    while (holder == 0) usleep(1'000);
    const int of_child = in_namespace_of_its_own([&] {
      std::atomic<std::uint32_t> namesake{0};
      std::thread thread([&] {
        namesake = system::thread_id();
        while (!is_over) usleep(1'000);
      });
      while (namesake == 0) usleep(1'000);
      { const ScopedLock locked(lock); }
      is_over = true;
      thread.join();
      return namesake == holder ? 7 : kUntested;
    });
    is_over = true;
    other.join();
    return of_child;
  });
  if (code == kUntested) WARN("There can be no namespaces of processes here, or their threads have other numbers: not tested.");
  CHECK((code == 7 || code == kUntested));
}

TEST_CASE("no thread forks while another one is within the list of loaded files, whose lock its child could never have") {
  static std::atomic<bool> is_inside{false}, is_forking{false};
  watch_forks();
  std::thread visitor([] {
    visit_loaded_files(
        [](dl_phdr_info*, std::size_t, void*) {
          is_inside = true;
          while (!is_forking) usleep(100);
          usleep(200'000);  // the other thread would fork during this time
          return 1;
        },
        nullptr);
  });
  while (!is_inside) usleep(100);
  is_forking = true;
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(dl_iterate_phdr([](dl_phdr_info*, std::size_t, void*) { return 1; }, nullptr));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 1));
  visitor.join();
}

TEST_CASE("threads that fork all the time keep nobody out of the list of loaded files, and their children can look at it") {
  constexpr int kThreads = 16;
  constexpr int kVisits = 50;
  static std::atomic<bool> is_over{false};
  static std::atomic<int> begun{0}, stuck{0};
  watch_forks();
  forks_take_time = true;
  std::vector<std::thread> forking;
  for (int i = 0; i < kThreads; ++i)
    forking.emplace_back([] {
      for (++begun; !is_over;) {
        const pid_t child = fork();
        if (child == 0) {
          alarm(10);
          _exit(dl_iterate_phdr([](dl_phdr_info*, std::size_t, void*) { return 1; }, nullptr) - 1);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) ++stuck;
      }
    });
  while (begun < kThreads) usleep(1000);
  add_own_thread();  // visits of such a thread wait longest for forks
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kVisits; ++i) visit_loaded_files([](dl_phdr_info*, std::size_t, void*) { return 1; }, nullptr);
  const auto waited = std::chrono::steady_clock::now() - begin;
  remove_own_thread();
  is_over = true;
  for (std::thread& thread : forking) thread.join();
  forks_take_time = false;
  CHECK(stuck == 0);
  CHECK(waited < kVisits * std::chrono::seconds(1));  // half of the time that it would take if they found no moment
}

TEST_CASE("more threads than there are places for fork at the same time, though their preparations wait for each other") {
  constexpr int kThreads = 2 * kMostForks;
  static std::atomic<int> ended{0};
  watch_forks();
  forks_to_come = kThreads;
  alarm(60);  // in case they wait for ever
  std::vector<std::thread> forking;
  for (int i = 0; i < kThreads; ++i)
    forking.emplace_back([] {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      int status = 0;
      if (waitpid(child, &status, 0) == child && status == 0) ++ended;
    });
  for (std::thread& thread : forking) thread.join();
  alarm(0);
  CHECK(ended == kThreads);
}

TEST_CASE("a fork waits for a visit of the list that does not end for some seconds, once") {
  static std::atomic<bool> is_inside{false}, is_over{false};
  watch_forks();
  std::thread visitor([] {
    visit_loaded_files(
        [](dl_phdr_info*, std::size_t, void*) {
          is_inside = true;
          while (!is_over) usleep(100);
          return 1;
        },
        nullptr);
  });
  while (!is_inside) usleep(100);
  const auto seconds_of_fork = [] {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  CHECK(seconds_of_fork() >= 2);
  double least = 2;
  for (int i = 0; i < 20; ++i) least = std::min(least, seconds_of_fork());
  CHECK(least < 1);
  is_over = true;
  visitor.join();
  // A visit that has already ended takes nothing from the next one.
  CHECK(visit_loaded_files([](dl_phdr_info*, std::size_t, void*) { return 7; }, nullptr) == 7);
}

TEST_CASE("a forked child knows that it is one before fork() returns; the child of a vfork changes nothing") {
  watch_forks();
  const std::uint32_t generation = process_generation();
  const pid_t child = fork();
  if (child == 0) _exit(last_generation() == generation + 1 && is_own_process() ? 7 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  const pid_t shared = vfork();
  if (shared == 0) _exit(last_generation() == generation && !is_own_process() ? 7 : 1);
  REQUIRE(waitpid(shared, &status, 0) == shared);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(last_generation() == generation);
}

TEST_CASE("a descriptor whose number the program has given to something else is left alone") {
  OwnDescriptor own = OwnDescriptor::keep(socket(AF_UNIX, SOCK_STREAM, 0));
  const int number = own.number();
  REQUIRE(number >= 16);
  close(number);
  CHECK(own.number() == -1);
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(dup2(other, number) == number);
  close(other);
  CHECK(own.number() == -1);
  own.close();
  CHECK(fcntl(number, F_GETFD) >= 0);
  close(number);

  OwnDescriptor kept = OwnDescriptor::keep(socket(AF_UNIX, SOCK_STREAM, 0));
  const int still_open = kept.number();
  kept.close();
  CHECK(fcntl(still_open, F_GETFD) == -1);
}

TEST_CASE("a thread's number is the kernel's, in a child as well, however it was made") {
  const auto is_right = [] { return this_thread_id() == static_cast<std::uint32_t>(syscall(SYS_gettid)); };
  watch_forks();
  CHECK(is_right());
  bool is_right_there = false;
  std::thread([&] { is_right_there = is_right() && is_right(); }).join();
  CHECK(is_right_there);
  const pid_t child = fork();
  if (child == 0) _exit(is_right() && is_own_process() ? 7 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  // The C library believes that this child is its parent.
  CHECK(in_unannounced_child([&] { return is_right() && is_right() ? 7 : 1; }) == 7);
}

namespace {

// Resets what an earlier test has left: as in a process without filters.
void allow_all() {
  for (std::atomic<bool>* each : {&forbids_joining, &forbids_looking_at_files, &forbids_looking_at_session, &forbids_leaving_links, &forbids_holding_signals,
                                  &forbids_looking_at_loaded_files, &forbids_looking_for_children, &forbids_asking_for_numbers, &forbids_coming_into_programs})
    each->store(false);
}

}  // namespace

TEST_CASE("a process does not join any more once a filter would have the kernel end it for that") {
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr std::uint32_t kFirstArgument = offsetof(seccomp_data, args);
  const auto may_join_behind = [](std::vector<sock_filter> code) {
    {
      FilterInstallation installation;
      CHECK_FALSE(may_join());  // while a filter is being installed, joining is not begun
      const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
      installation.has_succeeded(filter);
    }
    return !forbids_joining.exchange(false);
  };
  const auto load = [](std::uint32_t place) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place); };
  const auto unless = [](std::uint32_t value, std::uint8_t skipped) { return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, 0); };
  const auto answer = [](std::uint32_t what) { return sock_filter BPF_STMT(BPF_RET | BPF_K, what); };
  const auto allow = answer(SECCOMP_RET_ALLOW);
  const auto kill = answer(SECCOMP_RET_KILL_PROCESS);
  CHECK(may_join_behind({allow}));
  CHECK_FALSE(may_join_behind({kill}));
  CHECK_FALSE(may_join_behind({answer(SECCOMP_RET_TRAP)}));
  CHECK(may_join_behind({answer(SECCOMP_RET_ERRNO | 1)}));  // then it cannot join, but lives
  CHECK_FALSE(may_join_behind({load(kNumber), unless(SYS_connect, 1), allow, kill}));
  CHECK(may_join_behind({load(kNumber), unless(SYS_execve, 1), allow, kill}));
  // First only sockets of this machine are allowed, then only others.
  CHECK(may_join_behind({load(kNumber), unless(SYS_socket, 1), allow, load(kFirstArgument), unless(AF_UNIX, 1), kill, allow}));
  CHECK_FALSE(may_join_behind({load(kNumber), unless(SYS_socket, 1), allow, load(kFirstArgument), unless(AF_INET, 1), kill, allow}));
  {
    const FilterInstallation failed;
    CHECK_FALSE(may_join());
  }
  CHECK(may_join());
  allow_all();
}

TEST_CASE("what a filter would have the kernel end a process for, the agent leaves out, each by itself") {
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  const int forbidden =
      GENERATE(as<int>(), SYS_rt_sigprocmask, SYS_getdents64, SYS_sched_yield, SYS_symlinkat, SYS_ppoll, SYS_execve, SYS_rt_sigaction, SYS_getrandom);
  CAPTURE(forbidden);
  allow_all();
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(forbidden), 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{static_cast<unsigned short>(std::size(code)), code};
  {
    FilterInstallation installation;
    installation.has_succeeded(filter);
  }
  CHECK(may_hold_signals() == (forbidden != SYS_rt_sigprocmask));
  CHECK(may_look_for_children() == (forbidden != SYS_getdents64 && forbidden != SYS_sched_yield));
  CHECK(may_look_at_loaded_files() == (forbidden != SYS_rt_sigprocmask && forbidden != SYS_sched_yield));
  CHECK(may_leave_links() == (forbidden != SYS_symlinkat));
  CHECK(may_look_at_session() == (forbidden != SYS_ppoll));
  CHECK(may_join() == (forbidden != SYS_rt_sigprocmask && forbidden != SYS_rt_sigaction));
  CHECK(may_do_all() == (forbidden == SYS_execve));
  CHECK(spares_own_threads(filter) == (forbidden == SYS_getdents64 || forbidden == SYS_symlinkat || forbidden == SYS_execve || forbidden == SYS_getrandom));
  allow_all();
}

TEST_CASE("a process that can't report leaves word in the session's file alone, as far as that and its own files may grow") {
  namespace fs = std::filesystem;
  using lanescope::channel::Word;
  const lanescope::test::TemporaryFolder folder;
  const fs::path words = folder.path() / (std::string("control") + lanescope::channel::kWordSuffix), other = folder.path() / "other";
  std::ofstream(other).flush();
  // The wait status of a process that leaves word; an alarm ends the process if that blocks it.
  const auto leave_word = [&](rlim_t room = RLIM_INFINITY) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const rlimit limit{room, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &limit);
      leave_word_beside((folder.path() / "control").c_str(), EAFNOSUPPORT);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
  };
  SECTION("where there is none, none is made") {
    CHECK(leave_word() == 0);
    CHECK_FALSE(fs::exists(words));
  }
  SECTION("its number, its name and why") {
    std::ofstream(words).flush();
    CHECK(leave_word() == 0);
    Word word;
    std::ifstream(words).read(reinterpret_cast<char*>(&word), sizeof(word));
    CHECK(fs::file_size(words) == sizeof(word));
    CHECK(word.problem == EAFNOSUPPORT);
    CHECK(word.process > 0);
    CHECK(std::string(word.program) == std::string("test_agent"));
  }
  SECTION("a pipe does not hold it, and nothing goes into one that somebody reads") {
    REQUIRE(mkfifo(words.c_str(), 0600) == 0);
    CHECK(leave_word() == 0);
    const int reader = open(words.c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(leave_word() == 0);
    char letter = 0;
    CHECK(read(reader, &letter, 1) == 0);
    close(reader);
  }
  SECTION("links lead to no other file") {
    fs::create_symlink(other, words);
    CHECK(leave_word() == 0);
    fs::remove(words);
    fs::create_hard_link(other, words);
    CHECK(leave_word() == 0);
    CHECK(fs::file_size(other) == 0);
  }
  SECTION("a full file grows no more") {
    std::ofstream(words).flush();
    fs::resize_file(words, lanescope::channel::kMostWords * sizeof(Word));
    CHECK(leave_word() == 0);
    CHECK(fs::file_size(words) == lanescope::channel::kMostWords * sizeof(Word));
  }
  SECTION("a process whose own files may not grow is not ended") {
    std::ofstream(words).flush();
    CHECK(leave_word(sizeof(Word) - 1) == 0);
    CHECK(fs::file_size(words) == 0);
    CHECK(leave_word(sizeof(Word)) == 0);
    CHECK(fs::file_size(words) == sizeof(Word));
    CHECK(leave_word(sizeof(Word)) == 0);
  }
}
