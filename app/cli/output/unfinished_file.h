// Files that are not complete yet, and that are useless if a signal ends the program.
#pragma once

#include <filesystem>
#include <initializer_list>

namespace lanescope::cli {

// During its lifetime, SIGINT, SIGTERM and SIGHUP first remove these paths in this order, folders only if they are empty then, and new files that do not have
// their final names yet (model/file/new_file.h); then they end the program. A signal that was ignored before is still ignored. One object at a time, of at
// most four paths.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::initializer_list<std::filesystem::path> paths);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
};

}  // namespace lanescope::cli
