// Launches that are held while PC sampling begins or ends, by callbacks as CUPTI makes them.
#include <cupti.h>

#include "agent/cupti/launch_hold.h"
#include "support/catch.h"

using namespace lanescope::agent;

namespace {

constexpr CUpti_CallbackId kOuter = 2, kInner = 3, kCopy = 4, kWait = 5, kQuestion = 6, kLoad = 7;

cupti::Functions functions() {
  cupti::Functions functions;
  functions.get_callback_name = [](CUpti_CallbackDomain, std::uint32_t id, const char** name) {
    *name = id == kOuter ? "cuLaunchCooperativeKernel" : id == kInner ? "cuLaunchKernel" : id == kCopy ? "cuMemcpyHtoDAsync_v2" : id == kWait ? "cuStreamSynchronize" : id == kLoad ? "cuKernelGetFunction" : "cuStreamIsCapturing";
    return CUPTI_SUCCESS;
  };
  functions.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; };
  return functions;
}

void call(CUpti_CallbackId id, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  cupti::wait_while_held(id, data);
}
void enter(CUpti_CallbackId id) { call(id, CUPTI_API_ENTER); }
void leave(CUpti_CallbackId id) { call(id, CUPTI_API_EXIT); }

bool are_all_back() {
  const bool are_back = cupti::hold_launches(0);
  cupti::let_launches_go();
  return are_back;
}

}  // namespace

TEST_CASE("a launch within another is under way with that one, and has come back with it") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  enter(kOuter);
  CHECK_FALSE(cupti::hold_launches(0));
  enter(kInner);  // not held: the one around it would never come back
  leave(kInner);
  cupti::let_launches_go();
  CHECK_FALSE(are_all_back());
  leave(kOuter);
  CHECK(are_all_back());
  enter(kQuestion);
  CHECK(are_all_back());
  for (const CUpti_CallbackId id : {kCopy, kWait, kLoad}) {
    enter(id);
    CHECK_FALSE(are_all_back());
    leave(id);
    CHECK(are_all_back());
  }
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("launches of which only the begin or only the end is seen count for nothing once launches are followed anew") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  leave(kOuter);  // it began before
  CHECK(are_all_back());
  enter(kOuter);
  cupti::leave_launches(cupti, nullptr);
  leave(kOuter);
  cupti::follow_launches(cupti, nullptr);
  CHECK(are_all_back());
  enter(kInner);
  CHECK_FALSE(are_all_back());
  leave(kInner);
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}
