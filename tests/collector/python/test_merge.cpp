// Python's calls within native chains, all written by hand, innermost first.
#include "collector/python/merge.h"
#include "support/catch.h"

using namespace lanescope::python;

namespace {

using Locations = std::vector<std::uint32_t>;

constexpr NativeCall kLeaf{1, false};
constexpr NativeCall kGlue{2, false};
constexpr NativeCall kMain{3, false};
constexpr NativeCall kLoop{9, true};

constexpr PythonCall inner(std::uint32_t location) { return {location, false}; }
constexpr PythonCall entry(std::uint32_t location) { return {location, true}; }

Locations merge(const std::vector<NativeCall>& native, const std::vector<PythonCall>& python) { return merge_calls(native, python); }

}  // namespace

TEST_CASE("each run of the loop gives way to the functions that it runs") {
  CHECK(merge({kLeaf, kLoop, kMain}, {inner(10), inner(11), entry(12)}) == Locations{1, 10, 11, 12, 3});
  CHECK(merge({kLeaf, kLoop, kGlue, kLoop, kMain}, {inner(10), entry(11), entry(12)}) == Locations{1, 10, 11, 2, 12, 3});
  CHECK(merge({kLoop}, {entry(10)}) == Locations{10});
}

TEST_CASE("a native chain that was not followed to the loop stands on all of Python's calls") {
  CHECK(merge({kLeaf}, {inner(10), entry(11)}) == Locations{1, 10, 11});
  CHECK(merge({}, {inner(10), entry(11)}) == Locations{10, 11});
}

TEST_CASE("where the numbers of runs differ, Python's calls stand whole between the leaf and the start") {
  CHECK(merge({kLeaf, kLoop, kGlue, kLoop, kMain}, {entry(10)}) == Locations{1, 10, 3});
  CHECK(merge({kLeaf, kLoop, kMain}, {entry(10), entry(11)}) == Locations{1, 10, 11, 3});
}

TEST_CASE("without Python calls a chain stays as it is") {
  CHECK(merge({kLeaf, kGlue, kMain}, {}) == Locations{1, 2, 3});
  CHECK(merge({kLeaf, kLoop, kGlue, kLoop, kMain}, {}) == Locations{1, 9, 2, 9, 3});
}
