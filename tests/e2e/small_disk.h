// A disk with little room.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "support/catch.h"

namespace lanescope::test {

// A file system of this number of KiB, if we may make one.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& place, int size) : SmallDisk(place, "size=" + std::to_string(size) + "k") {}
  // `options`: of tmpfs.
  SmallDisk(const std::filesystem::path& place, const std::string& options) : place_(place) {
    std::filesystem::create_directory(place);
    is_there_ = mount("none", place.c_str(), "tmpfs", 0, options.c_str()) == 0;
    if (!is_there_) WARN("Only root can make a small disk: not tested.");
  }
  ~SmallDisk() {
    if (is_there_) umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  std::filesystem::path place_;
  bool is_there_ = false;
};

}  // namespace lanescope::test
