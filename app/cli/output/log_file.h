// What the command would print, in a file instead: tables and messages, but for the program's own.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <streambuf>
#include <string>

#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::cli {

// Threads: the one that prints. One at a time.
class LogFile {
 public:
  LogFile();
  ~LogFile();  // standard output and error are again what they were
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // From here on std::cout and std::cerr go there. The file is new and in its place at once, for whoever follows it; a pipe or device is written to as
  // it is. Fails with one sentence where it is one of `others`, which the command reads or writes, where a file is there that may not be written over,
  // and where it can't be made.
  Result<void> open(const std::string& path, Overwrite overwrite, std::span<const std::filesystem::path> others);
  // Requires: open.
  [[nodiscard]] std::ostream& stream() noexcept { return *stream_; }
  // Whether all came there, in one sentence; nothing where it was never opened. Behind it, messages go where they went before.
  Result<void> close();

 private:
  void give_back() noexcept;

  std::string path_;
  std::unique_ptr<std::streambuf> file_;
  std::unique_ptr<std::ostream> stream_;
  std::streambuf *output_ = nullptr, *errors_ = nullptr;
};

}  // namespace lanescope::cli
