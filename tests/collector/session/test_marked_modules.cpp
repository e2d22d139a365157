#include "records/marked_modules.h"

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

proto::EventChunk ranges(std::initializer_list<const char*> names) {
  proto::EventChunk chunk;
  chunk.mutable_nvtx_ranges();
  for (const char* name : names) chunk.add_strings(name);
  return chunk;
}

}  // namespace

TEST_CASE("modules without a range are named once") {
  MarkedModules modules({"numpy", "numpy.linalg", "torch", "wrok", "__main__"});
  modules.note(ranges({"numpyy.dot", "torch", "step 1.", "numpy.linalg.svd"}));  // a function of numpy.linalg, or linalg.svd of numpy
  proto::EventChunk marks;
  marks.mutable_nvtx_marks();
  marks.add_strings("wrok.f");
  modules.note(marks);
  const std::optional<std::string> said = modules.take_sentence();
  REQUIRE(said);
  CHECK_THAT(*said, contains_text("No range was recorded of the Python modules torch, wrok: "));
  CHECK_FALSE(modules.take_sentence());
}

TEST_CASE("of many modules without a range ten are named, and nothing is said if all have one") {
  std::vector<std::string> names;
  for (int i = 10; i < 30; ++i) names.push_back("m" + std::to_string(i));
  MarkedModules modules(names);
  CHECK_THAT(modules.take_sentence().value_or(""), contains_text("modules m10, m11, m12, m13, m14, m15, m16, m17, m18, m19 and 10 more: "));

  MarkedModules one({"numpy"});
  one.note(ranges({"numpy.dot"}));
  CHECK_FALSE(one.take_sentence());
}
