// A program that loads a Python interpreter for a while: python_plugin LIBPYTHON. It starts and ends the interpreter, closes the library, and continues: it
// waits for a condition and signals one. Prints "went on", and exits with 7.
#include <dlfcn.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : nullptr;
  if (library == nullptr) return 2;
  const auto begin = reinterpret_cast<void (*)(int)>(dlsym(library, "Py_InitializeEx"));
  const auto end = reinterpret_cast<int (*)()>(dlsym(library, "Py_FinalizeEx"));
  if (begin == nullptr || end == nullptr) return 3;
  begin(0);
  if (end() != 0) return 4;
  dlclose(library);

  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  for (int i = 0; i < 10; ++i) {
    condition.wait_for(lock, std::chrono::milliseconds(1));
    condition.notify_one();
  }
  std::puts("went on");
  return 7;
}
