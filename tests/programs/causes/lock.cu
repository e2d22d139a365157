// Another thread holds a lock that the launching thread needs for each step. Expected first: waiting for a lock (if OS runtime calls are recorded; without
// them, CPU code in "take lock").
#include <pthread.h>

#include <atomic>
#include <thread>

#include "cause.h"

int main() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<int> turn{0};  // odd: the other thread holds the lock
  constexpr int kSteps = 40;
  std::thread other([&] {
    for (int i = 0; i < kSteps; ++i) {
      while (turn.load() != 2 * i) std::this_thread::yield();
      pthread_mutex_lock(&mutex);
      turn.store(2 * i + 1);
      cause::compute_for(std::chrono::milliseconds(10));
      pthread_mutex_unlock(&mutex);
    }
  });
  cause::warm_up();
  cause::loop("lock", kSteps, [&](int i) {
    while (turn.load() != 2 * i + 1) continue;
    {
      const cause::Range range("take lock");
      pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    cause::work<<<1, 1>>>(2'000'000);
    cause::check(cudaStreamSynchronize(nullptr), "wait");
    turn.store(2 * i + 2);
  });
  other.join();
}
