#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "support/catch.h"

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

constexpr int kSkipped = 77;  // as in lanescope_test()
int skipped_cases = 0;
int tried_cases = 0;

// A case asserts nothing where it finds that what it takes is not on this machine.
class Skips : public Listener {
 public:
  using Listener::Listener;
  void testCaseEnded(const Catch::TestCaseStats& ended) override { ++(ended.totals.assertions.total() == 0 ? skipped_cases : tried_cases); }
};
CATCH_REGISTER_LISTENER(Skips)

}  // namespace

int main(int count, char** words) {
  if (Catch::Session().run(count, words) != 0) return 1;  // not Catch's count of failures, which may be kSkipped
  return skipped_cases > tried_cases ? kSkipped : 0;
}
