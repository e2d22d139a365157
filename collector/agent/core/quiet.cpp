#include "agent/core/quiet.h"

namespace lanescope::agent {

constinit thread_local std::uint32_t Quiet::depth = 0;

}  // namespace lanescope::agent
