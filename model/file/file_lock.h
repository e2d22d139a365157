// Locks by which writers of a file are known to others. Internal to model/file.
#pragma once

#include <cerrno>

#include <sys/file.h>

namespace lanescope {

enum class FileLock {
  kOurs,    // nobody else writes the file while the descriptor is open
  kNone,    // the file system, or a filter of system calls, gives no locks: nobody is kept out
  kShared,  // nobody writes it now, but somebody may begin to: NFS gives no more to a descriptor that can only read
  kOthers,  // somebody writes it
};

inline FileLock lock_by(int descriptor, int operation, FileLock gained) {
  while (flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? FileLock::kOthers : FileLock::kNone;  // whatever else it says, nobody holds one
  }
  return gained;
}

// Whether somebody writes the file, for any descriptor of it; nobody is a writer until that is closed.
inline FileLock shared_lock(int descriptor) { return lock_by(descriptor, LOCK_SH, FileLock::kShared); }

// For who writes the file, or replaces it, until the descriptor is closed.
inline FileLock own_lock(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EBADF) return shared_lock(descriptor);
  return lock_by(descriptor, LOCK_EX, FileLock::kOurs);
}

}  // namespace lanescope
