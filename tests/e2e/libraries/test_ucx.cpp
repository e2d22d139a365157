// UCX calls of a program whose messages are known.
#include <cstdlib>
#include <set>

#include "../recorder.h"
#include "model/trace/domains/nvtx_payload.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// True if there is a program to record.
bool build(const std::filesystem::path& folder) {
  const bool built =
      runs("cc -std=c99 -O1 -w " LANESCOPE_TEST_PROGRAMS "/interfaces/ucx_loopback.c -o " + (folder / "work").string() + " -lucp -lucs 2>/dev/null");
  if (!built) WARN("UCX is not installed: not tried");
  return built;
}

Ran record(const std::filesystem::path& folder, const std::string& traces) {
  return run_lanescope(folder, {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "./work"},
                       {{"UCX_TLS", "self"}, {"UCX_LOG_LEVEL", "fatal"}});
}

constexpr TrackKind kRanges = TrackKind::kNvtxRanges;

// "bytes tag" for each call of this name; "bytes" for a call without a tag.
std::multiset<std::string> messages(const Trace& trace, std::string_view name) {
  std::multiset<std::string> result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (trace.name(lane.name(i)) != name) continue;
        const std::string_view payload = trace.name(trace.nvtx_detail(lane.detail(i)).payload_json);
        std::string text = std::to_string(payload_integer(payload, "bytes").value_or(-1));
        if (const auto tag = payload_integer(payload, "tag")) text += " " + std::to_string(*tag);
        result.insert(std::move(text));
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("calls of UCX are ranges with the bytes and tags of their messages") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder)) return;
  const Ran ran = record(folder, "ucx");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("1000 bytes\n"));
  const auto trace = load(folder / "x.trace");
  CHECK(messages(*trace, "ucp_tag_send_nbx") == std::multiset<std::string>{"100 7", "200 8", "300 9", "400 10"});
  CHECK(messages(*trace, "ucp_tag_recv_nbx") == std::multiset<std::string>{"1000 7", "1000 8", "1000 9", "1000 10"});
  CHECK(messages(*trace, "ucp_put_nbi") == std::multiset<std::string>{"64"});
  for (const char* name : {"ucp_init_version", "ucp_worker_create", "ucp_ep_create", "ucp_mem_map", "ucp_worker_flush_nbx", "ucp_ep_close_nbx", "ucp_cleanup"})
    CHECK(count_events(*trace, kRanges, name) == 1);
  CHECK(count_events(*trace, kRanges, "ucp_worker_progress") == 0);
  CHECK(record(folder, "nvtx").code == 0);
  CHECK(count_events(*load(folder / "x.trace"), kRanges, "ucp_init_version") == 0);
}

TEST_CASE("UCX is found where a program keeps it out of the sight of others") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  if (!build(folder) || !runs("command -v python3 >/dev/null")) return;
  const Ran ran = run_lanescope(folder, {"profile", "-t", "ucx", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "python3", "-c",
                                         "import ctypes\n"
                                         "ucp = ctypes.CDLL('libucp.so.0')\n"
                                         "every = ctypes.CDLL(None)\n"
                                         "config = ctypes.c_void_p()\n"
                                         "print('status', every.ucp_config_read(None, None, ctypes.byref(config)))\n"
                                         "every.ucp_config_release(config)"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("status 0\n"));
  CHECK(count_events(*load(folder / "x.trace"), kRanges, "ucp_config_read") == 1);
}

TEST_CASE("a program without UCX runs as it would") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "ucx,openacc", "-s", "none", "--cpuctxsw", "none", "-o", "x", "echo", "so"});
  CHECK(ran.code == 0);
  CHECK(ran.output.starts_with("so\n"));
}
