// Whether the system provides what a recording needs: descriptors, and room for its file.
#pragma once

#include <array>
#include <string>

#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

// Why a program can't be recorded. `error` is the errno of a refused call for a process, thread, descriptor or memory. The text says which limit of this
// process was reached, or that the system has no more, and what to change.
[[nodiscard]] Error shortage(int error);

// Descriptors that are reserved while others are opened, so that enough are left for the first processes that report.
class SpareDescriptors {
 public:
  // Fails with one sentence if there are not enough.
  static Result<SpareDescriptors> take();

 private:
  static constexpr std::size_t kCount = 12;  // three processes that report at once, and the file
  std::array<FileDescriptor, kCount> descriptors_;
};

// True if a file can be opened, and can grow to some size in the folder of this file: no limit (ulimit -n, -f) forbids it, and the disk is not full.
[[nodiscard]] bool has_room_for_files(const std::string& name);

}  // namespace lanescope::session
