// Files that other programs name, for example files that they map or write. When we open such a path, it may lead anywhere.
//
// Only regular files are opened: opening a pipe would wait for its writer, opening a device could do anything. Files of the kernel's own file systems
// (proc, sysfs) and of another user's (FUSE) are not opened either, because reading them may never end.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "collector/channel/file_descriptor.h"

namespace lanescope::attach {

struct ForeignFile {
  channel::FileDescriptor descriptor;  // open for reading
  struct stat facts {};

  // The path by which this process can open the file again while it has it open.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor.get()); }
};

enum class Links { kFollow, kRefuseLast };  // kRefuseLast: the file itself may not be a link

// Nothing if there is no such file or it can't be read.
std::optional<ForeignFile> open_file(const std::string& path, Links links = Links::kFollow);
// The same as the process sees it: below its root, which no link on the way can leave. The process must be alive.
std::optional<ForeignFile> open_file_of(pid_t process, const std::string& path, Links links = Links::kFollow);

}  // namespace lanescope::attach
