// Files that other programs name: what they map, where they say they write. By the time somebody looks, such a path may lead anywhere.
//
// A regular file is opened, and nothing else: opening a pipe would wait for its writer, opening a device could do anything. Of the kernel's
// own file systems (proc, sysfs) and of another user's (FUSE) nothing is opened either: their reads may never end.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "collector/channel/file_descriptor.h"

namespace lanescope::attach {

struct ForeignFile {
  channel::FileDescriptor descriptor;  // for reading; of a regular file
  struct stat facts {};

  // Under which this process can open it again as long as it has it open.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor.get()); }
};

enum class Links { kFollow, kRefuseLast };  // kRefuseLast: the file itself may be no link

// None where no such file is there, or it can't be read.
std::optional<ForeignFile> open_file(const std::string& path, Links links = Links::kFollow);
// As the process sees it: below its root, which no link on the way leads out of. The process must live.
std::optional<ForeignFile> open_file_of(pid_t process, const std::string& path, Links links = Links::kFollow);

}  // namespace lanescope::attach
