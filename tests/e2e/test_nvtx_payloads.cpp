// Structured data that a program attaches to NVTX events arrives as intended, with the names of its schema.
#include "../programs/nvtx/nvtx_payloads_facts.h"
#include "model/trace/domains/nvtx_payload.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = lanescope::test::nvtx_payloads;

namespace {

// The payloads of the process's events of one kind, by time.
std::vector<std::string> payloads(const Trace& trace, TrackKind kind) {
  std::vector<std::string> result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    const Lane& lane = trace.lane(track.lanes.front());
    for (EventIndex i = 0; i < lane.size(); ++i) result.emplace_back(trace.name(trace.nvtx_detail(lane.detail(i)).payload_json));
  }
  return result;
}

}  // namespace

TEST_CASE("structured payloads are recorded by the names that their schemas give") {
  const TemporaryFolder folder;
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-o", "x", program("lanescope_program_nvtx_payloads").string()}).code == 0);
  const auto trace = load(folder.path() / "x.trace");

  const std::vector<std::string> ranges = payloads(*trace, TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == facts::kCollectives + 1);
  CHECK(ranges[0] == R"({"NCCL communicator ID":18364758544493064720,"Message size [bytes]":4096,"Reduction operation":"Sum"})");
  CHECK(ranges[1] == R"({"NCCL communicator ID":18364758544493064720,"Message size [bytes]":8192,"Reduction operation":"Max"})");
  CHECK(ranges[2] == R"({"NCCL communicator ID":18364758544493064720,"Message size [bytes]":16384,"Reduction operation":7})");
  CHECK(ranges[3] == R"({"schema":)" + std::to_string(facts::kUnknownSchema) + R"(,"size":4,"bytes":"01000000"})");
  CHECK(has_unknown_fields(ranges[3]));
  CHECK_FALSE(has_unknown_fields(ranges[0]));
  CHECK(payload_integer(ranges[1], "Message size [bytes]") == 2 * static_cast<std::int64_t>(facts::kFirstBytes));

  const std::vector<std::string> marks = payloads(*trace, TrackKind::kNvtxMarks);
  REQUIRE(marks.size() == 2);
  CHECK(marks[0] == R"({"label":"a \"b\"","note":"zwölf","loss":0.5,"delta":-3})");
  CHECK(marks[1] == R"({"name":"dense","input.rows":3,"input.columns":4,"outputs[0].rows":5,"outputs[0].columns":6,)"
                    R"("outputs[1].rows":7,"outputs[1].columns":8,"bits[0]":1,"bits[1]":0,"bits[2]":1,"last":65535})");
  const std::vector<PayloadField> fields = payload_fields(marks[0]);
  REQUIRE(fields.size() == 4);
  CHECK(fields[0].value == "a \"b\"");
  CHECK(fields[2].value == "0.5");
  CHECK(count_events(*trace, TrackKind::kNvtxMarks, "sample") == 1);  // it has the name of its schema
}
