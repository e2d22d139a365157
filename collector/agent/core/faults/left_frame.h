// Whether what lay on a stack of the calling thread is gone without having ended: a signal handler of the program's may leave what it
// interrupted by a jump (siglongjmp).
#pragma once

namespace lanescope::agent {

// `place`: of an object that a function of this thread has, or had. `newest`: of what the caller has itself. True where it is certain that the
// object is gone: from there down to here all belongs to functions that run now. Where it is false, it may be gone as well: a program that goes on as deep
// in its calls as before is noticed. O(1), without system calls.
bool is_left(const void* place, const void* newest) noexcept;

}  // namespace lanescope::agent
