// The first process of a namespace of processes, as `lanescope profile` is in a container that runs it, has a duty: every process whose parent has ended is its
// child, and stays in the kernel's table until it has waited for it. A recorder waits for its own children alone.
#pragma once

namespace lanescope::cli {

// Where we are that process: goes on in a child of it. The first process waits for all that end, passes on what signals come to it alone, and ends as the child
// does, and with it, as the kernel has it, all others. To be called before anything else is started, while there is one thread, and behind
// session::keep_inheritance(), by which children can be waited for.
void leave_first_process();

}  // namespace lanescope::cli
