// The options of a recording, as its file names them.
#include "file/asked_options.h"

#include "support/catch.h"

using namespace lanescope::session;

TEST_CASE("counters of kernels are among the options of a recording, as they were asked for") {
  LaunchRequest request;
  request.command = {"app"};
  CHECK_THAT(asked_options(request, request.settings), !contains_text("kernels"));
  request.kernel_counters = "counters:budget=20s,set=triage";
  CHECK_THAT(asked_options(request, request.settings), contains_text("--kernels=counters:budget=20s,set=triage"));
}
