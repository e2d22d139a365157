// What happens at some time in another thread or process.
#pragma once

#include <chrono>
#include <thread>

#include "support/catch.h"

namespace lanescope::test {

// Returns when the condition holds. The test fails if it does not after a minute: for what takes milliseconds on an idle machine.
template <typename Condition>
void await(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace lanescope::test
