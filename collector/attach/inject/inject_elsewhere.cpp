// Machines without an injector: only programs that were started armed can be attached to.
#include "collector/attach/inject.h"
#include "inject/armed_process.h"

namespace lanescope::attach {

Result<Injection> inject(const InjectionRequest& request) {
  if (const int connection = connect_to_armed(request.pid, request.socket); connection >= 0)
    return Injection{.connection = connection, .origin = AgentOrigin::kWasThere};
  return Error{"Can't attach to " + std::to_string(request.pid) +
               ": attaching works on x86-64 so far. On this machine, start the program with: lanescope profile --arm -- PROGRAM"};
}

}  // namespace lanescope::attach
