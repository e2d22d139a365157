// Owns a file descriptor.
#pragma once

#include "collector/channel/file_descriptor.h"

namespace lanescope::session {

using channel::FileDescriptor;

}  // namespace lanescope::session
