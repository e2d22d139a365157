// Threads leave a callback of dl_iterate_phdr() in a given way, one thread for each life; where it is by a jump (longjmp), this thread does, which alone can
// load files from there on, and it sleeps for 1.2 s after the first time. After each, a library is loaded and makes three ranges "life N", N = 1, 2, and so on.
// Prints "ready" before, and answers each line with "done": "begin" runs all lives, any other line a life 0 without such a thread. Exits with 3.
//
//   leaves_list LIBRARY COUNT throw|end|cancel|jump
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

std::string way;
int left = 0;
std::jmp_buf before_visit;

struct Left {
  ~Left() { ++left; }
};

int leave(dl_phdr_info*, std::size_t, void*) {
  const Left guard;
  if (way == "throw") throw 1;
  if (way == "end") pthread_exit(nullptr);
  pthread_cancel(pthread_self());
  pthread_testcancel();
  return 1;
}

void* visit(void*) {
  try {
    dl_iterate_phdr(leave, nullptr);
  } catch (int) {
  }
  return nullptr;
}

int jump(dl_phdr_info*, std::size_t, void*) { std::longjmp(before_visit, 1); }

bool visit_and_jump() {
  constexpr useconds_t kMicroseconds = 1'200'000;
  if (setjmp(before_visit) == 0) dl_iterate_phdr(jump, nullptr);
  if (++left == 1) usleep(kMicroseconds);
  return true;
}

bool visit_on_thread() {
  pthread_t thread{};
  return pthread_create(&thread, nullptr, visit, nullptr) == 0 && pthread_join(thread, nullptr) == 0;
}

void live(const char* path, long life) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::_Exit(1);
  const auto one_range = reinterpret_cast<void (*)(long)>(dlsym(library, "one_range"));
  for (int i = 0; i < 3; ++i) one_range(life);
  dlclose(library);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  way = arguments[3];
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line); std::cout << "done" << std::endl) {
    if (line != "begin") live(arguments[1], 0);
    for (long life = 1; line == "begin" && life <= std::atol(arguments[2]); ++life) {
      if (!(way == "jump" ? visit_and_jump() : visit_on_thread()) || left != life) return 1;
      live(arguments[1], life);
    }
  }
  return 3;
}
