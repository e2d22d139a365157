// Tells if an object on a stack of the calling thread is gone without having ended: a signal handler of the program may leave the code that it interrupted by a
// jump (siglongjmp).
#pragma once

namespace lanescope::agent {

// `place`: the address of an object that a function of this thread has, or had. `newest`: the address of an object of the caller. True if it is certain that
// the object is gone, because the stack from there down to here belongs to functions that run now. If false, the object may be gone as well; this is noticed if
// the program goes on as deep in its calls as before. O(1), without system calls.
bool is_left(const void* place, const void* newest) noexcept;

}  // namespace lanescope::agent
