#include <atomic>
#include <memory>
#include <numeric>
#include <thread>

#include "ingest/batch_queue.h"
#include "support/catch.h"

using lanescope::BatchQueue;

TEST_CASE("what is put comes out once, in order, in batches of some weight, and the rest when closed") {
  BatchQueue<int> queue(10);
  std::thread putter([&] {
    for (int i = 0; i < 10'007; ++i) queue.put(i, 1);
    queue.close();
  });
  std::vector<int> all;
  for (std::vector<int> batch = queue.take(); !batch.empty(); batch = queue.take()) {
    const bool is_last = batch.back() == 10'006;
    CHECK((is_last || batch.size() >= 10));
    CHECK(batch.size() <= 20);  // the producer waits at twice the size of a batch
    all.insert(all.end(), batch.begin(), batch.end());
  }
  putter.join();
  std::vector<int> expected(10'007);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
  CHECK(queue.take().empty());
}

TEST_CASE("draining waits until what was put is done with, however little it is") {
  BatchQueue<int> queue(1'000);
  std::atomic<int> done{0};
  std::thread taker([&] {
    for (std::vector<int> batch = queue.take(); !batch.empty(); batch = queue.take())
      for (const int item : batch) done += item;
  });
  queue.drain();
  CHECK(done == 0);
  queue.put(3, 1);
  queue.put(4, 1);
  queue.drain();
  CHECK(done == 7);
  queue.put(5, 1);
  queue.close();
  taker.join();
  CHECK(done == 12);
}

TEST_CASE("cancelling ends both sides, also one that waits for room") {
  BatchQueue<std::unique_ptr<int>> queue(1);
  std::atomic<bool> refused{false};
  std::thread putter([&] {
    while (queue.put(std::make_unique<int>(1), 1)) {
    }
    refused = true;
  });
  CHECK_FALSE(queue.take().empty());
  queue.cancel();
  putter.join();
  CHECK(refused);
  CHECK(queue.take().empty());
}
