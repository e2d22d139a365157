#include "output/log_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <iostream>
#include <utility>

#include "output/output_file.h"

namespace lanescope::cli {

LogFile::LogFile() = default;
LogFile::~LogFile() { give_back(); }

Result<void> LogFile::open(const std::string& path, Overwrite overwrite, std::span<const std::filesystem::path> others) {
  if (is_one_of(path, others)) return Error{path + " is a file of this command already. Name another one with --log-file.", ErrorKind::kUsage};
  std::error_code missing;
  if (overwrite == Overwrite::kRefuse && std::filesystem::is_regular_file(path, missing))
    return Error{path + " exists already. Write over it with: --force-overwrite"};
  const Result<int> opened = open_to_print(path, overwrite);
  if (!opened) return opened.error();
  path_ = path;
  file_ = std::make_unique<__gnu_cxx::stdio_filebuf<char>>(*opened, std::ios::out);
  stream_ = std::make_unique<std::ostream>(file_.get());
  output_ = std::cout.rdbuf(file_.get());
  errors_ = std::cerr.rdbuf(file_.get());
  return {};
}

Result<void> LogFile::close() {
  if (file_ == nullptr) return {};
  std::cout.flush();
  const bool is_whole = !stream_->flush().fail() && !std::cout.fail() && !std::cerr.fail();
  give_back();
  stream_.reset();
  file_.reset();
  return is_whole ? Result<void>() : Error{"Not all could be written to " + path_ + ". Is the disk full?"};
}

void LogFile::give_back() noexcept {
  if (output_ != nullptr) std::cout.rdbuf(std::exchange(output_, nullptr));
  if (errors_ != nullptr) std::cerr.rdbuf(std::exchange(errors_, nullptr));
}

}  // namespace lanescope::cli
