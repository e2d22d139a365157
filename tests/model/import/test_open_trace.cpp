#include "model/import/open_trace.h"

#include <fstream>

#include "nsys_database.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::string refusal(const std::string& name, const std::string& content) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / name;
  std::ofstream(path, std::ios::binary) << content;
  const auto trace = open_trace(path);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().text.find(path.string()) != std::string::npos);
  CHECK(trace.error().text.find('\n') == std::string::npos);
  return trace.error().text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reports of Nsight Systems are refused with the command that exports them") {
  CHECK(contains(refusal("report1.nsys-rep", "NVIDIA Tegra Profiler Report 1."), "nsys export -t sqlite "));
  CHECK(contains(refusal("renamed.bin", "NVIDIA Tegra Profiler Report 1."), "nsys export -t sqlite "));
  CHECK(contains(refusal("report1.qdrep", "anything"), "nsys export -t sqlite "));
  CHECK(contains(refusal("raw.qdstrm", "anything"), "nsys import "));
}

TEST_CASE("other known formats are named") {
  CHECK(contains(refusal("kernel.ncu-rep", "NVR"), "Nsight Compute"));
  CHECK(contains(refusal("trace.pftrace", "\x0a"), "Perfetto"));
}

TEST_CASE("a SQLite database of another program is told from an export") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "bookmarks.sqlite";
  test::write_database(path, "CREATE TABLE bookmarks(url TEXT);");
  const auto trace = open_trace(path);
  REQUIRE_FALSE(trace);
  CHECK(contains(trace.error().text, "not an export of Nsight Systems"));
}

TEST_CASE("what is not there, is a folder, is empty or is none of all this is refused") {
  CHECK_FALSE(open_trace("/no/such/file.trace"));
  CHECK_FALSE(open_trace("/tmp"));
  refusal("empty.trace", "");
  refusal("text.trace", "hello");
}
