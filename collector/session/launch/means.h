// Whether the system lends what a recording needs: descriptors, and room for its file.
#pragma once

#include <array>
#include <string>

#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

// Why a program can't be recorded, by errno of a call for a process, thread, descriptor or memory that was refused: which limit of this process it is, or
// that the system has no more, and what to change.
[[nodiscard]] Error shortage(int error);

// Descriptors that are set aside while others are opened, so that enough are left for the first processes that report.
class SpareDescriptors {
 public:
  // Fails with one sentence when there are not so many.
  static Result<SpareDescriptors> take();

 private:
  static constexpr std::size_t kCount = 12;  // three processes that report at once, and the file
  std::array<FileDescriptor, kCount> descriptors_;
};

// Whether a file can be opened, and grow to some size in the folder of this one: no limit (ulimit -n, -f) forbids it, and the disk is not
// full.
[[nodiscard]] bool has_room_for_files(const std::string& name);

}  // namespace lanescope::session
