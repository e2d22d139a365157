// Which ends of work of CUDA graphs are believed if they are read after the recording stopped.
#include "agent/cupti/records/late_graph_work.h"

#include <vector>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::agent;
using cupti::LateGraphWork;

namespace {

constexpr std::int64_t kStop = 1'000;

encode::Kernel kernel(std::uint64_t node, std::int64_t start, std::int64_t end) {
  encode::Kernel result;
  result.time = {start, static_cast<std::uint64_t>(end - start)};
  result.graph = {node, 1};
  return result;
}

// The starts of the work that is given back, and the number of the work that is left out.
struct Released {
  std::vector<std::int64_t> starts;
  std::uint64_t left_out = 0;
};
Released release(LateGraphWork& work) {
  Released result;
  result.left_out = work.release([&result](const auto& event) { result.starts.push_back(event.time.start); });
  return result;
}

}  // namespace

TEST_CASE("while recording goes on nothing is held, and behind it work of graphs alone") {
  LateGraphWork work;
  CHECK_FALSE(work.hold(kernel(1, 10, 20)));
  work.begin(kStop);
  CHECK(work.hold(kernel(1, 10, 20)));
  encode::Kernel other = kernel(1, 10, 20);
  other.graph = {};
  CHECK_FALSE(work.hold(other));
  work.end();
  CHECK_FALSE(work.hold(kernel(1, 10, 20)));
  CHECK(release(work).starts == std::vector<std::int64_t>{10});
  CHECK(release(work).starts.empty());
}

TEST_CASE("of launches whose kernels follow each other all are given back, whenever they ran") {
  LateGraphWork work;
  work.begin(kStop);
  // The first ended before the recording stopped, the second was running, the third came after: in any order.
  for (const encode::Kernel& next :
       {kernel(1, 1'100, 1'200), kernel(1, 100, 200), kernel(1, 900, 1'010), kernel(2, 1'200, 1'300), kernel(2, 200, 300), kernel(2, 1'010, 1'090)})
    REQUIRE(work.hold(next));
  const Released released = release(work);
  CHECK(released.starts == std::vector<std::int64_t>{1'100, 100, 900, 1'200, 200, 1'010});
  CHECK(released.left_out == 0);
}

TEST_CASE("of a launch whose kernels end when those of a later one did none is given back, kernels, copies and sets; those before it are") {
  LateGraphWork work;
  work.begin(kStop);
  REQUIRE(work.hold(kernel(1, 900, 5'010)));
  encode::Copy copy;
  copy.time = {910, 4'110};  // up to 5'020
  copy.graph = {2, 1};
  REQUIRE(work.hold(copy));
  encode::Set set;
  set.time = {920, 4'110};
  set.graph = {3, 1};
  REQUIRE(work.hold(set));
  REQUIRE(work.hold(kernel(1, 800, 810)));  // the previous launch
  const Released released = release(work);
  CHECK(released.starts == std::vector<std::int64_t>{800});
  CHECK(released.left_out == 3);
}

TEST_CASE("a launch of which one end lies before the stop was not written over") {
  LateGraphWork work;
  work.begin(kStop);
  REQUIRE(work.hold(kernel(1, 900, 999)));  // at the same time as the other, on another stream
  REQUIRE(work.hold(kernel(2, 900, 1'500)));
  CHECK(release(work).left_out == 0);
}

TEST_CASE("each graph has a last launch") {
  LateGraphWork work;
  work.begin(kStop);
  encode::Kernel other = kernel(7, 1'050, 1'070);
  other.graph = {7, 2};
  for (const encode::Kernel& next : {kernel(7, 900, 1'010), kernel(7, 1'010, 5'000), other}) REQUIRE(work.hold(next));
  const Released released = release(work);
  CHECK(released.starts == std::vector<std::int64_t>{900});
  CHECK(released.left_out == 2);
}
