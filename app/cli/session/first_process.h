// The first process of a process namespace, as `lanescope profile` is in a container that runs it, has a duty: every process whose parent has ended becomes
// its child, and stays in the kernel's table until the first process has waited for it. A recorder waits only for its own children.
#pragma once

namespace lanescope::cli {

// If we are that process, continues in a child of it. The first process waits for all that end, passes on the signals that come to it alone, and ends as the
// child does; the kernel then ends all others. Must be called before anything else is started, while there is one thread, and after
// session::keep_inheritance(), which makes it possible to wait for children.
void leave_first_process();

}  // namespace lanescope::cli
