// Files that are not whole yet, and that nobody wants when a signal ends the program.
#pragma once

#include <filesystem>
#include <initializer_list>

namespace lanescope::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP remove these files, and folders that are empty then, in this order, and new files that have
// not taken their places (model/file/new_file.h), before they end the program; those of them that were ignored before still are. One at a time, of four paths
// at most.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::initializer_list<std::filesystem::path> paths);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
};

}  // namespace lanescope::cli
