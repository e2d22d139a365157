// Python functions that are called in the various ways in which Python code is called: the callers of each are known.
#include <algorithm>

#include "interpreters.h"
#include "shares.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// A function of tests/programs/python/python_shapes.py, and its callers in the chains of the functions it calls.
struct Shape {
  std::string function;
  std::vector<std::string> callers;  // innermost first, of sixty() and forty()
};
const std::vector<Shape> kShapes{
    {"recursive", {"down", "recursive", "work", "main", "<module>"}},
    {"generator", {"produce", "generator", "work", "main", "<module>"}},
    {"asynchronous", {"step", "steps", "asynchronous", "work", "main", "<module>"}},
    {"callback", {"compare", "callback", "work", "main", "<module>"}},
    {"alone", {"alone"}},
    // A thread's functions in an interpreter, and the functions that led there.
    {"nested", {"called_from_other", "<module>", "run_in_interpreter", "nested", "work", "main", "<module>"}},
    {"in_interpreter", {"alone", "<module>", "run_in_interpreter", "in_interpreter"}},
};

void check_shapes(const std::vector<Chain>& samples) {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.function);
    std::vector<Chain> chains;
    for (const Chain& chain : samples)
      if (has(chain, shape.function) && (shape.function != "alone" || !has(chain, "in_interpreter"))) chains.push_back(chain);
    check_share(chains);
    for (const Chain& chain : chains) {
      for (const char* innermost : {"sixty", "forty"}) {
        if (!has(chain, innermost)) continue;
        std::vector<std::string> expected{innermost};
        expected.insert(expected.end(), shape.callers.begin(), shape.callers.end());
        CAPTURE(chain);
        REQUIRE(has_in_order(chain, expected));
      }
    }
  }
  constexpr auto kDepth = 20;
  for (const Chain& chain : samples)
    if (has(chain, "sixty") && has(chain, "recursive")) REQUIRE(std::count(chain.begin(), chain.end(), "down") == kDepth);
  check_share(samples);
}

// Checks that the C library's function stands between the Python function that calls it and the one that it calls.
void check_native(const std::vector<Chain>& samples) {
  std::size_t all = 0;
  std::size_t joined = 0;
  for (const Chain& chain : samples) {
    if (!has(chain, "sixty") || !has(chain, "callback")) continue;
    ++all;
    // It has several names.
    const auto native = std::find_if(chain.begin(), chain.end(), [](const std::string& name) { return name.ends_with("bsearch"); });
    joined += has(Chain(chain.begin(), native), "compare") && has(Chain(native, chain.end()), "callback") ? 1 : 0;
  }
  CHECK(10 * joined > 8 * all);
}

const std::string kProgram = LANESCOPE_TEST_PROGRAMS "/python/python_shapes.py";

}  // namespace

TEST_CASE("recursion, generators, coroutines, callbacks, threads and interpreters have their shares and callers, launched") {
  SKIP_WHERE_FORBIDDEN();
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    const Recorded recorded = record({interpreter, kProgram, "1"}, python_sampling(cpu::CallChains::kDwarf));
    for (const std::string& message : recorded.messages) UNSCOPED_INFO(message);
    const std::vector<Chain> samples = samples_of_worker(*recorded.trace);
    check_shapes(samples);
    check_native(samples);
  }
}

TEST_CASE("recursion, generators, coroutines, callbacks, threads and interpreters have their shares and callers, attached") {
  SKIP_WHERE_FORBIDDEN();
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    RunningTarget target({interpreter, kProgram});
    REQUIRE(target.read_line() == "ready");
    check_shapes(samples_of_worker(*record_attached(target, "1", cpu::CallChains::kFramePointers)));
  }
}
