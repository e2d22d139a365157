#include "agent/cupti/records/buffers.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "agent/cupti/records/kinds.h"
#include "support/catch.h"

using namespace lanescope::agent::cupti;

TEST_CASE("so many buffers and no more are handed out, each to one owner") {
  auto buffers = std::make_unique<Buffers>();
  REQUIRE(buffers->prepare());
  std::set<std::uint8_t*> out;
  while (std::uint8_t* buffer = buffers->request()) out.insert(buffer);
  CHECK(out.size() == kMaximumBuffers);
  CHECK(buffers->unread() == kMaximumBuffers);
  for (std::uint8_t* buffer : out) buffers->complete(buffer, 17);
  CHECK(buffers->unread() == kMaximumBuffers);  // the agent holds them, and they would be lost as before if the process were killed
  CHECK(buffers->request() == nullptr);         // completed, but not read yet
  for (std::uint8_t* expected : out) {
    const auto completed = buffers->take_completed();
    CHECK(completed.buffer == expected);  // in order
    CHECK(completed.valid_bytes == 17);
    buffers->recycle(completed.buffer);
  }
  CHECK(buffers->unread() == 0);
  CHECK(buffers->take_completed().buffer == nullptr);
  CHECK(buffers->request() != nullptr);
}

TEST_CASE("threads that fill buffers and one that empties them neither lose nor share one") {
  auto buffers = std::make_unique<Buffers>();
  REQUIRE(buffers->prepare());
  constexpr std::size_t rounds = 20'000;
  constexpr std::uint32_t fillers = 3;
  std::atomic<std::uint64_t> filled{0};
  std::atomic<bool> shared{false};
  std::vector<std::atomic<int>> owners(kMaximumBuffers);
  std::atomic<std::uint8_t*> base{nullptr};
  std::uint8_t* const first = buffers->request();
  base = first;  // the first one handed out lies at the beginning
  buffers->complete(first, 1);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < fillers; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < rounds;) {
        std::uint8_t* buffer = buffers->request();
        if (buffer == nullptr) {
          std::this_thread::yield();
          continue;
        }
        auto& owner = owners[static_cast<std::size_t>(buffer - base.load()) / kBufferBytes];
        if (owner.fetch_add(1) != 0) shared = true;
        owner.fetch_sub(1);
        ++filled;
        ++i;
        buffers->complete(buffer, 1);
      }
    });
  std::uint64_t read = 0;
  while (read < fillers * rounds + 1) {
    const auto completed = buffers->take_completed();
    if (completed.buffer == nullptr) continue;
    read += completed.valid_bytes;
    buffers->recycle(completed.buffer);
  }
  for (auto& thread : threads) thread.join();
  CHECK_FALSE(shared);
  CHECK(filled == fillers * rounds);
  CHECK(buffers->unread() == 0);
  CHECK(buffers->unread_changes() >> 32 == 2 * (fillers * rounds + 1));  // each request, each reading
}

TEST_CASE("chatty calls are left out, in all their variants, and calls that merely begin alike are not") {
  CHECK(is_chatty_runtime_call("cudaGetDevice_v3020"));
  CHECK(is_chatty_runtime_call("cudaStreamGetCaptureInfo_v2_ptsz_v11030"));
  CHECK_FALSE(is_chatty_runtime_call("cudaGetDeviceProperties_v2_v12000"));
  CHECK_FALSE(is_chatty_runtime_call("cudaLaunchKernel_v7000"));
  CHECK(is_working_driver_call("cuLaunchKernelEx_ptsz"));
  CHECK(is_working_driver_call("cuMemcpyHtoDAsync_v2"));
  CHECK(is_working_driver_call("cuStreamCreateWithPriority"));
  CHECK_FALSE(is_working_driver_call("cuMemAlloc_v2"));
}
