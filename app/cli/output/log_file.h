// Writes to a file what the command would print: tables and messages, but not the program's own output.
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

// One at a time, used by the thread that prints.
class LogFile {
 public:
  LogFile();
  ~LogFile();  // restores standard output and error
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // From here on std::cout and std::cerr write to the file. The file is new and has its final name at once, for readers that follow it; an existing pipe or
  // device is written to as it is. Fails with one sentence if the file is one of `others`, which the command reads or writes, if it exists and may not be
  // overwritten, and if it can't be made.
  Result<void> open(const std::string& path, Overwrite overwrite, std::span<const std::filesystem::path> others);
  // Requires: open.
  [[nodiscard]] std::ostream& stream() noexcept { return *stream_; }
  // Fails with one sentence if not everything could be written; succeeds if it was never opened. Afterwards messages go where they went before.
  Result<void> close();

 private:
  void give_back() noexcept;

  std::string path_;
  std::unique_ptr<std::streambuf> file_;
  std::unique_ptr<std::ostream> stream_;
  std::streambuf *output_ = nullptr, *errors_ = nullptr;
};

}  // namespace lanescope::cli
