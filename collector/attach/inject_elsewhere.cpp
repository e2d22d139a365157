// Machines for which there is no injector.
#include "collector/attach/inject.h"

namespace lanescope::attach {

Result<Injection> inject(const InjectionRequest& request) {
  return Error{"Can't attach to " + std::to_string(request.pid) +
               ": attaching works on x86-64 so far. On this machine, start the program with: lanescope profile --arm -- PROGRAM"};
}

}  // namespace lanescope::attach
