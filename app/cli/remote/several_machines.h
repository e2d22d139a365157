// One command for several machines at once.
#pragma once

#include "remote/remote_options.h"

namespace lanescope::cli {

// Records on each of `remote.targets` at the same time, by one lanescope process for each, into a file that is named after the machine (`output`, as for
// lanescope profile). Signals that come to us come to each. Lines that they print have the machine's name before them. At a terminal, the question of each
// whether to copy a recorder is asked, one after the other; ssh asks nothing. If we are killed, the recordings go on there. Returns the exit code of the
// first that did not end with 0.
int record_on_each(const RemoteOptions& remote, const std::string& command, const Arguments& options, const Arguments& program, const std::string& output);

}  // namespace lanescope::cli
