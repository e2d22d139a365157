#include "table_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "../target.h"
#include "table_file.h"

namespace lanescope::exporters {

Result<void> TableFolder::make() {
  std::error_code ignored;
  if (::mkdir(folder_.c_str(), 0777) == 0) {
    made_folder_ = true;
    return {};
  }
  if (errno != EEXIST) return Error{"Can't create the folder " + folder_.string() + ": " + std::strerror(errno) + ". Give another place with -o."};
  if (!std::filesystem::is_directory(folder_, ignored))
    return Error{folder_.string() + " is not a folder, and Parquet tables go into one. Give another name with -o."};
  if (overwrite_ == Overwrite::kRefuse && !std::filesystem::is_empty(folder_, ignored))
    return Error{folder_.string() + " exists already. Give another name with -o, or allow overwriting with -f."};
  return {};
}

Result<void> TableFolder::write(TableDescription table, const std::function<Result<void>(TableRows&)>& fill) {
  const std::filesystem::path path = file_of(table.name);
  const auto failure = [&path](const Error& error) { return not_written(path.string(), error.text); };
  auto file = NewFile::create(path, overwrite_, Readers::kAsUsual);
  if (!file) return file.error();
  TableFile rows(file->descriptor(), std::move(table));
  if (const Result<void> filled = fill(rows); !filled) return failure(filled.error());
  if (const Result<void> finished = rows.finish(); !finished) return failure(finished.error());
  made_.push_back(*std::move(file));
  return {};
}

Result<void> TableFolder::finish() {
  for (NewFile& file : made_)
    if (auto placed = file.take_place(); !placed) return placed;
  std::error_code ignored;
  for (const std::string& name : left_out_) std::filesystem::remove(file_of(name), ignored);
  return {};
}

Error TableFolder::give_up(Error error) {
  std::error_code ignored;
  made_.clear();  // removes the files that have not taken their places
  if (made_folder_) std::filesystem::remove(folder_, ignored);
  return error;
}

}  // namespace lanescope::exporters
