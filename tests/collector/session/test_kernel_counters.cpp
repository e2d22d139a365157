// Who may write where in the folder in which a recording and its programs exchange data about counters.
#include "collector/session/kernel_counters.h"

#include <sys/stat.h>
#include <unistd.h>

#include "collector/channel/kernel_counters.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

struct stat facts_of(const std::filesystem::path& path) {
  struct stat facts {};
  REQUIRE(lstat(path.c_str(), &facts) == 0);
  return facts;
}
constexpr mode_t kPermissions = 07777;

}  // namespace

TEST_CASE("a program of another user may leave records of counters, and make no link where the recorder writes") {
  if (geteuid() != 0) return;
  constexpr uid_t kNobody = 65'534;
  std::filesystem::path folder;
  {
    const auto counters = session::KernelCounters::start({}, kNobody);
    if (!counters) return;  // without CUPTI there is no lanescope-kernel-metrics
    folder = (*counters)->variables().front().second;
    CHECK(facts_of(folder).st_uid == 0);
    CHECK((facts_of(folder).st_mode & kPermissions) == 0711);
    CHECK(facts_of(folder / channel::kCounterRecordFolder).st_uid == kNobody);
    CHECK((facts_of(folder / channel::kCounterRecordFolder).st_mode & kPermissions) == 0700);
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("records of counters are for their user alone") {
  const auto counters = session::KernelCounters::start({});
  if (!counters) return;  // without CUPTI there is no lanescope-kernel-metrics
  const std::filesystem::path folder = (*counters)->variables().front().second;
  CHECK((facts_of(folder).st_mode & kPermissions) == 0700);
  CHECK(facts_of(folder / channel::kCounterRecordFolder).st_uid == geteuid());
}
