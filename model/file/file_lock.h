// Locks that show other programs that a file is being written. Internal to model/file.
#pragma once

#include <cerrno>

#include <sys/file.h>

namespace lanescope {

enum class FileLock {
  kOurs,    // nobody else writes the file while the descriptor is open
  kNone,    // the file system, or a filter of system calls, provides no locks: nobody is excluded
  kShared,  // nobody writes it now, but somebody may begin: NFS provides no more for a read-only descriptor
  kOthers,  // somebody else writes it
};

inline FileLock lock_by(int descriptor, int operation, FileLock gained) {
  while (flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? FileLock::kOthers : FileLock::kNone;  // after any other error, nobody holds a lock
  }
  return gained;
}

// Tells if somebody writes the file, for any descriptor of it. Nobody can become a writer until the descriptor is closed.
inline FileLock shared_lock(int descriptor) { return lock_by(descriptor, LOCK_SH, FileLock::kShared); }

// For a process that writes or replaces the file, until the descriptor is closed.
inline FileLock own_lock(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EBADF) return shared_lock(descriptor);
  return lock_by(descriptor, LOCK_EX, FileLock::kOurs);
}

}  // namespace lanescope
